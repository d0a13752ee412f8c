from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from pycrawl import __version__
from pycrawl.config import Config, CrawlSection, example, load, parse, parse_duration, parse_size, toml_value
from pycrawl.config.sections import HostEntry
from pycrawl.errors import ConfigError, UnsafeFile
from pycrawl.urls.host_settings import SettingsByHost

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "pycrawl.toml.example"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0.0),
        (0.5, 0.5),
        ("0.5", 0.5),
        ("250ms", 0.25),
        ("90s", 90.0),
        (" 90 S ", 90.0),
        ("1.5m", 90.0),
        ("10min", 600.0),
        ("2h", 7200.0),
        ("7d", 604_800.0),
        ("2w", 1_209_600.0),
    ],
)
def test_durations(value: object, seconds: float) -> None:
    assert parse_duration(value) == seconds


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("10 B", 10),
        ("64 KB", 64_000),
        ("64k", 64_000),
        ("64 KiB", 65_536),
        ("10 MB", 10_000_000),
        ("1.5GB", 1_500_000_000),
        ("2 TiB", 2 * 2**40),
    ],
)
def test_sizes(value: object, size: int) -> None:
    assert parse_size(value) == size


NO_AMOUNTS: list[object] = [
    -1,
    -0.5,
    True,
    None,
    [],
    "",
    "s",
    "1 2",
    "-1s",
    "1e3",
    "1.",
    ".5",
    "1 parsec",
    "inf",
    "nan",
    "٣s",
]
NO_AMOUNTS += [float("nan"), float("inf"), 10**400, "9" * 400, "9" * 400 + "h"]


@pytest.mark.parametrize("value", NO_AMOUNTS, ids=lambda value: repr(value)[:20])
def test_what_is_neither_a_duration_nor_a_size(value: object) -> None:
    with pytest.raises(ValueError, match=r'expected a duration such as 0\.5, "90s", "2h" or "7d", found'):
        parse_duration(value)
    with pytest.raises(ValueError, match='expected a size such as 4096, "64 KB" or "10 MB", found'):
        parse_size(value)


