"""A fetcher is heard of in the middle of long work, so that it is not taken for dead."""

from __future__ import annotations

from ctypes import c_uint64
from multiprocessing import Pipe

import pytest

from pycrawl.config import Config
from pycrawl.fetcher import process
from pycrawl.model import FetchJob, Jobs, Outcome, RobotsFile
from pycrawl.processes.messages import pack, unpack_jobs, unpack_results
from pycrawl.processes.pipe_queue import Receiver, Sender


def test_each_job_with_a_long_robots_txt_may_be_followed_by_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules that come with a job are parsed at once, which takes a tenth of a second where they are long."""
    monkeypatch.setattr(process, "_SIGN_OF_LIFE_SECONDS", 0.0)  # any job takes longer
    jobs_in, jobs_out = Pipe(duplex=False)
    results_in, results_out = Pipe(duplex=False)
    robots = RobotsFile(200, b"User-agent: *\nDisallow: /\n", 0.0, 2e9)
    jobs = tuple(FetchJob(number, f"http://h{number}.example/", number, robots=robots) for number in range(3))
    with jobs_in, jobs_out, results_in, results_out:
        fetcher = process.Fetcher(Receiver(jobs_in, unpack_jobs), Sender(results_out, pack), c_uint64(), Config(), 1)
        Sender(jobs_out, pack).send(Jobs(jobs))
        fetcher._on_jobs()
        messages = Receiver(results_in, unpack_results).receive()
        fetcher._transport.close()
    found = [[(one.url_id, one.outcome) for one in message.results] for message in messages]
    assert found == [[(number, Outcome.ROBOTS_DENIED)] for number in range(3)]
