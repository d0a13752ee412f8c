"""Hosts on loopback for tests of traps: honest sites of many styles, and sites without end.

One thread serves all of them, each on an address of its own; what they were asked for is counted by host. A page is
made when it is asked for, from a seed and its path, so that endless sites cost nothing.
"""

from __future__ import annotations

import asyncio
import functools
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from types import TracebackType

_SYLLABLES = "an be con de er fi gra hol in ka lo mu ner or pa qui re sto ti un ver wa xi yo zen ba cu da".split()
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class Answer:
    body: str = ""
    status: int = 200
    location: str = ""


MISSING = Answer("<title>404</title><p>There is no such page.</p>", 404)

# A path with its query → what is answered.
Host = Callable[[str], Answer]


# Text


@functools.cache
def _vocabulary() -> list[str]:
    chance = Random("vocabulary")
    return ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(8_000)]


def prose(key: object, words: int) -> str:
    """Text that nobody else has said, with the frequencies of a language."""
    chance = Random(str(key))
    vocabulary = _vocabulary()
    return " ".join(vocabulary[int(len(vocabulary) ** chance.random()) - 1] for _ in range(words))


def word(chance: Random, letters: int = 8) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=letters))


def links(targets: Iterable[str], text: str = "") -> str:
    return "".join(f'<li><a href="{target}">{text or target.strip("/")}</a></li>\n' for target in targets)


