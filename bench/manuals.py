"""A web of real pages: the HTML manuals in Debian's documentation packages, each on a loopback address of its own.

Packages are downloaded with `apt-get download` and unpacked, which needs no root, into a folder that is used again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from resiliparse.parse.html import HTMLTree
from static_web import ROBOTS

# Names are patterns, as some have a version in them. Left out are manuals of a few pages, and of so many that at one
# connection a host all others would be done long before.
PACKAGES = (
    r"ant-doc",
    r"apache2-doc",
    r"cmake-doc",
    r"ffmpeg-doc",
    r"gimp-help-en",
    r"git-doc",
    r"libglib2.0-doc",
    r"libgtk-3-doc",
    r"libpango1.0-doc",
    r"llvm-\d+-doc",
    r"postfix-doc",
    r"postgresql-doc-\d+",
    r"python-django-doc",
    r"python-sqlalchemy-doc",
    r"python-sympy-doc",
    r"python3\.\d+-doc",
    r"qtdeclarative5-doc-html",
    r"sphinx-doc",
    r"sqlite3-doc",
)
_BUILT = "built.json"  # written last, so that half a web is not taken for a whole one
_FORM = 1  # of the web in the cache; another one is built anew


class NoManuals(Exception):
    """The packages cannot be had here."""


@dataclass(frozen=True, slots=True)
class Manual:
    package: str
    address: str
    starts: list[str]  # paths of its first pages
    pages: int  # that links lead to from there


def manuals(cache: Path) -> list[Manual]:
    """All manuals, in folders named by their addresses below `cache`/web; made if they are not there."""
    web = cache / "web"
    try:
        built = json.loads((web / _BUILT).read_text("utf-8"))
        if built["form"] == _FORM:
            return [Manual(**one) for one in built["manuals"]]
    except FileNotFoundError:
        pass
    packages = download(cache / "packages", PACKAGES)
    shutil.rmtree(web, ignore_errors=True)
    numbers = count(1)
    found = [one for package in packages if (one := _build(package, cache / "unpacked", web, numbers))]
    if not found:
        raise NoManuals("no package has HTML pages")
    text = json.dumps({"form": _FORM, "manuals": [asdict(one) for one in found]}, indent=1)
    (web / _BUILT).write_text(text, "utf-8")
    return found


# Packages


def download(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """The newest package for each pattern, in `folder`. Raises NoManuals if none can be had."""
    for program in ("apt-cache", "apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise NoManuals(f"there is no {program} here: the manuals are those of Debian and Ubuntu")
    folder.mkdir(parents=True, exist_ok=True)
    known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
    failed = []
    for pattern in patterns:
        names = sorted(filter(re.compile(pattern).fullmatch, known), key=_version)
        if any(_file_of(folder, name) for name in names):
            continue
        print(f"downloading {pattern} …", file=sys.stderr)
        # The newest first; some names are known to apt only because others speak of them.
        if not any(_get(folder, name) for name in reversed(names)):
            failed.append(pattern)
    if len(failed) == len(patterns):
        raise NoManuals("apt-get download gave none of the packages; is the network there, and was apt-get update run?")
    if failed:
        print(f"not to be had here, left out: {' '.join(failed)}", file=sys.stderr)
    return sorted(file for file in folder.glob("*.deb") if any(re.match(f"{one}_", file.name) for one in patterns))


def _version(name: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", name)]


def _file_of(folder: Path, name: str) -> Path | None:
    return next(folder.glob(f"{name}_*.deb"), None)


def _get(folder: Path, name: str) -> bool:
    # As another user than its own, apt says that it cannot drop its rights; that is of no interest here.
    subprocess.run(["apt-get", "-qq", "download", name], cwd=folder, capture_output=True, check=False)
    return _file_of(folder, name) is not None


def unpack(package: Path, folder: Path) -> tuple[str, Path]:
    """The package's name, and the folder below `folder` that holds its files."""
    name = package.name.partition("_")[0]
    print(f"unpacking {name} …", file=sys.stderr)
    tree = folder / name
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", str(package), str(tree)], check=True)
    return name, tree


def html_files(tree: Path) -> list[Path]:
    return [file for file in tree.rglob("*.htm*") if file.suffix in (".html", ".htm") and is_inside(file, tree)]


def is_inside(file: Path, tree: Path) -> bool:
    """A link may lead out of the package, and to nothing."""
    return file.is_file() and file.resolve().is_relative_to(tree.resolve())


# The web


def _build(package: Path, unpacked: Path, web: Path, numbers: Iterator[int]) -> Manual | None:
    name, tree = unpack(package, unpacked)
    files = html_files(tree)
    if len(files) < 2:
        return None
    top = Path(os.path.commonpath(files))
    address = f"127.3.0.{next(numbers)}"
    for file in files:
        place = web / address / file.relative_to(top)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    (web / address / "robots.txt").write_text(ROBOTS, "ascii")
    shutil.rmtree(tree)
    starts, pages = _walk(web / address)
    return Manual(name, address, starts, len(pages))


def _walk(root: Path) -> tuple[list[str], set[str]]:
    """Where to start, and all that links lead to from there: the index nearest to the top, and others not yet reached.

    Where there is no index, the first page has to do.
    """
    files = sorted(root.rglob("*.htm*"), key=lambda file: (len(file.parts), str(file)))
    starts: list[str] = []
    found: set[str] = set()
    for file in [file for file in files if file.stem == "index"] or files[:1]:
        path = "/" + file.relative_to(root).as_posix()
        if path not in found:
            starts.append(path)
            _reach(root, path, found)
    return starts, found


def _reach(root: Path, start: str, found: set[str]) -> None:
    """Add to `found` the paths of all pages that links lead to from the page `start`."""
    found.add(start)
    todo = [start]
    while todo:
        path = todo.pop()
        for target in _targets(_file(root, path), path):
            if target not in found and _file(root, target).is_file():
                found.add(target)
                todo.append(target)


def _file(root: Path, path: str) -> Path:
    file = root / path.lstrip("/")
    return file / "index.html" if path.endswith("/") else file


def _targets(file: Path, path: str) -> set[str]:
    tree = HTMLTree.parse_from_bytes(file.read_bytes())
    hrefs = {node["href"] for node in tree.document.query_selector_all("a[href], area[href]")}
    hrefs |= {node["src"] for node in tree.document.query_selector_all("iframe[src], frame[src]")}
    targets = set()
    for href in hrefs:
        try:
            parts = urlsplit(urljoin(f"http://manual{path}", href.partition("#")[0].strip()))
        except ValueError:
            continue  # no URL
        if parts.netloc == "manual" and (parts.path.endswith(("/", ".html", ".htm"))):
            targets.add(unquote(parts.path))
    return targets
