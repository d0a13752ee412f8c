"""What PDFs cost: `python bench/documents.py [--files N] [--pages N] [--runs N] [--corpus FOLDER]`.

1. Files of ten pages a second, converted by two processes, beside two of pdftotext (of poppler-utils).
2. A web in which a tenth of the documents are such PDFs, crawled with and without them: how fast its pages come.
3. With --corpus: of the words that pdftotext finds in each PDF of a folder, the share that is in ours too.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import crawl, new_crawl
from static_web import make_paragraphs, nginx
from webs import Web, synthetic

from pycrawl import Collection
from pycrawl.convert.converter import Converter
from pycrawl.convert.kinds import KINDS
from pycrawl.parse.documents import convert

_PDF = KINDS["application/pdf"]
_TYPES = "text/html html htm; text/plain txt; application/pdf pdf;"
_PAGES, _LINES = 10, 45  # of a PDF
_SHARE = 10  # one document in ten is a PDF
_MOST = 0.9  # of the pages: the last ones wait for PDFs of their hosts
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^>]*>")


def make_pdf(chance: random.Random, paragraphs: Sequence[str]) -> bytes:
    """Returns a PDF of ten pages of text, each with the words of some paragraphs."""
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(_PAGES))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {_PAGES} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
    ]
    for page in range(_PAGES):
        words = " ".join(chance.choices(paragraphs, k=6)).split()
        lines = (" ".join(words[12 * line : 12 * line + 12]) for line in range(_LINES))
        drawn = "BT /F1 11 Tf 60 780 Td 14 TL\n" + "".join(f"({line}) Tj T*\n" for line in lines) + "ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * page} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream".encode(),
        ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R >>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode()


def by_two(files: Sequence[Path], work: Callable[[Sequence[Path]], None]) -> float:
    """Returns files a second, when two do the work, each half of it."""
    begun = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (files[::2], files[1::2])))
    return len(files) / (time.monotonic() - begun)


def by_us(files: Sequence[Path]) -> None:
    converter = Converter()
    for file in files:
        told = convert(converter, _PDF, file.read_bytes()).told
        if told:
            raise SystemExit(f"{file}: {told}")
    converter.close()


def by_pdftotext(files: Sequence[Path]) -> None:
    for file in files:
        subprocess.run(["pdftotext", file, "-"], stdout=subprocess.DEVNULL, check=True)


def throughput(count: int, runs: int) -> None:
    chance = random.Random(1)
    paragraphs = make_paragraphs(chance, 500)
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as folder:
        files = [Path(folder, f"{number}.pdf") for number in range(count)]
        for file in files:
            file.write_bytes(make_pdf(chance, paragraphs))
        rates = [(by_two(files, by_us), by_two(files, by_pdftotext)) for _ in range(runs)]
    for ours, theirs in rates:
        print(f"  {ours:8.0f} files/s, pdftotext {theirs:8.0f}: {ours / theirs:.2f}×")


def add_pdfs(web: Web) -> None:
    """Write one PDF for nine pages, and link each from one of them."""
    chance = random.Random(2)
    paragraphs = make_paragraphs(chance, 500)
    pages = sorted(web.root.glob("*/*.html"))[:: _SHARE - 1]
    for page in pages:
        page.with_suffix(".pdf").write_bytes(make_pdf(chance, paragraphs))
        body = page.read_text("ascii")
        page.write_text(body.replace("</body>", f'<a href="{page.stem}.pdf">as PDF</a></body>'), "ascii")


def page_rate(web: Web, groups: Sequence[str]) -> tuple[float, int, float]:
    """Returns HTML pages a second, over the first nine tenths of them, how many PDFs were stored, and how many seconds
    the whole crawl took."""
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    try:
        with nginx(web.addresses, web.root, work / "nginx", web.port, types=_TYPES):
            settings = {
                "scope.allow_hosts": json.dumps(web.addresses), "scope.content_types": json.dumps(groups),
            }  # fmt: skip
            new_crawl(work / "crawl", web.starts, settings)
            _, spent = crawl(work / "crawl", ["--fetchers", "2"])
        with Collection(work / "crawl") as collection:
            kinds = [(one.timestamp, one.content_type.startswith("text/html")) for one in collection]
        times = sorted(at for at, is_page in kinds if is_page)
        most = int(len(times) * _MOST) - 1
        return most / (times[most] - times[0]), len(kinds) - len(times), spent.seconds
    finally:
        shutil.rmtree(work, ignore_errors=True)


def beside_pages(count: int, runs: int) -> None:
    with synthetic(count, 100) as web:
        add_pdfs(web)
        pairs = [(page_rate(web, ["pages"]), page_rate(web, ["pages", "documents"])) for _ in range(runs)]
    for (without, _, _), (beside, pdfs, seconds) in pairs:
        print(
            f"  {beside:8.0f} pages/s beside {pdfs:,} PDFs, {without:8.0f} without: {beside / without:.2f}×"
            f" (all in {seconds:.1f} s)"
        )


def recall(corpus: Path) -> None:
    converter, shares = Converter(), []
    for file in sorted(corpus.glob("*.pdf")):
        shown = subprocess.run(["pdftotext", file, "-"], capture_output=True, check=False).stdout.decode(
            "utf-8", "replace"
        )
        theirs = Counter(_WORD.findall(shown.lower()))
        converted = convert(converter, _PDF, file.read_bytes())
        if not theirs.total():
            print(f"  {file.name}: no text by pdftotext; ours: {converted.told or 'text'}")
            continue
        ours = Counter(_WORD.findall(_TAG.sub(" ", converted.html.decode()).lower()))
        share = (theirs & ours).total() / theirs.total()
        shares.append((share, theirs.total()))
        if share < 0.9 or converted.told:
            print(f"  {file.name}: {share:.3f} of {theirs.total():,} words {converted.told}")
    converter.close()
    words = sum(share * count for share, count in shares) / sum(count for _, count in shares)
    print(f"  {len(shares)} PDFs: mean {statistics.mean(share for share, _ in shares):.3f}, by words {words:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=600, help="PDFs to convert (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=9_000, help="of the web (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="in turns (default: %(default)s)")
    parser.add_argument("--corpus", type=Path, help="a folder of PDFs whose words are compared with pdftotext's")
    options = parser.parse_args()
    print("PDFs of ten pages, two processes:")
    throughput(options.files, options.runs)
    print("A web with PDFs beside pages:")
    beside_pages(options.pages, options.runs)
    if options.corpus:
        print("Words that pdftotext finds:")
        recall(options.corpus)


if __name__ == "__main__":
    main()
