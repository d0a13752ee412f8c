"""The process that checks the cases of one target: `python -m tests.fuzz.worker TARGET END SEED STATUS [--plain]`.

END is a time of the monotonic clock. STATUS is a file of `STATUS_BYTES`: each case is written there before it is
checked, so that whoever started this process has it, whatever becomes of the process. It ends with 0 at END, and
otherwise at a finding, with the traceback in the file STATUS.report.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.case import Target, limit_memory, run
from tests.fuzz.mutation import Mutator

ROOT = Path(__file__).parent
CORPUS = ROOT / "corpus"
FOUND = ROOT / "found"
CHECKOUT = ROOT.parents[1]
GROWN = CHECKOUT / ".fuzz"  # what guided runs have learnt, kept from run to run
MAX_CASE_BYTES = 1_000_000
_LONGEST_WORD = 60  # bytes, in the dictionary of a guided run
_HANGING_SECONDS = 600  # by the clock; a case that takes CPU time is ended long before
_STATUS = struct.Struct("<QQ")  # cases begun, bytes of the present one
STATUS_BYTES = _STATUS.size + MAX_CASE_BYTES


class Status:
    """The status file of a worker: how many cases it has begun, and the present one."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), STATUS_BYTES)

    def begin(self, data: bytes) -> None:
        cases, _ = _STATUS.unpack_from(self._memory)
        self._memory[_STATUS.size : _STATUS.size + len(data)] = data
        _STATUS.pack_into(self._memory, 0, cases + 1, len(data))

    @property
    def cases(self) -> int:
        return int(_STATUS.unpack_from(self._memory)[0])

    @property
    def case(self) -> bytes:
        length: int = _STATUS.unpack_from(self._memory)[1]
        return bytes(self._memory[_STATUS.size : _STATUS.size + length])


def corpus_of(name: str) -> list[Path]:
    """The seeds of a target, and whatever was found with it."""
    return sorted([*(CORPUS / name).glob("*"), *(FOUND / name).glob("*")])


class Checker:
    """Checks the cases of one target; at a finding the process ends."""

    def __init__(self, target: Target, status_path: Path) -> None:
        self._target = target
        self._status = Status(status_path)
        self._report = report_of(status_path)

    def check(self, data: bytes) -> None:
        self._status.begin(data)
        try:
            run(self._target, data)
        except BaseException:  # noqa: BLE001  # whatever it is, it is the finding
            self._report.write_text(traceback.format_exc(), "utf-8", "replace")
            os._exit(1)  # past libFuzzer, which would print pages of its own


def report_of(status_path: Path) -> Path:
    return status_path.with_suffix(".report")


def by_chance(target: Target, end: float, seed: int, checker: Checker) -> None:
    mutator = Mutator(seed, [path.read_bytes() for path in corpus_of(target.name)], target.words, target.max_bytes)
    for data in mutator.cases():
        checker.check(data)
        if time.monotonic() > end:
            return


def guided(target: Target, end: float, seed: int, checker: Checker) -> None:
    """Coverage of the Python code guides the search; ends the process."""
    import atheris

    grown = GROWN / target.name
    grown.mkdir(parents=True, exist_ok=True)
    folders = [str(folder) for folder in (grown, CORPUS / target.name, FOUND / target.name) if folder.is_dir()]
    with tempfile.TemporaryDirectory() as scratch:
        options = [
            f"-max_total_time={max(1, round(end - time.monotonic()))}",
            f"-seed={seed % 2**32 or 1}",
            f"-max_len={target.max_bytes}",
            f"-dict={_dictionary(target, Path(scratch))}",
            f"-artifact_prefix={scratch}/",  # the status file has what is needed
            "-rss_limit_mb=0",
            f"-timeout={_HANGING_SECONDS}",
            "-verbosity=0",
            "-print_final_stats=0",
        ]
        atheris.Setup([sys.argv[0], *options, *folders], checker.check)
        atheris.Fuzz()


def _dictionary(target: Target, folder: Path) -> Path:
    """Writes the target's words as libFuzzer reads them, which wants at least one."""
    path = folder / "words"
    short = sorted({word for word in (*target.words, b"\0") if 0 < len(word) <= _LONGEST_WORD})
    path.write_text("".join(f'"{_escaped(word)}"\n' for word in short), "ascii")
    return path


def _escaped(word: bytes) -> str:
    return "".join([f"\\x{byte:02x}" for byte in word])


def main() -> None:
    name, end, seed, status_path = sys.argv[1:5]
    is_plain = "--plain" in sys.argv[5:]
    if not is_plain:
        import atheris

        # Only our own code: what guides the search is where the bytes lead in it.
        with atheris.instrument_imports(include=["pycrawl"], enable_loader_override=False):
            from tests.fuzz.targets import TARGETS
    else:
        from tests.fuzz.targets import TARGETS
    limit_memory()
    search = by_chance if is_plain else guided
    search(TARGETS[name], float(end), int(seed), Checker(TARGETS[name], Path(status_path)))


if __name__ == "__main__":
    main()
