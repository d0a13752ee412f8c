"""The spider that Scrapy is compared with; run by Scrapy's own Python: `python scrapy_spider.py SEEDS FOLDER SECONDS`.

It follows all links within the seeds' hosts and stores each page as a file. Settings are the fastest that still obey
robots.txt; nothing is kept of the crawl's state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy  # type: ignore[import-not-found,unused-ignore]  # in an environment of its own
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found,unused-ignore]
from scrapy.http import HtmlResponse  # type: ignore[import-not-found,unused-ignore]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found,unused-ignore]

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 100,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_ENABLED": False,
}


class PagesSpider(scrapy.Spider):  # type: ignore[misc,unused-ignore]
    name = "pages"

    def __init__(self, seeds: list[str], folder: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = seeds
        self.allowed_domains = sorted({str(urlsplit(url).hostname) for url in seeds})
        self._links = LinkExtractor()
        self._folder = Path(folder)

    def parse(self, response: Any) -> Iterator[Any]:
        name = sha1(response.url.encode()).hexdigest()
        (self._folder / f"{name}.html").write_bytes(response.body)
        if isinstance(response, HtmlResponse):
            for link in self._links.extract_links(response):
                yield scrapy.Request(link.url, self.parse)


if __name__ == "__main__":
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_TIMEOUT": float(sys.argv[3])})
    process.crawl(PagesSpider, Path(sys.argv[1]).read_text("utf-8").split(), sys.argv[2])
    process.start()
