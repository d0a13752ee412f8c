"""The settings of a crawl: kinds of values (`keys.py`, `headers.py`), the sections and their keys (`sections.py`,
`recrawl_sections.py`), `[[host]]` (`host_entries.py`), and the file (`file.py`)."""

from pycrawl.config.file import CONFIG_NAME, example, load, parse, toml_value
from pycrawl.config.keys import PROXY_FORM, parse_duration, parse_size
from pycrawl.config.recrawl_sections import RecrawlSection
from pycrawl.config.sections import (
    Config,
    ContentSection,
    CrawlSection,
    LimitsSection,
    PolitenessSection,
    ScopeSection,
    SecuritySection,
    StoreSection,
    TrapsSection,
    UrlsSection,
)

__all__ = [
    "CONFIG_NAME",
    "PROXY_FORM",
    "Config",
    "ContentSection",
    "CrawlSection",
    "LimitsSection",
    "PolitenessSection",
    "RecrawlSection",
    "ScopeSection",
    "SecuritySection",
    "StoreSection",
    "TrapsSection",
    "UrlsSection",
    "example",
    "load",
    "parse",
    "parse_duration",
    "parse_size",
    "toml_value",
]