BAD = [
    ("crawl = 3", "[crawl] must be a section"),
    ("host = 3", "settings of single hosts begin with [[host]], in two pairs of brackets"),
    ("[host]\nname = 'a'", "settings of single hosts begin with [[host]], in two pairs of brackets"),
    ("[[host]]\ndelay = 1", '[[host]] number 1: name: expected a host such as "www.example.com" or'),
    ("[[host]]\nname = ''", '[[host]] number 1: name: expected a host such as "www.example.com" or'),
    ("[[host]]\nname = 'a'\n[[host]]\nname = 7", "[[host]] number 2: name: expected a host"),
    ("[[host]]\nname = 'a'\ndelay = -1", '[[host]] number 1 ("a"): delay: expected a duration such as'),
    ("[[host]]\nname = 'a'\n[[host]]\nname = 'b'\nmax_tries = 0", '[[host]] number 2 ("b"): max_tries: expected a'),
    ("[[host]]\nname = 'a'\nobey_robots = 'no'", '[[host]] number 1 ("a"): obey_robots: expected true or false'),
    ("[[host]]\nname = 'a'\nfollow_external = true", '[[host]] number 1 ("a"): unknown key follow_external; a [[host'),
    ("[[host]]\nname = 'a'\nuser_agent = 'x'", '[[host]] number 1 ("a"): unknown key user_agent; a [[host]] has name'),
    ("[[host]]\nname = 'a'\n[host.limits]\nmax_tries = 1", '[[host]] number 1 ("a"): unknown key limits; a [[host]]'),
    ("[[host]]\nname = 'a'\nmax_errors = 5", '[[host]] number 1 ("a"): max_errors holds for the whole run; it can'),
    ("[[host]]\nname = 'a'\nfetcher_timeout = 5", '[[host]] number 1 ("a"): fetcher_timeout holds for the whole run'),
    (
        "[[host]]\nname = 'a'\nheaders = { Host = 'b' }",
        '[[host]] number 1 ("a"): headers: Host cannot be set here: the',
    ),
    ("[crawl]\nheaders = ['a']", 'crawl.headers: expected a table such as { From = "me@example.org" }, found ['),
    ("[crawl]\nheaders = { From = 3 }", "crawl.headers: From: expected a string, found 3"),
    ("[crawl]\nheaders = { 'a b' = '' }", "crawl.headers: expected the name of a header, found 'a b'"),
    ("[crawl]\nheaders = { '' = '' }", "crawl.headers: expected the name of a header, found ''"),
    ('[crawl]\nheaders = { "A\\r\\nB" = "c" }', "crawl.headers: expected the name of a header, found"),
    (
        '[crawl]\nheaders = { From = "a\\r\\nHost: b" }',
        "crawl.headers: From: expected ASCII characters only, and no li",
    ),
    ('[crawl]\nheaders = { From = "a\\u0000" }', "crawl.headers: From: expected ASCII characters only, and no line"),
    ("[crawl]\nheaders = { From = 'Zoë' }", "crawl.headers: From: expected ASCII characters only, and no line"),
    ("[crawl]\nheaders = { from = 'a', From = 'b' }", "crawl.headers: From is there twice"),
    ("[crawl]\nheaders = { host = 'b' }", "crawl.headers: host cannot be set here: the URL says it"),
    ("[crawl]\nheaders = { User-Agent = 'b' }", "crawl.headers: User-Agent cannot be set here: set crawl.user_agent"),
    ("[crawl]\nheaders = { Content-Length = '1' }", "crawl.headers: Content-Length cannot be set here: it belongs to"),
    ("[crawl]\nheaders = { Connection = 'close' }", "crawl.headers: Connection cannot be set here: it belongs to"),
    ("[crawl]\nheaders = { transfer-encoding = 'x' }", "crawl.headers: transfer-encoding cannot be set here: it"),
    ("[crawl]\nheaders = { Accept-Encoding = 'x' }", "crawl.headers: Accept-Encoding cannot be set here: the crawl"),
    ("[crawl]\nheaders = { If-None-Match = 'x' }", "crawl.headers: If-None-Match cannot be set here: the crawl asks"),
    ("[crawl]\nlanguages = 'de'", 'crawl.languages: expected a list such as ["de", "en"], found \'de\''),
    ("[crawl]\nlanguages = ['de;q=1']", 'crawl.languages: expected languages such as "de", "pt-BR" or "*", found'),
    ("[crawl]\nlanguages = [1]", 'crawl.languages: expected languages such as "de"'),
    (
        "[crawl]\nlanguages = ['de']\nheaders = { accept-language = 'en' }",
        "crawl.headers: Accept-Language is set by crawl.languages already",
    ),
    ("[crawl]\nname = 'a'\nuser_agent = 'Bot/1'", "crawl.user_agent: expected crawl.name ('a') in it, as robots.txt"),
    ("[crawl]\nuser_agent = 'Mozilla/5.0 (Bot)'", "crawl.user_agent: set crawl.name too, to the name in it that"),
    ("[crawl]\nuser_agent = 'bot2/1.0'", "crawl.user_agent: set crawl.name too, to the name in it that robots.txt"),
    ("[crawling]", "unknown section [crawling]; there are [crawl], [scope]"),
    ("delay = 1", "unknown section [delay]"),
    ("[crawl]\ndelay = 1", "unknown key crawl.delay; [crawl] has name, contact"),
    ("[crawl]\nname = 'two words'", "crawl.name: expected letters"),
    ("[crawl]\nname = ''", "crawl.name: expected letters"),
    ("[crawl]\nname = 'bot2'", "crawl.name: expected letters"),
    ("[crawl]\ncontact = 5", "crawl.contact: expected a string, found 5"),
    ('[crawl]\nuser_agent = "a\\r\\nHost: b"', "crawl.user_agent: expected a string without control characters"),
    ("[crawl]\nfetchers = -1", "crawl.fetchers: expected a whole number from 0 to 256, found -1"),
    ("[crawl]\nfetchers = 1.0", "crawl.fetchers: expected a whole number"),
    ("[crawl]\nfetchers = true", "crawl.fetchers: expected a whole number"),
    ("[crawl]\nslots_per_fetcher = 0", "crawl.slots_per_fetcher: expected a whole number from 1"),
    ("plugins = 3", "expected sections such as [plugins.NAME]"),
    ("[plugins]\nx = 3", "expected sections such as [plugins.NAME]"),
    ("[crawl]\ntransport = []", "crawl.transport: expected a string, found []"),
    ("[crawl]\nnameservers = '9.9.9.9'", "crawl.nameservers: expected a list of strings"),
    ("[crawl]\nproxy = 'https://p:1'", 'crawl.proxy: expected "", "none", "http://HOST:PORT", "socks5://'),
    ("[crawl]\nproxy = 'proxy:3128'", "crawl.proxy: expected"),
    ("[crawl]\ncookies = 1", "crawl.cookies: expected true or false, found 1"),
    ("[security]\nallow_networks = '10.0.0.0/8'", "security.allow_networks: expected a list of strings"),
    ("[security]\nallow_networks = ['10.1.2.3/16']", "security.allow_networks: expected networks such as"),
    ("[security]\nallow_networks = ['inside']", "security.allow_networks: expected networks such as"),
    ("[scope]\nallow_hosts = ['a', 1]", "scope.allow_hosts: expected a list of strings"),
    ("[scope]\ndeny_patterns = ['(']", "scope.deny_patterns: '(' is not a regular expression: missing )"),
    ("[scope]\nallow_patterns = ['a{99999999999}']", "scope.allow_patterns: 'a{99999999999}' is not a regular"),
    ("[scope]\nschemes = ['ftp']", 'scope.schemes: expected "http" and "https" only, found \'ftp\''),
    ("[scope]\nschemes = []", "scope.schemes: expected at least one scheme"),
    ("[scope]\nfollow_external = 'no'", "scope.follow_external: expected true or false, found 'no'"),
    ("[scope]\nfollow_external = 0", "scope.follow_external: expected true or false, found 0"),
    ("[politeness]\ndelay = '1 parsec'", "politeness.delay: expected a duration such as"),
    ("[politeness]\ndelay = -1", "politeness.delay: expected a duration"),
    ("[politeness]\ndelay = nan", "politeness.delay: expected a duration"),
    ("[politeness]\ndelay_factor = nan", "politeness.delay_factor: expected a number from 0 to 1000, found nan"),
    ("[politeness]\ndelay_factor = '2'", "politeness.delay_factor: expected a number"),
    ("[limits]\nmax_body_bytes = '10 parrots'", "limits.max_body_bytes: expected a size such as"),
    ("[limits]\nmax_body_bytes = " + "9" * 400, "limits.max_body_bytes: expected a size such as"),
    ("[limits]\nmax_tries = 0", "limits.max_tries: expected a whole number from 1 to 100"),
    ("[store]\ndochdr = 'wt2g'", "store.dochdr: expected one of 'wt10g', 'gov2'"),
    (
        "[recrawl]\npolicy = 'never'",
        "recrawl.policy: expected one of 'age', 'freshness', 'uniform', 'fixed', found 'never'",
    ),
    ("[recrawl]\nkeep = ['all']", "recrawl.keep: expected some of 'cosmetic', 'edited', 'rewritten', found 'all'"),
    ("[store]\ndochdr = 'gov2'\ndochdr = 'gov2'", "not valid TOML: Cannot overwrite a value"),
    ("[crawl", "not valid TOML: "),
    ("x = " + "9" * 5_000, "not valid TOML: "),
    ("x = " + "[" * 100_000, "not valid TOML: "),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:50] for _, message in BAD])
