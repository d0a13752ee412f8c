"""How much of real documents is read: `python bench/document_corpus.py FOLDER [--shown SHARE]`.

FOLDER has documents of any kinds, known by the ends of their names: those of Debian's packages will do (`apt-get
download debian-policy maint-guide texlive-latex-extra-doc kate5-data unoconv` …, `dpkg-deb -x`), and what LibreOffice
makes of them (`soffice --headless --convert-to docx`). Of the words that another program finds in a document, the share
is printed that our text has too: pdftotext for PDF, LibreOffice for Office files (as text, CSV, or as PDF, of which
pdftotext reads the words), and all text between tags for EPUB, DocBook and other XML. Documents with less than SHARE
are named. Our time is that of the wall, one document after another.
"""

from __future__ import annotations

import argparse
import html
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from unicodedata import normalize

from pycrawl.convert.converter import Converted, Converter
from pycrawl.convert.kinds import KINDS, kind_of_type
from pycrawl.parse.documents import convert

_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
TYPES = {
    "pdf": "application/pdf", "docx": f"{_OOXML}.wordprocessingml.document",
    "pptx": f"{_OOXML}.presentationml.presentation", "xlsx": f"{_OOXML}.spreadsheetml.sheet",
    "odt": f"{_ODF}.text", "ott": f"{_ODF}.text", "ods": f"{_ODF}.spreadsheet", "odp": f"{_ODF}.presentation",
    "otp": f"{_ODF}.presentation", "rtf": "application/rtf", "epub": "application/epub+zip", "csv": "text/csv",
    "md": "text/markdown", "docbook": "text/xml", "page": "text/xml", "xml": "text/xml", "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint", "xls": "application/vnd.ms-excel", "eml": "message/rfc822",
    "mbox": "application/mbox",
}  # fmt: skip
_AS_TEXT = ("odt", "ott", "docx", "doc", "rtf")  # LibreOffice writes these as text …
_AS_CSV = ("ods", "xlsx", "xls")  # … these as CSV, a file for each sheet …
_AS_PDF = ("odp", "otp", "pptx", "ppt")  # … and these as PDF
_FILTERS = {
    "txt": "txt:Text (encoded):UTF8",
    "csv": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
}
_SIGNED = {"doc": b"\xd0\xcf\x11\xe0", "ppt": b"\xd0\xcf\x11\xe0", "pdf": b"%PDF-"}  # much else has these ends too
_AT_ONCE = 40  # documents for one start of LibreOffice
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.DOTALL)

_ADDRESS = re.compile(rb"\]\([^()\s]*(?:\([^()\s]*\))?[^()]*\)|^\s{0,3}\[[^\]\n]*\]:.*$", re.MULTILINE)

Words = Counter[str]


def words_of(text: str) -> Words:
    return Counter(_WORD.findall(normalize("NFKC", text.lower())))  # "ﬁ" is "fi", "u" with a combining dieresis is "ü"


def by_pdftotext(path: Path) -> str:
    shown = subprocess.run(["pdftotext", path, "-"], capture_output=True, check=False)
    return shown.stdout.decode("utf-8", "replace")


def by_libreoffice(paths: Iterable[Path], target: str, folder: Path) -> None:
    """Write each document as text or PDF into a folder, under its whole name and the new end."""
    wanted = list(paths)
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        for path in some:  # documents of one name and several kinds would be written over each other
            (folder / "in").mkdir(exist_ok=True)
            (folder / "in" / f"{path.name}.{path.suffix[1:]}").write_bytes(path.read_bytes())
        named = [folder / "in" / f"{path.name}.{path.suffix[1:]}" for path in some]
        profile, to = f"-env:UserInstallation=file://{folder}/profile", _FILTERS.get(target, target)
        subprocess.run(
            ["soffice", profile, "--headless", "--convert-to", to, "--outdir", folder, *named],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip


def between_tags(data: bytes) -> str:
    return html.unescape(_TAG.sub(" ", data.decode("utf-8", "replace")))


def of_epub(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        pages = [name for name in archive.namelist() if name.endswith((".xhtml", ".html", ".htm"))]
        return " ".join(between_tags(archive.read(name)) for name in pages)


def expected(paths: list[Path], folder: Path) -> Callable[[Path], str]:
    """Returns what tells the text of a document as another program reads it."""
    by_libreoffice([path for path in paths if path.suffix[1:] in _AS_TEXT], "txt", folder)
    by_libreoffice([path for path in paths if path.suffix[1:] in _AS_CSV], "csv", folder)
    by_libreoffice([path for path in paths if path.suffix[1:] in _AS_PDF], "pdf", folder)

    def text(path: Path) -> str:
        end = path.suffix[1:]
        made = folder / f"{path.name}.{'txt' if end in _AS_TEXT else 'pdf'}"
        if end in _AS_TEXT:
            return made.read_text("utf-8", "replace") if made.exists() else ""
        if end in _AS_CSV:
            return " ".join(sheet.read_text("utf-8", "replace") for sheet in folder.glob(f"{path.name}-*.csv"))
        if end in _AS_PDF:
            return by_pdftotext(made) if made.exists() else ""
        if end == "pdf":
            return by_pdftotext(path)
        if end == "md":
            return between_tags(_ADDRESS.sub(b"", path.read_bytes()))
        return of_epub(path) if end == "epub" else between_tags(path.read_bytes())

    return text


def report(end: str, found: list[tuple[Path, Converted, Words]], seconds: float, shown: float) -> None:
    shares = []
    for path, converted, theirs in found:
        ours = words_of(between_tags(converted.html))
        if not theirs:
            print(f"    {path.name}: no words by the other program; {converted.told or f'{ours.total():,} by ours'}")
            continue
        share = (ours & theirs).total() / theirs.total()
        shares.append((share, theirs.total()))
        if share < shown or converted.told:
            print(f"    {path.name}: {share:.3f} of {theirs.total():,} words {converted.told}")
    if shares:
        words = sum(share * count for share, count in shares) / sum(count for _, count in shares)
        mean = statistics.mean(share for share, _ in shares)
        print(
            f"  {end:<8}{len(shares):>5} documents: mean {mean:.3f}, by words {words:.3f}, least"
            f" {min(shares)[0]:.3f}; {seconds / len(found) * 1e3:.1f} ms each"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shown", type=float, default=0.9, metavar="SHARE", help="name documents below this")
    options = parser.parse_args()
    kinds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(options.folder.iterdir()):
        end = path.suffix[1:]
        if end in TYPES and path.read_bytes().lstrip().startswith(_SIGNED.get(end, b"")):
            kinds[path.suffix[1:]].append(path)
    if not kinds:
        sys.exit(f"{options.folder}: no documents")
    converter = Converter()
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as folder:
        for end, paths in kinds.items():
            text, kind = expected(paths, Path(folder)), kind_of_type(TYPES[end]) or KINDS["application/pdf"]
            begun = time.monotonic()
            converted = [convert(converter, kind, path.read_bytes()) for path in paths]
            seconds = time.monotonic() - begun
            theirs = [words_of(text(path)) for path in paths]
            report(end, list(zip(paths, converted, theirs, strict=True)), seconds, options.shown)
    converter.close()


if __name__ == "__main__":
    main()
