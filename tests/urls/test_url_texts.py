from __future__ import annotations

import pytest

from pycrawl.urls.url_texts import urls_in


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("", []),
        ("ftp://h/ and mailto:a@b", []),
        ("page\th\t127.0.0.1\t200\tfetched\t\thttp://h/a?b=c\n", ["http://h/a?b=c"]),
        ("http://h/a: http-4xx 404 ", ["http://h/a:", "http://h/a"]),
        ("see (https://h/a/.).", ["https://h/a/.).", "https://h/a/.)", "https://h/a/.", "https://h/a/"]),
        ("http://h:81, http://i/", ["http://h:81/", "http://i/"]),
    ],
)
def test_urls_in(text: str, urls: list[str]) -> None:
    assert list(urls_in(text)) == urls
