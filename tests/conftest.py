"""What all tests have in common.

They hold on a busy machine too: no example is a failure for the time that it took.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from pycrawl.processes.allocation import collected_as_before

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(autouse=True, scope="module")
def _garbage_is_collected() -> Iterator[None]:
    """A session that is opened keeps all objects that exist then out of garbage collections for good, as a crawl has
    hardly any garbage. A process that opens hundreds of them would grow by gigabytes."""
    with collected_as_before():
        yield
        is_frozen = gc.get_freeze_count() > 0
    if is_frozen:
        gc.collect()