def test_errors_name_the_file_and_the_key(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pycrawl.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: {message}")


def test_the_password_of_a_proxy_is_not_said() -> None:
    with pytest.raises(ConfigError, match=r"found 'ftp://…@proxy'") as raised:
        parse("[crawl]\nproxy = 'ftp://user:secret@proxy'")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("proxy", ["", "none", "http://proxy:3128", "socks5://a:b@[::1]:1080/", "socks5h://tor"])
def test_proxies(proxy: str) -> None:
    assert parse(f"[crawl]\nproxy = '{proxy}'").crawl.proxy == proxy


def test_a_file_that_is_missing_or_unreadable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pycrawl\.toml: no such file\. Run `pycrawl init`"):
        load(tmp_path / "pycrawl.toml")
    with pytest.raises(UnsafeFile, match=r"expected a file, found a folder"):
        load(tmp_path)
    (tmp_path / "latin").write_bytes(b"# \xe4")
    with pytest.raises(ConfigError, match=r"latin: cannot be read: .*utf-8"):
        load(tmp_path / "latin")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "pycrawl.toml"
    path.write_bytes(b"\xef\xbb\xbf[crawl]\nmax_depth = 3\n")
    assert load(path).crawl.max_depth == 3


def test_values_are_read_in_seconds_and_bytes() -> None:
    config = parse("[politeness]\ndelay = '2m'\n[limits]\nmax_body_bytes = '1 MiB'\n[scope]\nallow_hosts = ['a', 'b']")
    assert config.politeness.delay == 120.0
    assert config.limits.max_body_bytes == 2**20
    assert config.scope.allow_hosts == ("a", "b")
    assert config.store == Config().store


def test_an_empty_file_gives_the_defaults() -> None:
    assert parse("") == Config()


def test_the_user_agent() -> None:
    assert Config().user_agent == f"pycrawl/{__version__}"
    named = Config(crawl=CrawlSection(name="mybot", contact="https://example.com/bot"))
    assert named.user_agent == f"mybot/{__version__} (+https://example.com/bot)"
    assert Config(crawl=CrawlSection(user_agent="Anything 1.0")).user_agent == "Anything 1.0"


@pytest.mark.parametrize(
    ("settings", "name", "agent"),
    [
        ("user_agent = 'MyBot/1.0 (+http://a.b)'", "MyBot", "MyBot/1.0 (+http://a.b)"),
        ("user_agent = 'my-bot'", "my-bot", "my-bot"),
        ("user_agent = 'MyBot 1'\nname = 'mybot'", "mybot", "MyBot 1"),
        ("user_agent = 'Mozilla/5.0 (Bot/1)'\nname = 'Bot'", "Bot", "Mozilla/5.0 (Bot/1)"),
        ("user_agent = 'MyBot/1.0'\ncontact = 'a@b.c'", "MyBot", "MyBot/1.0 (+a@b.c)"),
        ("user_agent = 'MyBot/1.0; a@b.c'\ncontact = 'a@b.c'", "MyBot", "MyBot/1.0; a@b.c"),
        ("name = 'Bot'\ncontact = 'a@b.c'", "Bot", f"Bot/{__version__} (+a@b.c)"),
    ],
)
def test_name_user_agent_and_contact_fit_together(settings: str, name: str, agent: str) -> None:
    config = parse(f"[crawl]\n{settings}")
    assert (config.crawl.name, config.user_agent) == (name, agent)


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ("", ()),
        ("languages = ['de']", (("Accept-Language", "de"),)),
        ("languages = ['de', 'en']", (("Accept-Language", "de, en;q=0.8"),)),
        (
            "languages = ['pt-BR', 'pt', 'es', 'fr', 'it', 'en', '*']",
            (("Accept-Language", "pt-BR, pt;q=0.8, es;q=0.6, fr;q=0.4, it;q=0.2, en;q=0.1, *;q=0.1"),),
        ),
        ("headers = { From = ' me ', DNT = '1' }", (("From", "me"), ("DNT", "1"))),
        ("headers = { accept-language = 'en' }", (("accept-language", "en"),)),
        ("languages = ['de']\nheaders = { DNT = '' }", (("Accept-Language", "de"), ("DNT", ""))),
    ],
)
def test_headers_and_languages(settings: str, headers: tuple[tuple[str, str], ...]) -> None:
    assert parse(f"[crawl]\n{settings}").headers == headers


