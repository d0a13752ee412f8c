"""Plugins as users install them: with pip, into an environment beside pycrawl, and driven by real crawls."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.crawling import RUN_SECONDS, Crawl, Settings
from tests.e2e.site import Reply, Site, page

ROOT = Path(__file__).parents[2]
BIBTEX = "application/x-bibtex"
BIBLIOGRAPHY = """@article{brin1998,
  title = {The Anatomy of a {Search} Engine}, author = "Brin and Page", year = {1998},
  url = {/cited.html}
}
@misc{other, title = {Another}, url = "/second.html"}
"""


class Environment:
    """A virtual environment that sees this one's packages, and others that are installed into it."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin/python"
        packages = next((folder / "lib").glob("python*/site-packages"))
        # pycrawl of this checkout first, then what this environment has.
        (packages / "beside.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n", "utf-8")

    def install(self, package: Path) -> None:
        options = "-q --disable-pip-version-check --no-deps --no-build-isolation --no-index"
        command = [str(self.python), "-m", "pip", "install", *options.split(), str(package)]
        subprocess.run(command, check=True, timeout=RUN_SECONDS)

    def pycrawl(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), "-m", "pycrawl", *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False, cwd="/")
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
        return ended

    def why(self, crawl: Crawl, url: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.pycrawl("why", "-C", crawl.path, "--json", url).stdout)
        return facts


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {
        "/": page("/refs.bib", "/de/start", "/en/start", text="the start"),
        "/refs.bib": Reply(BIBLIOGRAPHY, content_type=BIBTEX),
        "/cited.html": page(text="a cited page"),
        "/second.html": page(text="another cited page"),
        "/de/start": page(text="auf deutsch"),
        "/en/start": page(text="in english"),
    }
    with Site(pages) as running:
        yield running


SETTINGS: Settings = {
    "scope": {"content_types": ["text/html", BIBTEX]},
    "plugins.bibtex": {"follow_doi": False},
}


def test_the_example_is_installed_and_used(tmp_path: Path, environment: Environment, site: Site) -> None:
    package = shutil.copytree(ROOT / "examples/pycrawl-bibtex", tmp_path / "package")  # pip leaves its build there
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], SETTINGS)
    without = environment.pycrawl("crawl", "-C", crawl.path)
    assert without.returncode == 0, without.stderr
    assert f"no parser for these types is installed: {BIBTEX} (1)" in without.stdout
    assert "/cited.html" not in site.times()

    environment.install(package)
    filtered: Settings = {
        "scope": {"content_types": ["text/html", BIBTEX], "filters": ["path-language"]},
        "plugins.path-language": {"languages": ["en"]},
    }
    crawl = Crawl.make(tmp_path / "again", [f"{site.url}/"], filtered)
    site.asked.clear()
    with_it = environment.pycrawl("crawl", "-C", crawl.path)
    assert with_it.returncode == 0, with_it.stderr
    assert "no parser" not in with_it.stdout
    assert site.times().keys() == {"/", "/refs.bib", "/cited.html", "/second.html", "/en/start"}
    read = json.loads(environment.pycrawl("get", "-C", crawl.path, "--json", f"{site.url}/refs.bib").stdout)
    assert read["title"] == "The Anatomy of a Search Engine"
    assert [link["url"] for link in read["links"]] == [f"{site.url}/cited.html", f"{site.url}/second.html"]
    assert crawl.stats()["filtered"]["filtered-by-plugin"] == 1


def test_a_filter_that_is_not_installed_is_a_clear_error(tmp_path: Path, site: Site) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"scope": {"filters": ["no-such"]}})
    ended = crawl.run("crawl", exit_code=2)
    assert "scope.filters: no plugin 'no-such' is installed" in ended.stderr
    assert not site.asked


@pytest.mark.parametrize("key", ["transport", "prioritiser"])
def test_so_are_the_others(tmp_path: Path, site: Site, key: str) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"crawl": {key: "no-such"}})
    ended = crawl.run("crawl", exit_code=2)
    assert f"crawl.{key}: no plugin 'no-such' is installed" in ended.stderr


FAULTY = """
    import time
    from pycrawl.parse.parsed import Parsed

    class Raises:
        media_types = ("application/x-raises",)
        def __init__(self, settings): pass
        def parse(self, body, wanted): raise KeyError(body.url)

    class Loops:
        media_types = ("application/x-loops",)
        def __init__(self, settings): pass
        def parse(self, body, wanted):
            ends = time.monotonic() + 60
            while time.monotonic() < ends:
                try:
                    time.sleep(0.01)
                except Exception:
                    pass

    class Rubbish:
        media_types = ("application/x-rubbish",)
        def __init__(self, settings): pass
        def parse(self, body, wanted): return Parsed(hrefs=[b"bytes", None], text=7)

    class Priority:
        def __init__(self, settings): pass
        def priority(self, facts): return "high"

    class Filter:
        def __init__(self, settings): pass
        def verdict(self, url):
            if "bad-for-filter" in url: raise RuntimeError("oh")
            return None
"""
FAULTY_SETUP = """
    from setuptools import setup
    setup(name="faulty", version="1", py_modules=["faulty"], entry_points={
        "pycrawl.parsers": ["raises = faulty:Raises", "loops = faulty:Loops", "rubbish = faulty:Rubbish",
                            "missing = faulty:NoSuchThing"],
        "pycrawl.priorities": ["high = faulty:Priority"],
        "pycrawl.filters": ["now-and-then = faulty:Filter"],
    })
"""


def test_faulty_plugins_harm_only_their_pages(tmp_path: Path, environment: Environment) -> None:
    package = tmp_path / "faulty"
    package.mkdir()
    (package / "faulty.py").write_text(textwrap.dedent(FAULTY), "utf-8")
    (package / "setup.py").write_text(textwrap.dedent(FAULTY_SETUP), "utf-8")
    environment.install(package)
    honest = {f"/{number}.html": page(text=f"honest page {number}") for number in range(30)}
    kinds = ("raises", "loops", "rubbish")
    odd = {f"/{kind}": Reply("x", content_type=f"application/x-{kind}") for kind in kinds}
    pages = {"/": page(*honest, *odd, "/bad-for-filter"), **honest, **odd, "/bad-for-filter": page(text="never")}
    with Site(pages) as site:
        settings: Settings = {
            "crawl": {"prioritiser": "high"},
            "scope": {"content_types": ["text/html", "application/*"], "filters": ["now-and-then"]},
        }
        crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], settings)
        ended = environment.pycrawl("crawl", "-C", crawl.path)
        assert ended.returncode == 0, ended.stderr
        assert site.times() == dict.fromkeys([*honest, *odd, "/"], 1)
        assert "fetcher" not in ended.stdout, "none was replaced"
        details = {kind: environment.why(crawl, f"{site.url}/{kind}")["visit"] for kind in kinds}
        assert {visit["outcome"] for visit in details.values()} == {"plugin-failed"}
        assert details["raises"]["detail"].startswith("raises: KeyError")
        assert details["loops"]["detail"] == "loops: took longer than 5 s"
        assert details["rubbish"]["detail"].startswith("rubbish: TypeError: expected texts and links")
        facts = crawl.stats()
        assert facts["errors"] == {"plugin-failed": 3}
        assert facts["filtered"] == {"plugin-failed": 1}
        assert facts["pages_stored"] == len(honest) + 1
        crawl.verify()


def test_the_environment_is_another_one(environment: Environment) -> None:
    """Else the tests above would prove nothing."""
    prefix = subprocess.run([environment.python, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True)
    assert prefix.stdout.strip() != sys.prefix
