"""The fuzz targets: each parser of bytes that come from outside, with what it promises for any bytes.

answers.py    what servers send: heads, content encodings, whole answers, through the transports and the readers
policies.py   robots.txt and what headers ask of robots, cookies, dates
addresses.py  URLs: normal form, parts, links of a page
pages.py      markup, encodings of text, words
sources.py    sitemaps and feeds
documents.py  documents, through the converters; archives, which `import` reads
files.py      what lies in a crawl's directory: records, compound files, settings
messages.py   what processes and plugins hand over
"""

from tests.fuzz.case import Target
from tests.fuzz.targets import addresses, answers, documents, files, messages, pages, policies, sources

TARGETS: dict[str, Target] = {
    target.name: target
    for module in (answers, policies, addresses, pages, sources, documents, files, messages)
    for target in module.TARGETS
}