def document(title: str, *parts: str) -> Answer:
    return Answer(f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body>\n{''.join(parts)}</body></html>\n")


# Honest sites


def with_template(name: str, title: str, *parts: str, navigation: Iterable[str] = ("/", "/about")) -> Answer:
    """As most sites do it: more words around the content than in it."""
    menu = f"<nav><ul>{links(navigation)}</ul></nav><p>{prose(name + ' header', 60)}</p>"
    return document(title, menu, f"<main><h1>{title}</h1>", *parts, f"</main><footer>{prose(name, 120)}</footer>")


def site(pages: Mapping[str, Answer]) -> Host:
    return lambda path: pages.get(path, MISSING)


def magazine(name: str, articles: int, abroad: Iterable[str] = ()) -> dict[str, Answer]:
    """A home page with the newest articles, pages of older ones, and articles that link to related ones."""
    per_page = 10
    listing = [f"/article/{number}/{word(Random(f'{name} {number}'))}" for number in range(articles)]
    last = (articles - 1) // per_page
    pages = {"/about": with_template(name, "About", f"<p>{prose(name + ' about', 200)}</p>")}
    for number in range(last + 1):
        here = listing[number * per_page : (number + 1) * per_page]
        teasers = "".join(f'<h2><a href="{one}">{prose(one, 6)}</a></h2><p>{prose(one, 20)}</p>' for one in here)
        ways = [f"/page/{other}" for other in (number - 1, number + 1) if 0 < other <= last]
        extra = links(abroad) if number == 0 else ""
        pages[f"/page/{number}" if number else "/"] = with_template(name, f"Page {number}", teasers, links(ways), extra)
    for number, path in enumerate(listing):
        related = [listing[(number * 7 + step) % articles] for step in (1, 2)]
        text = f"<p>{prose(name + path, 150)}</p>"
        pages[path] = with_template(name, prose(path, 6), text, links(related))
    return pages


def tree(name: str, depth: int, fan_out: int, path: str = "/") -> dict[str, Answer]:
    """A directory: pages link to what is below them, and nowhere else but home."""
    below = [f"{path}{word(Random(f'{name}{path}{step}'), 5)}/" for step in range(fan_out if depth else 0)]
    pages = {path: with_template(name, path, f"<p>{prose(name + path, 80)}</p>", links(below), navigation=["/"])}
    for one in below:
        pages |= tree(name, depth - 1, fan_out, one)
    return pages


def archive(name: str, years: int, per_month: int) -> dict[str, Answer]:
    """A calendar of bare numbers, month after month, with articles behind the days."""
    pages = {"/": with_template(name, "Archive", links(["/calendar/2000/1"]), navigation=["/"])}
    months = [(year, month) for year in range(2000, 2000 + years) for month in range(1, 13)]
    for place, (year, month) in enumerate(months):
        articles = [f"/{year}/{month}/{prose(f'{name} {year} {month} {step}', 3).replace(' ', '-')}"
                    for step in range(per_month)]  # fmt: skip
        days = "".join(f'<td><a href="{one}">{step + 1}</a></td>' for step, one in enumerate(articles))
        ways = [f"/calendar/{y}/{m}" for y, m in months[max(0, place - 1) : place + 2]]
        pages[f"/calendar/{year}/{month}"] = document(
            f"{_MONTHS[month - 1]} {year}", f"<table>{days}</table>", links(ways, "x")
        )
        for one in articles:
            pages[one] = with_template(name, one, f"<p>{prose(name + one, 100)}</p>", navigation=["/"])
    return pages


# Sites without end


def sessions_in_query(seed: int) -> Host:
    """A dozen pages, each of which gives every link a session of its own."""
    chance = Random(seed)

    def answer(path: str) -> Answer:
        name = path.partition("?")[0]
        targets = [f"/page{number}?s={chance.getrandbits(64):x}" for number in range(12)]
        return with_template(f"sessions {seed}", name, f"<p>{prose(f'{seed} {name}', 150)}</p>", links(targets, "on"))

    return answer


def sessions_in_path(seed: int) -> Host:
    chance = Random(seed)

    def answer(path: str) -> Answer:
        name = path.rpartition("/")[2]
        targets = [f"/visit/{chance.getrandbits(64):016x}/{page}" for page in ("news", "shop", "help", "contact")]
        return with_template(f"visits {seed}", name, f"<p>{prose(f'{seed} {name}', 150)}</p>", links(targets, "on"))

    return answer


def _month(seed: int, year: int, month: int, way: str) -> Answer:
    before, after = divmod(year * 12 + month - 2, 12), divmod(year * 12 + month, 12)  # months from 0
    targets = [way.format(y, m + 1) for y, m in (before, after)]
    cells = "".join(f"<td>{day}</td>" for day in range(1, 31))
    title = f"{_MONTHS[month - 1]} {year}"
    return with_template(
        f"calendar {seed}", title, f"<table>{cells}</table><p>No events in {title}.</p>", links(targets, "go")
    )


def calendar_in_path(seed: int) -> Host:
    def answer(path: str) -> Answer:
        found = re.fullmatch("/calendar/([0-9]+)/([0-9]+)/", "/calendar/2001/1/" if path == "/" else path)
        return _month(seed, int(found[1]), int(found[2]), "/calendar/{}/{}/") if found else MISSING

    return answer


def calendar_in_query(seed: int) -> Host:
    def answer(path: str) -> Answer:
        found = re.fullmatch(
            "/events[?]year=([0-9]+)&month=([0-9]+)", "/events?year=2001&month=1" if path == "/" else path
        )
        return _month(seed, int(found[1]), int(found[2]), "/events?year={}&month={}") if found else MISSING

    return answer


def deeper(seed: int) -> Host:
    """Relative links without a root: the same directory again and again below itself."""

    def answer(path: str) -> Answer:
        text = f"<p>You are in {path}: {prose(seed, 200)}</p>"
        return with_template(f"deeper {seed}", "Products", text, links(["more/", "sale/"]), navigation=["/"])

    return answer


def deeper_by_other_names(seed: int) -> Host:
    def answer(path: str) -> Answer:
        names = [f"{word(Random(f'{path}{step}'), 6)}/" for step in range(3)]
        return with_template(
            f"names {seed}", "Products", f"<p>{prose(seed, 200)}</p>", links(names, "x"), navigation=["/"]
        )

    return answer


def facets(seed: int) -> Host:
    """A shop of 60 products in one list, which eight facets of three values each filter."""
    names = [f"facet{number}" for number in range(8)]
    cards = [f"<div>{prose(f'{seed} product {number}', 12)}</div>" for number in range(60)]

    def answer(path: str) -> Answer:
        chosen = dict(field.split("=") for field in path.partition("?")[2].split("&") if field)
        shown = sorted(Random(path).sample(range(60), 12))
        targets = []
        for name in names:
            for value in "abc":
                fields = sorted({**chosen, name: value}.items())
                targets.append("/search?" + "&".join(f"{key}={one}" for key, one in fields))
        list_ = "".join(cards[number] for number in shown)
        return with_template(f"shop {seed}", "Products", list_, links(targets, "filter"))

    return answer


def maze(seed: int, way: str = "/maze/{}", navigation: tuple[str, ...] = ("/",)) -> Host:
    """Text that was never said before, and ten links that were never met before, on every page."""

    def answer(path: str) -> Answer:
        chance = Random(f"{seed} {path}")
        below = [way.format(word(chance)) for _ in range(10)]
        return document(prose(path, 4), links(navigation), f"<p>{prose(f'{seed} {path}', 200)}</p>", links(below))

    return answer


def maze_with_way_back(seed: int) -> Host:
    """As `maze`, each page below the one that links to it, with links to all those above."""

    def answer(path: str) -> Answer:
        chance = Random(f"{seed} {path}")
        parts = path.strip("/").split("/") if path != "/" else []
        above = ["/" + "".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts))]
        below = [f"{path}{word(chance)}/" for _ in range(10)]
        return document(prose(path, 4), links(above), f"<p>{prose(f'{seed} {path}', 200)}</p>", links(below))

    return answer


