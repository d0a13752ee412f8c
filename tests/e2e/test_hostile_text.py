"""Control characters from servers, files, arguments and names reach neither the terminal nor the logs."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.crawling import FAST, Crawl, toml
from tests.e2e.hostile_text import ANSWERS, EVIL, FORBIDDEN, OWN_SEQUENCES, PATHS, EvilSite

# Runs many commands in one process, each as `pycrawl` does.
PROGRAM = """
import json, sys
from pycrawl.cli import main
for arguments in json.loads(sys.argv.pop()):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as exit:
        assert exit.code in (0, 1, 2, 5), (arguments, exit.code)
"""
PATIENCE = 120.0  # seconds


def commands(path: Path, url: str, seeds: Path) -> list[list[str]]:
    """Every command that shows what it knows of, with arguments of a stranger too."""
    here = ["-C", str(path)]
    asked = [f"{url}{name}" for name in ("/", *PATHS)]
    return [
        ["stats", *here, "--errors", "--hosts"],
        ["stats", *here, "--errors", "--hosts", "--json"],
        *(["why", *here, "-v", one] for one in asked),
        ["why", *here, "--json", f"{url}/type"],
        ["why", *here, EVIL],
        ["robots", *here, f"{url}/denied"],
        ["robots", *here, "--json", f"{url}/denied"],
        ["list", *here],
        ["list", *here, "--json"],
        ["list", *here, "--host", EVIL],
        ["list", *here, "--reason", EVIL],
        *(["get", *here, option, f"{url}/"] for option in ("--text", "--content", "--json")),
        ["get", *here, f"{url}/type"],
        ["get", *here, EVIL],
        ["dups", *here, f"{url}/near"],
        ["dups", *here, "--json", f"{url}/near"],
        ["dups", *here, "--all"],
        ["dups", *here, "--threshold", EVIL, "--all"],
        *([name, *here, *json, f"{url}/near"] for name in ("versions", "diff") for json in ((), ("--json",))),
        ["versions", *here, EVIL],
        ["diff", *here, "--from", EVIL, f"{url}/near"],
        *(["links", *here, *json, one] for one in asked for json in ((), ("--json",))),
        ["compact", *here, "--dry-run"],
        ["report", *here, "--json"],
        ["report", *here, "-o", f"/missing{EVIL}/x.html"],
        ["export", *here, "--format", EVIL, "-o", "/missing/x"],
        ["export", *here, "--format", "jsonl", "--fields", EVIL, "-o", "/missing/x"],
        ["import", *here, f"/missing{EVIL}"],
        ["simulate", "--rates", f"/missing{EVIL}"],
        ["verify", *here],
        ["verify", *here, "--deep"],
        ["audit", *here],
        ["audit", *here, "--json"],
        ["add", *here, EVIL, f"http://{EVIL}/", f"{url}/x"],
        ["add", *here, "--file", str(seeds)],
        ["add", *here, "--file", f"/missing{EVIL}"],
        ["retry", *here, EVIL],
        ["retry", *here, "--host", EVIL],
        ["forget", *here, "--dry-run", f"{url}/near"],
        ["forget", *here, "--host", EVIL],
        ["crawl", *here, "--max-time", EVIL],
        ["crawl", "-C", f"/no/{EVIL}"],
        ["stats", f"--{EVIL}"],
        ["stats", *here, EVIL],
        [EVIL],
        ["help", EVIL],
        ["-C", EVIL, "stats"],
    ]


def on_terminals(path: Path, url: str) -> list[list[str]]:
    """Commands whose output is only for a terminal made visible; elsewhere it is exact."""
    export = ["export", "-C", str(path), "--format", "jsonl", "-o", "-"]
    return [["get", "-C", str(path), "--headers", f"{url}/"], export, [*export, "--fields", "url,headers,text,links"]]


def on_a_terminal(arguments: list[str]) -> str:
    """Everything that a process writes to its terminal."""
    primary, secondary = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary, env=environment)
    os.close(secondary)
    data = b""
    while True:
        try:
            part = os.read(primary, 65_536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        data += part
    os.close(primary)
    assert process.wait(PATIENCE) == 0, data
    return data.decode()


@pytest.mark.parametrize("terminal", [False, True], ids=["plain", "terminal"])
def test_no_control_character_is_shown(tmp_path: Path, terminal: bool) -> None:
    seeds = tmp_path / "seeds"
    seeds.write_text(f"{EVIL}\nhttp://a b{EVIL}/\nhttp://{EVIL}.example/\n", "utf-8")
    with EvilSite() as site:
        crawl = Crawl.make(tmp_path / f"a[/b]{EVIL.replace('/', '')}", [f"{site.url}/"], {"limits": {"max_tries": 1}})
        todo = [
            ["crawl", "-C", str(crawl.path)],
            *commands(crawl.path, site.url, seeds),
            *(on_terminals(crawl.path, site.url) if terminal else ()),
            ["init", str(tmp_path / f"new{EVIL.replace('/', '')}"), "--seed", EVIL],
        ]
        line = [sys.executable, "-c", PROGRAM, json.dumps(todo)]
        if terminal:
            shown = OWN_SEQUENCES.sub("", on_a_terminal(line)).replace("\r", "")
        else:
            ended = subprocess.run(line, capture_output=True, timeout=PATIENCE, check=False)
            assert ended.returncode == 0, ended.stderr.decode()
            shown = (ended.stdout + ended.stderr).decode()
    assert "owned" in shown
    assert "Traceback" not in shown, shown
    assert "PYCRAWL_TRACEBACK" not in shown, shown
    assert not FORBIDDEN.search(shown), FORBIDDEN.findall(shown)
    assert "[/b][red]:smile:" in shown, "read as markup"
    for file in crawl.directory.log.iterdir():
        assert not FORBIDDEN.search(file.read_text("utf-8")), file
    assert "owned" in (crawl.directory.log / "crawl.log").read_text("utf-8")


def test_json_is_exact_and_a_body_in_a_pipe_is_as_served(tmp_path: Path) -> None:
    with EvilSite() as site:
        crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"], {"limits": {"max_tries": 1}})
        crawl.run("crawl")
        told = crawl.run("get", "--json", f"{site.url}/").stdout
        assert not FORBIDDEN.search(told)
        assert json.loads(told)["links"][0]["anchor"].startswith("\x1b]0;owned\x07")
        body = ANSWERS["/"].split(b"\r\n\r\n", 1)[1]
        got = subprocess.run(
            [sys.executable, "-m", "pycrawl", "get", "-C", crawl.path, f"{site.url}/"], capture_output=True, check=True
        )
        assert got.stdout == body


def test_an_error_in_the_settings_is_shown_on_one_line(tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    crawl.directory.config_file.write_text(toml(FAST) + '\n["\\u001b[31m\\u202e\\n"]\n', "utf-8")
    told = crawl.run("stats", exit_code=2).stderr
    assert told.count("\n") == 1
    assert not FORBIDDEN.search(told)
