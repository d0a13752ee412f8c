"""Odd and hostile answers on both transports: each costs its own URL only, within limits, and has a named outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pycrawl.fetch import curl_slot, urllib3_transport
from pycrawl.fetch.cookies import CookieJar
from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.curl_slot import Slot
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.transport import Head, Response
from pycrawl.model import Outcome
from pycrawl.simweb.hostile_answers import HOSTILE_ANSWERS, PAGE, HostileAnswer
from tests.fetch.answer_server import AnswerServer
from tests.fetch.conftest import Client

MOST_BODY_BYTES = 1_000_000
MOST_SENT_BYTES = 250_000_000  # of an answer without end; without limits, it is that many in a second
OF_A_STATUS = (Outcome.FETCHED, Outcome.ODD_STATUS, Outcome.TOO_BUSY, Outcome.BAD_REDIRECT)  # seen by the reader only

MakeClient = Callable[..., Client]


@pytest.fixture
def answers() -> Iterator[AnswerServer]:
    server = AnswerServer()
    yield server
    server.close()


def check(answer: HostileAnswer, response: Response) -> None:
    if answer.outcome is Outcome.UNWANTED_TYPE:
        assert (response.outcome, response.aborted_by_type, response.body) == (None, True, b"")
    elif answer.outcome in OF_A_STATUS:
        assert (response.outcome, response.status) == (None, answer.status), (answer.name, response)
        if answer.body is not None and response.body != answer.body:
            assert answer.name.startswith("charset-"), response.body
        assert len(response.body) <= MOST_BODY_BYTES
    else:
        assert response.outcome is answer.outcome, (answer.name, response)
        assert response.detail
        assert response.detail.isprintable()
        assert (response.status, response.headers, response.body) == (0, [], b"")


def test_each_answer_has_its_outcome_and_costs_no_other_page(make_client: MakeClient, answers: AnswerServer) -> None:
    client = make_client(max_body_bytes=MOST_BODY_BYTES, slow_seconds=3.0, cookies=True)
    for answer in HOSTILE_ANSWERS:
        client.submit(f"{answers.base}/{answer.name}")
        client.submit(f"{answers.base}/honest?{answer.name}")
    responses = {response.url.rpartition("/")[2]: response for response in client.wait(2 * len(HOSTILE_ANSWERS))}
    for answer in HOSTILE_ANSWERS:
        check(answer, responses[answer.name])
        honest = responses[f"honest?{answer.name}"]
        assert (honest.outcome, honest.status, honest.body) == (None, 200, PAGE)
    assert client.transport.in_flight == 0
    for name, sent in answers.sent.items():
        assert sent < MOST_SENT_BYTES, name


@pytest.mark.parametrize("name", ["chunk-extensions-without-end", "a-chunk-extension-without-end"])
def test_what_is_no_body_counts_as_received(make_client: MakeClient, answers: AnswerServer, name: str) -> None:
    client = make_client(max_body_bytes=MOST_BODY_BYTES)
    client.get(f"{answers.base}/honest")  # a connection that was used before has its own count
    if name == "chunk-extensions-without-end":
        assert client.get(f"{answers.base}/{name}").wire_bytes > 1_000_000
    else:
        assert client.get(f"{answers.base}/{name}").wire_bytes > 60_000


DECODED_FOR_LONG = [
    "empty-members-in-brotli",
    "empty-members-in-gzip",
    "empty-members-in-brotli-thrice",
    "empty-blocks-in-brotli",
    "empty-members-without-end",
    "tiny-members-without-end",
]


@pytest.mark.parametrize("name", DECODED_FOR_LONG)
def test_input_without_output_takes_little_time(name: str) -> None:
    answer = next(one for one in HOSTILE_ANSWERS if one.name == name)
    head, _, data = answer.first.partition(b"\r\n\r\n")
    encoding = head.partition(b"Content-Encoding: ")[2].partition(b"\r\n")[0]
    body = Body(encoding, 10_000_000)
    begun = time.thread_time()
    wanted = body.feed(data)
    while wanted and answer.then:
        wanted = body.feed(answer.then)
    assert time.thread_time() - begun < 0.25  # it was a second and more, and is some milliseconds
    assert body.damage
    assert body.held_bytes < 2_000_000


def test_a_body_in_crumbs_takes_no_more_memory_than_its_length() -> None:
    body = Body(b"", 1_000_000)
    for number in range(100_000):
        assert body.feed(b"%02d" % (number % 100))
    assert len(body._chunks) < 10
    assert body.end() == b"".join(b"%02d" % (number % 100) for number in range(100_000))


MARK = b"planted"
MARKED = HostileAnswer(
    "marked",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: planted=1\r\nContent-Length: 7\r\n\r\nplanted",
    Outcome.INTERNAL_ERROR,
)
# Where an answer is handled: the method that is to raise, and whether its arguments are those of the marked answer.
SEAMS: list[tuple[Any, str, Callable[..., bool]]] = [
    (Head, "_read", lambda head, lines: any(MARK in line for line in lines)),
    (Body, "feed", lambda body, data: data == MARK),
    (Body, "end", lambda body: MARK in body._chunks),
    (CookieJar, "take", lambda jar, response: response.body == MARK),
    (curl_slot, "fill", lambda response, *arguments: response.url.endswith("/marked")),
    (urllib3_transport, "fill", lambda response, *arguments: response.url.endswith("/marked")),
    (CookieJar, "header", lambda jar, url, now: url.endswith("/marked")),
    (curl_slot, "body_of", lambda head, limit: dict(head.headers).get(b"Content-Length") == b"7"),
    (urllib3_transport, "body_of", lambda head, limit: dict(head.headers).get(b"Content-Length") == b"7"),
    (Slot, "_open_socket", lambda slot, address: slot.request.url.endswith("/marked")),
    (CurlTransport, "_set_addresses", lambda transport, slot, route: slot.request.url.endswith("/marked")),
]


@pytest.mark.parametrize(("owner", "name", "is_marked"), SEAMS, ids=lambda part: part if isinstance(part, str) else "")
def test_a_fault_of_ours_costs_its_url_only(
    make_client: MakeClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    owner: Any,
    name: str,
    is_marked: Callable[..., bool],
) -> None:
    met = []
    original = getattr(owner, name)

    def faulty(*arguments: Any) -> Any:
        if is_marked(*arguments):
            met.append(name)
            raise RuntimeError("a\nplanted \x1b[2J fault")
        return original(*arguments)

    monkeypatch.setattr(owner, name, faulty)
    server = AnswerServer((MARKED,))
    client = make_client(cookies=True, allow_private=False, allow_networks=("127.0.0.0/8",))
    for path in ("honest", "marked", "honest?", "marked", "honest??"):
        client.submit(f"{server.base}/{path}")
    for response in client.wait(5):
        if met and response.url.endswith("/marked"):
            assert (response.outcome, response.status, response.body) == (Outcome.INTERNAL_ERROR, 0, b"")
            assert response.detail.startswith("RuntimeError: a planted")
        else:
            assert (response.outcome, response.status) == (None, 200)
    if met:
        assert "Traceback" in caplog.text
        assert "in faulty" in caplog.text
        assert "\x1b" not in caplog.text
    server.close()