def test_the_value_of_a_header_is_not_said() -> None:
    with pytest.raises(ConfigError) as raised:
        parse('[crawl]\nheaders = { Authorization = "Bearer secret\\n" }')
    assert "secret" not in str(raised.value)


def test_settings_of_hosts_are_read_in_seconds_and_bytes() -> None:
    first, second = parse(
        "[[host]]\nname = '*.a.example'\ndelay = '2m'\nmax_body_bytes = '1 MiB'\nheaders = { X = '1' }\n"
        "[[host]]\nname = 'b.example:8080'"
    ).hosts
    assert first == HostEntry("*.a.example", {"delay": 120.0}, {"max_body_bytes": 2**20}, (("X", "1"),))
    assert second == HostEntry("b.example:8080")


def sections() -> list[Any]:
    values = [getattr(Config(), field.name) for field in fields(Config)]
    return [value for value in values if is_dataclass(value)]


def uncommented(text: str) -> str:
    return re.sub(r"(?m)^# (\w+ = .*)$", r"\1", text)


def test_the_example_is_current() -> None:
    assert EXAMPLE.read_text("utf-8") == example(), "write it again from pycrawl.config.example()"


def test_the_example_loads_to_the_defaults_with_and_without_its_comments() -> None:
    assert load(EXAMPLE) == Config()
    text = uncommented(EXAMPLE.read_text("utf-8"))
    assert parse(text) == Config()
    written = set(re.findall(r"(?m)^(\w+) = ", text))
    assert written == {key.name for section in sections() for key in fields(section)}


def test_the_examples_of_the_documentation_are_settings() -> None:
    examples = re.findall(r"```toml\n(.*?)```", SETTINGS_PAGE.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 4
    for text in examples:
        SettingsByHost(parse(text))


def test_every_key_has_a_meaning_and_a_default() -> None:
    for section in sections():
        for key in fields(section):
            assert key.metadata["doc"].endswith(".")
            assert "\n" not in key.metadata["doc"]


def test_keys_that_are_changed_stand_in_the_example_as_given() -> None:
    text = example({"crawl.contact": toml_value('say "hi" \\ bye'), "scope.allow_hosts": toml_value(("a", "b"))})
    config = parse(text)
    assert config.crawl.contact == 'say "hi" \\ bye'
    assert config.scope.allow_hosts == ("a", "b")
    assert "\n# name = " in text
