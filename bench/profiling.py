"""Where pycrawl's CPU time goes: `python bench/profiling.py` prints it by stage, module and function.

Stages are by the clocks of the crawl itself. Modules and functions are what py-spy saw on top of the stack, 200 times
a second, for the coordinator and the fetchers apart; time in C code counts for the Python function that called it, or
with --native for the C function. Sampling slows the crawl down: read the shares, and for the stages' milliseconds run
it with --no-samples.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawl import measure, show
from measure import add_setting_option
from webs import add_web_options, chosen_web

import pycrawl
from pycrawl.native import compiled

_PACKAGE = Path(pycrawl.__file__).parent
_TOP = 30
_SAMPLES = 200  # a second
# Threads that only wait there; py-spy takes some of them for busy.
_WAITING = ("_run_safe_shutdown_loop (", "_worker (", "Condition.wait (")


def py_spy(samples: Path, native: bool) -> list[str]:
    program = shutil.which("py-spy") or str(Path(sys.executable).with_name("py-spy"))
    if not Path(program).exists():
        raise SystemExit("py-spy is missing: pip install py-spy")
    command = [program, "record", "--subprocesses", "--format", "raw", "--full-filenames", "--rate", str(_SAMPLES)]
    return [*command, *(["--native"] if compiled else []), "--output", str(samples), "--"]


def stacks(samples: Path) -> Iterator[tuple[list[str], int]]:
    """The frames of each stack, outermost first, and how often it was seen."""
    for line in samples.read_text("utf-8", "replace").splitlines():
        frames, _, count = line.rpartition(" ")
        yield frames.split(";"), int(count)


def role(frames: list[str]) -> str:
    """Whose stack it is, by the command of the innermost process; fetchers are forked off a server."""
    commands = [frame for frame in frames if frame.startswith("process ")]
    return "fetchers" if "forkserver" in commands[-1] else "coordinator"


def split_frame(frame: str) -> tuple[str, str]:
    """A frame is "function (file:line)"; gives its module, as it is imported or nearly so, and its function."""
    function, _, place = frame.rpartition(" (")
    file = Path(place.rstrip(")").rpartition(":")[0] or place.rstrip(")"))
    if file.is_relative_to(_PACKAGE):
        return str(file.relative_to(_PACKAGE.parent).with_suffix("")).replace("/", "."), function
    parts = file.with_suffix("").parts
    if "site-packages" in parts:
        return ".".join(parts[parts.index("site-packages") + 1 :]), function
    return ".".join(parts[-2:]).lstrip("/."), function


def tables(samples: Path) -> None:
    modules: dict[str, Counter[str]] = {"coordinator": Counter(), "fetchers": Counter()}
    functions: dict[str, Counter[tuple[str, str]]] = {"coordinator": Counter(), "fetchers": Counter()}
    for frames, count in stacks(samples):
        if any(name in frames[-1] for name in _WAITING):
            continue
        whose = role(frames)
        module, function = split_frame(frames[-1])
        modules[whose][module] += count
        functions[whose][module, function] += count
    everything = sum(counter.total() for counter in modules.values())
    for whose, counter in modules.items():
        total = counter.total()
        if not total:
            continue
        print(f"\n{whose}: {total / everything:.0%} of all samples ({total:,})\n  by module, self time")
        for module, count in counter.most_common(_TOP):
            print(f"  {count / total:>6.1%}  {module}")
        print("  by function, self time")
        for (module, function), count in functions[whose].most_common(_TOP):
            print(f"  {count / total:>6.1%}  {module}: {function}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_web_options(parser)
    parser.add_argument("--fetchers", type=int, default=2)
    parser.add_argument("--native", action="store_true", help="look into C code, too")
    parser.add_argument("--no-samples", dest="samples", action="store_false", help="only the stages, undisturbed")
    add_setting_option(parser)
    options = parser.parse_args()
    with chosen_web(options) as web, tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as name:
        samples = Path(name, "samples")
        wrapper = py_spy(samples, options.native) if options.samples else []
        show(measure(web, options.fetchers, dict(options.settings), wrapper=wrapper))
        if options.samples:
            tables(samples)


if __name__ == "__main__":
    main()
