"""Word and PowerPoint files from before 2007, by programs that may be installed: antiword, catdoc and catppt.

They run as children of the converter process, within its limits on memory, and get the document as a file that is in
memory only.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator

from pycrawl.convert.archive import refuse_ole
from pycrawl.convert.kinds import OLD_OFFICE_TOOLS
from pycrawl.convert.simple_page import MOST_LETTERS, SimplePage, Trouble, Unconvertible

_SECONDS = 4.0  # for the program
_POWERPOINT = "PowerPoint Document".encode("utf-16-le")  # a name in the directory of an OLE file
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ARGUMENTS = {
    "antiword": ("-m", "UTF-8.txt", "-t", "-w", "0"),
    "catdoc": ("-d", "utf-8", "-w"),
    "catppt": ("-d", "utf-8"),
}
_SLIDE_END = "\f"


def convert(data: bytes, page: SimplePage) -> None:
    if _ENCRYPTED in data:
        refuse_ole(data)
    tools = OLD_OFFICE_TOOLS["slides" if _POWERPOINT in data else "word"]
    programs = [found for tool in tools if (found := shutil.which(tool))]
    if not programs:
        raise Unconvertible(Trouble.NO_CONVERTER, f"{' or '.join(tools)} would read it, and is not installed")
    text, trouble = "", None
    with _in_memory(data) as file:
        for program in programs:  # antiword takes small files for damaged ones
            text, trouble = _output(program, file)
            if text.strip() or trouble:
                break
    for part in text.replace(_SLIDE_END, "\n").split("\n"):
        if part.strip():
            page.paragraph(part.strip())
    if trouble or not page.has_text:
        raise Unconvertible(trouble or Trouble.DAMAGED, "" if trouble else "no text was found in it")


@contextlib.contextmanager
def _in_memory(data: bytes) -> Iterator[int]:
    """Yields a file with these bytes. The process may write none; so this is allowed while it is made."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = os.memfd_create("document")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        yield file
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        os.close(file)


def _output(program: str, file: int) -> tuple[str, Trouble | None]:
    """Returns what the program prints of a document, up to a limit, and what has ended it."""
    command = [program, *_ARGUMENTS[os.path.basename(program)], f"/proc/self/fd/{file}"]
    with subprocess.Popen(
        ["timeout", "-s", "KILL", str(_SECONDS), *command], pass_fds=[file], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        printed = process.stdout.read(MOST_LETTERS)
        more = process.stdout.read(1)
        if more:
            process.kill()
    text = printed.decode("utf-8", "replace")
    if more:
        return text, Trouble.TOO_LARGE
    return text, Trouble.TOO_SLOW if process.returncode in (124, 137, -9) else None
