"""Pages that are not in UTF-8: what their servers are asked for is what a browser would ask for."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.site import Reply, Site

PAGES = {
    "windows-1251": ("Поиск по сайту", "/поиск?q=привет&p=2#да", "?q=%EF%F0%E8%E2%E5%F2&p=2"),
    "shift_jis": ("日本語の検索ページ", "/r?q=日本語", "?q=%93%FA%96{%8C%EA"),
    "gb18030": ("中文搜索网页", "/r?q=中文", "?q=%D6%D0%CE%C4"),
    "euc-kr": ("한국어 검색 페이지", "/r?q=한국&x=&#1087;", "?q=%C7%D1%B1%B9&x=%AC%E1"),
    "iso-2022-jp": ("日本語の検索ページ", "/r?q=日本語", "?q=%1B$BF|K\\8l%1B(B"),
    "utf-16": ("Поиск по сайту", "/r?q=привет", "?q=%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82"),
}


@pytest.mark.parametrize("native", ["1", "0"])
def test_queries_are_asked_for_in_the_encoding_of_their_page(
    make_crawl: MakeCrawl, monkeypatch: pytest.MonkeyPatch, native: str
) -> None:
    monkeypatch.setenv("PYCRAWL_NATIVE", native)
    pages = {
        f"/{encoding}": Reply(
            f"<title>{title}</title><p>{title}</p><a href='{href}'>x</a>",
            content_type=f"text/html; charset={encoding}",
            encoding=encoding,
        )
        for encoding, (title, href, _) in PAGES.items()
    }
    with Site(pages) as site:
        crawl = make_crawl([site.url + path for path in pages], {"traps": {"soft_404": False}})
        running = crawl.start("crawl")
        assert running.wait() == 0, running.output()
    asked = [path.partition("?")[2] for path in site.asked if "?" in path]
    assert sorted(asked) == sorted(query[1:] for _, _, query in PAGES.values())
