"""`pycrawl simulate`: its table, its JSON, its plot, and what it says to bad input."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl, pycrawl
from tests.e2e.site import Site, page

OK, USAGE = 0, 2
SMALL = ("simulate", "--pages", "400", "--budget", "80", "--days", "12")
POLICIES = ["age", "freshness", "uniform", "fixed", "age, rates known"]


def test_the_table_and_the_json_agree_and_the_plot_is_drawn(tmp_path: Path) -> None:
    plot = tmp_path / "ages.svg"
    shown = pycrawl(*SMALL, "--plot", plot)
    assert (shown.returncode, shown.stderr) == (OK, "")
    found = json.loads(pycrawl(*SMALL, "--json", "--plot", plot).stdout)  # the older plot is replaced
    assert list(found["policies"]) == POLICIES
    lines = shown.stdout.splitlines()
    for name, figures in found["policies"].items():
        (line,) = (
            line for line in lines if line.startswith(f"{name} ") and (name != "age" or line[:18] == f"{name:<18}")
        )
        assert f" {figures['age_days']:.3f} d" in line
        assert len(figures["ages_by_day"]) == len(figures["freshness_by_day"]) == 12
        assert 0 <= figures["freshness"] <= 1
    assert max(len(line) for line in lines if str(plot) not in line) <= 80
    assert "recrawl.policy chooses the policy of a crawl" in shown.stdout
    lines_drawn = ET.parse(plot).getroot().findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines_drawn) == len(POLICIES)


def test_rates_from_a_file(tmp_path: Path) -> None:
    rates = tmp_path / "rates.txt"
    rates.write_text("# changes a day\n0\n0.5  # twice in four days\n\n1e-3\n")
    words = ("simulate", "--rates", rates, "--budget", "1", "--days", "3", "--json")
    assert json.loads(pycrawl(*words).stdout)["pages"] == 3
    assert json.loads(pycrawl(*words, "--pages", "50").stdout)["pages"] == 50


def test_rates_from_a_crawl(tmp_path: Path) -> None:
    with Site({"/": page("/a", "/b"), "/a": page(text="a"), "/b": page(text="b")}) as site:
        crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"])
        words = ("simulate", "--from-crawl", "--budget", "1", "--days", "3", "--json")
        assert "no page of this crawl was visited yet" in crawl.run(*words, exit_code=USAGE).stderr
        crawl.run("crawl")
        assert json.loads(crawl.run(*words).stdout)["pages"] == 3
        assert json.loads(crawl.run(*words, "--pages", "50").stdout)["pages"] == 50
    assert "expected one of" in crawl.run(*words, "--rates", "x", exit_code=USAGE).stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "found none"),
        ("1\nfast\n", "rates.txt, line 2: expected a number of changes a day from 0 to 100,000, found 'fast'"),
        ("-1\n", "line 1: expected a number"),
        ("1\n\nnan\n", "line 3: expected a number"),
        ("inf\n", "line 1: expected a number"),
        ("\x1b[31m\n", "line 1: expected a number"),
        ("1" * 2_000, "line 1: longer than 1,000 characters"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    rates = tmp_path / "rates.txt"
    rates.write_text(text)
    refused = pycrawl("simulate", "--rates", rates, "--budget", "1")
    assert refused.returncode == USAGE
    assert words in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "\x1b" not in refused.stderr


@pytest.mark.parametrize(
    "words",
    ["", "--budget 0", "--budget 5 --days 0", "--budget 5 --interval soon", "--budget 5 --rates missing.txt",
     "--budget 5 --plot /", f"--budget 5 --plot {__file__}"],
)  # fmt: skip
def test_wrong_arguments(words: str) -> None:
    assert pycrawl("simulate", *words.split()).returncode == USAGE
