"""Documents beside pages, in real crawls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pycrawl.crawl import fetch_log
from tests.convert import samples
from tests.convert.samples import LINK, TEXT, TITLE
from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
GONE_SECONDS = 30.0
CHAIN = 20  # pages
SLOW_PARAGRAPHS = 60_000
REPORT = samples.pdf(link="/from-the-report")
BOMB = samples.zipped({"word/document.xml": bytes(101 << 20)})


def document(data: bytes, content_type: str = "application/pdf") -> Reply:
    return Reply(data.decode("latin-1"), content_type=content_type, encoding="latin-1")


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {
        "/": page(
            "/report.pdf",
            "/letter.docx",
            "/secret.pdf",
            "/bomb.docx",
            "/mixed.doc",
            "/scan1.pdf",
            "/scan2.pdf",
            "/plain",
            "/data",
            text="the start",
        ),
        "/report.pdf": document(REPORT),
        "/letter.docx": document(samples.word(), WORD),
        "/secret.pdf": document(samples.pdf(encrypted=True)),
        "/bomb.docx": document(BOMB, WORD),
        "/mixed.doc": document(samples.open_document(), "application/msword"),
        "/scan1.pdf": document(samples.pdf(("", ""))),
        "/scan2.pdf": document(samples.pdf(("", "", ""))),
        "/from-the-report": page(text="a page that only the report names"),
        "/plain": page(text="another page"),
        "/data": document(samples.JSON_LD, "application/ld+json"),
    }
    with Site(pages) as running:
        yield running


def test_documents_are_stored_read_and_followed(tmp_path: Path, site: Site) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"scope": {"follow_external": False}})
    crawl.run("crawl")
    report = f"{site.url}/report.pdf"

    assert site.times().keys() >= {"/", "/report.pdf", "/letter.docx", "/secret.pdf", "/from-the-report", "/plain"}
    assert crawl.bodies([report]) == {report: REPORT}
    assert "Grey herons nest" in crawl.run("get", "--text", report).stdout
    assert "<h1>" in crawl.run("get", "--html", f"{site.url}/letter.docx").stdout
    for name in ("letter.docx", "mixed.doc"):
        read = json.loads(crawl.run("get", "--json", f"{site.url}/{name}").stdout)
        assert (read["title"], TEXT in read["text"], read["words"] > 0) == (TITLE, True, True)
    data = json.loads(crawl.run("get", "--json", f"{site.url}/data").stdout)
    assert (data["title"], data["json_ld"][0]["url"], data["links"]) == (TITLE, LINK, [])
    assert crawl.why(f"{site.url}/secret.pdf")["visit"]["detail"].startswith("conversion-failed: encrypted")
    assert crawl.why(f"{site.url}/bomb.docx")["visit"]["detail"].startswith("conversion-failed: too-large")
    assert "encrypted" in crawl.run("get", "--text", f"{site.url}/secret.pdf", exit_code=1).stderr
    stats = json.loads(crawl.run("stats", "--json").stdout)
    assert stats["unconverted"] == {"encrypted": 1, "too-large": 1, "no-text": 2}
    assert not stats["duplicates_near"], "of scanned documents nothing is alike but their titles"
    crawl.verify()


def test_an_unchanged_document_keeps_its_trouble(tmp_path: Path, site: Site) -> None:
    site.pages["/"] = page("/x")
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"recrawl": {"min_interval": 0}})
    found = []
    for reply in (document(REPORT[:500]), document(REPORT[:500]), document(REPORT), document(REPORT)):
        site.pages["/x"] = reply
        crawl.run("crawl", "--recrawl")
        visit = crawl.why(f"{site.url}/x")["visit"]
        found.append((visit["outcome"], str(visit["detail"] or "").partition(" (")[0]))
    assert found == [
        ("fetched", "conversion-failed: damaged"),
        ("not-modified", "conversion-failed: damaged"),
        ("fetched", ""),
        ("not-modified", ""),
    ]
    crawl.run("verify", "--deep")


def test_a_wider_setting_fetches_the_documents_that_were_met(tmp_path: Path, site: Site) -> None:
    scope = {"follow_external": False, "content_types": ["pages"]}
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"scope": scope})
    crawl.run("crawl")
    assert "/from-the-report" not in site.times()
    before = site.times()

    crawl.configure({"scope": {**scope, "content_types": ["pages", "application/pdf"]}})
    crawl.run("crawl")
    assert site.times() - before == dict.fromkeys(
        ["/report.pdf", "/secret.pdf", "/scan1.pdf", "/scan2.pdf", "/from-the-report"], 1
    )
    crawl.verify()


@pytest.fixture
def slow_site() -> Iterator[Site]:
    """Its first link is a document that takes long to convert; the pages behind the second one are a chain."""
    chain = {f"/{number}": page(f"/{number + 1}", text=f"page {number}") for number in range(CHAIN)}
    slow = document(samples.word("<w:p><w:r><w:t>Grey herons</w:t></w:r></w:p>" * SLOW_PARAGRAPHS), WORD)
    pages = {"/": page("/slow.docx", "/0", text="the start"), "/slow.docx": slow, **chain}
    with Site(pages) as running:
        yield running


def test_pages_of_its_host_do_not_wait_for_a_document(tmp_path: Path, slow_site: Site) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [f"{slow_site.url}/"])
    crawl.run("crawl")
    paths = [line.url.removeprefix(slow_site.url) for line in fetch_log.read(crawl.path / "log")]  # as results came
    assert paths.index("/slow.docx") > paths.index(f"/{CHAIN - 1}")
    assert slow_site.asked.index("/slow.docx") < slow_site.asked.index("/1")
    crawl.run("audit")
    crawl.verify()


def test_a_fetcher_that_is_killed_with_documents_loses_none(tmp_path: Path, slow_site: Site) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [f"{slow_site.url}/"])
    running = crawl.start("crawl")
    assert running.until(lambda: f"/{CHAIN - 1}" in slow_site.asked)
    running.fetchers()[0].kill()
    assert running.wait() == 0
    assert slow_site.times()["/slow.docx"] == 2
    assert set(crawl.documents_by_url().values()) == {1}
    assert "Grey herons" in crawl.run("get", "--text", f"{slow_site.url}/slow.docx").stdout
    crawl.verify()


def test_no_converter_outlives_a_crawl_that_is_killed(tmp_path: Path, site: Site) -> None:
    site.pages["/plain"] = Reply("late", seconds=60.0)
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"scope": {"follow_external": False}})
    running = crawl.start("crawl")
    found: list[psutil.Process] = []

    def has_converter() -> bool:
        children = [child for fetcher in running.fetchers() for child in fetcher.children()]
        found.extend(child for child in children if "pycrawl.convert.process" in " ".join(child.cmdline()))
        return bool(found)

    assert running.until(has_converter)
    running.kill_tree()
    _, alive = psutil.wait_procs(found, GONE_SECONDS)
    assert not alive
    site.pages["/plain"] = page(text="another page")
    crawl.run("crawl")
    assert "Grey herons nest" in crawl.run("get", "--text", f"{site.url}/report.pdf").stdout
    crawl.verify()
