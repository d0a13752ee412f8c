"""Cuts the power of recorded crawls: `python -m tests.power [--cuts 500] [--seed N] [--fault NAME]`.

Records runs one after the other, and cuts the power of each at random moments. Each loss is printed with what repeats
it; the exit code is 1 if there was one. With --fault, a fault of `planted.py` is planted, and must be found.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.power.judgement import Judge, Verdict
from tests.power.planted import FAULTS
from tests.power.recording import Recording, build, compiler
from tests.power.workload import Web, Workload

_CUTS_OF_A_RUN = 50
_PAGES = 30  # of each kind and host


def main() -> int:
    options = _parser().parse_args()
    if compiler() is None:
        print("needs Linux and a C compiler", file=sys.stderr)
        return 2
    started = time.monotonic()
    done = losses = 0
    while done < options.cuts:
        seed = options.seed + done // _CUTS_OF_A_RUN
        count = min(_CUTS_OF_A_RUN, options.cuts - done)
        with tempfile.TemporaryDirectory(prefix="pycrawl-power-") as folder:
            for verdict in cut(Path(folder), seed, count, options.fault):
                if verdict.loss:
                    losses += 1
                    print(f"LOSS  --seed {seed}, event {verdict.at}, {verdict.kind}: {verdict.loss}", flush=True)
        done += count
        print(f"{done:,} power cuts, {losses:,} with a loss, {time.monotonic() - started:,.0f} s", flush=True)
    if options.fault:
        return 0 if losses else 1
    return 1 if losses else 0


def cut(folder: Path, seed: int, count: int, faults: Sequence[str] = ()) -> list[Verdict]:
    """Records one run, and cuts its power so many times."""
    chance = random.Random(seed)
    disk = folder / "disk"
    disk.mkdir()
    with Web(_PAGES, chance) as web:
        recording = Recording(disk, build(folder), folder / "trace")
        Workload(web, recording, faults).all()
        judge = Judge(recording, web, folder, chance)
        return list(judge.cut(judge.moments(count)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.power", description="Simulates power cuts.")
    parser.add_argument("--cuts", type=int, default=500, metavar="N", help="power cuts; %(default)s by default")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of chance; %(default)s by default")
    parser.add_argument(
        "--fault", action="append", default=[], choices=FAULTS, help="plant this fault; it must be found"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
