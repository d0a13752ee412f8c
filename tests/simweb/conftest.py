from __future__ import annotations

from collections.abc import Iterator

import pytest

from pycrawl.simweb import SimServer, SimWebSettings

SETTINGS = SimWebSettings(
    seed=7,
    hosts=12,
    pages=300,
    port=0,
    mean_page_bytes=3_000,
    redirect_share=0.08,
    error_share=0.12,
    duplicates_share=0.08,
    robots_share=0.5,
    odd_links_share=0.3,
    retry_after=0,
    change_share=0.2,
)


@pytest.fixture(scope="module")
def server() -> Iterator[SimServer]:
    """A web with plenty of every fault; shared by a module's tests, each of which starts with an empty log."""
    with SimServer(SETTINGS) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh_log(request: pytest.FixtureRequest) -> None:
    if "server" in request.fixturenames:
        running = request.getfixturevalue("server")
        running.clear_log()
        running.set_version(0)
