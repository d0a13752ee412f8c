"""How long a converter process is waited for: as long as it works, and not when it is stuck."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

from pycrawl.convert.converter import Converter
from pycrawl.convert.kinds import KINDS
from pycrawl.convert.simple_page import Trouble
from pycrawl.parse.documents import convert
from tests.convert import samples

WORD = KINDS["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]
PATIENCE = 0.2


def test_one_that_works_is_waited_for() -> None:
    paragraph = "<w:p><w:r><w:t>heron</w:t></w:r></w:p>"
    document = samples.word(paragraph * 100_000)
    with closing(Converter(PATIENCE)) as converter:
        convert(converter, WORD, samples.word())  # it is there, with all its modules
        begun = time.monotonic()
        converted = convert(converter, WORD, document)
        assert time.monotonic() - begun > PATIENCE
    assert converted.told == ""
    assert converted.html.count(b"heron") == 100_000


def test_one_that_is_stuck_is_replaced() -> None:
    with closing(Converter(PATIENCE)) as converter:
        convert(converter, WORD, samples.word())
        stuck = converter.pid
        os.kill(stuck, signal.SIGSTOP)
        converted = convert(converter, WORD, samples.word())
        assert (converted.trouble, converted.detail) == (Trouble.DIED, f"no answer for {PATIENCE:g} s")
        assert convert(converter, WORD, samples.word()).told == ""
        assert converter.pid not in (0, stuck)