def soft_404(seed: int) -> Host:
    """Nothing is ever missing: every URL has the same words and another link."""

    def answer(path: str) -> Answer:
        other = word(Random(f"{seed} {path}"), 10)
        text = f"<p>Sorry, {path} cannot be found. {prose(seed, 80)}</p>"
        return document("Oops", text, links([f"/{other}", f"/{other[::-1]}.html"], "Try this"))

    return answer


def redirects(seed: int) -> Host:
    """Each URL redirects to another that was never met; one in five is a page with more of them."""

    def answer(path: str) -> Answer:
        chance = Random(f"{seed} {path}")
        if path == "/" or chance.random() < 0.2:
            return document("Go on", f"<p>{prose(seed, 60)}</p>", links(f"/go/{word(chance)}" for _ in range(5)))
        return Answer(status=302, location=f"/go/{word(chance)}")

    return answer


TRAPS: tuple[Callable[[int], Host], ...] = (
    sessions_in_query,
    sessions_in_path,
    calendar_in_path,
    calendar_in_query,
    deeper,
    deeper_by_other_names,
    facets,
    maze,
    functools.partial(maze, way="/{}"),
    functools.partial(maze, way="/{}/index.html", navigation=()),
    maze_with_way_back,
    soft_404,
    redirects,
)


# The server


class TrapWeb:
    """`with TrapWeb(hosts) as web:` listens at so many addresses; `web.serve(i, host)` says what is at `web.url(i)`."""

    def __init__(self, hosts: int, robots: str = "") -> None:
        self._hosts: list[Host] = [lambda path: MISSING] * hosts
        self._robots = Answer(robots) if robots else MISSING
        self.asked: Counter[tuple[int, str]] = Counter()  # host and path → how often
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._servers: list[asyncio.Server] = []
        self.port = 0

    def serve(self, number: int, host: Host) -> None:
        self._hosts[number] = host

    def address(self, number: int) -> str:
        return f"127.3.{number // 250}.{number % 250 + 1}"

    def url(self, number: int) -> str:
        return f"http://{self.address(number)}:{self.port}"

    def requests(self, number: int) -> int:
        return sum(times for (host, _), times in self.asked.items() if host == number)

    def pages(self, number: int) -> set[str]:
        return {path for host, path in self.asked if host == number and path != "/robots.txt"}

    def answer(self, number: int, path: str) -> Answer:
        self.asked[number, path] += 1
        return self._robots if path == "/robots.txt" else self._hosts[number](path)

    def __enter__(self) -> TrapWeb:
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    async def _start(self) -> None:
        for number in range(len(self._hosts)):
            make = functools.partial(_Connection, self, number)
            server = await self._loop.create_server(make, self.address(number), self.port, backlog=16)
            self._servers.append(server)
            self.port = self.port or server.sockets[0].getsockname()[1]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            self._loop.call_soon_threadsafe(server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Connection(asyncio.Protocol):
    """Requests without a body, one after the other."""

    def __init__(self, web: TrapWeb, number: int) -> None:
        self._web = web
        self._number = number
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            answer = self._web.answer(self._number, head.split(b" ", 2)[1].decode())
            body = answer.body.encode()
            lines = [f"HTTP/1.1 {answer.status} X", "Content-Type: text/html", f"Content-Length: {len(body)}"]
            lines += [f"Location: {answer.location}"] if answer.location else []
            self._transport.write("\r\n".join([*lines, "", ""]).encode() + body)
