"""What people install: the wheel, the source archive, and a checkout that was built before.

Each is installed by pip into a fresh environment in which there is no compiler.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pycrawl import native
from pycrawl.native.sources import sources_digest

ROOT = Path(__file__).parents[1]
MODULE = "pycrawl/native/_compiled.abi3.so"
LATER_PYTHONS = ("3.12", "3.13", "3.14")
# What a checkout holds beside the project: environments, crawls, results of builds, caches.
NOT_COPIED = shutil.ignore_patterns(".*", "*-crawl", "build", "dist", "*.egg-info", "*.so", "__pycache__")
NOTHING: Mapping[str, str] = {}
NO_COMPILER = {"CC": shutil.which("false") or "false", "PATH": "/nonexistent"}
MUST_COMPILE = {"PYCRAWL_NATIVE": "1"}

needs_compiler = pytest.mark.skipif(native.compiled is None, reason=f"no compiled module here: {native.why_not}")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, never built."""
    return Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=NOT_COPIED))


def build(checkout: Path, *options: str, variables: Mapping[str, str] = NOTHING) -> Path:
    """Run `python -m build` as `make wheel` does; returns the folder with what it made."""
    words = ("-m", "build", "--no-isolation", "--outdir", str(checkout / "dist"), *options)
    run(sys.executable, *words, checkout, variables=variables)
    return checkout / "dist"


def run(*words: str | Path, cwd: Path | None = None, variables: Mapping[str, str] = NOTHING) -> str:
    """Run a program to its end and return its output; the environment has `variables` and nothing of PYCRAWL_NATIVE."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYCRAWL_NATIVE", "PYTHONPATH")}
    done = subprocess.run(words, env={**environment, **variables}, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Environment:
    """A fresh virtual environment. It borrows the libraries that pycrawl needs, but not pycrawl, from this one."""

    def __init__(self, path: Path) -> None:
        run(sys.executable, "-m", "venv", "--without-pip", path)
        self.path = path
        self.packages = Path(run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (self.packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")

    @property
    def python(self) -> Path:
        return self.path / "bin" / "python"

    def install(self, *what: str | Path) -> None:
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install", "--disable-pip-version-check")
        run(*pip, "--no-index", "--no-deps", "--no-cache-dir", "--no-build-isolation", *what, variables=NO_COMPILER)

    def pycrawl(self, *arguments: str) -> str:
        return run(self.path / "bin" / "pycrawl", *arguments, cwd=self.path, variables=NO_COMPILER)

    def reader(self) -> str:
        """The file of the compiled module that pycrawl uses here, or why it uses none."""
        code = "from pycrawl import native; print(native.compiled.__file__ if native.compiled else native.why_not)"
        return run(self.python, "-c", code, cwd=self.path, variables=NO_COMPILER).strip()


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


@needs_compiler
def test_the_wheel_brings_the_compiled_module(checkout: Path, environment: Environment) -> None:
    (wheel,) = build(checkout, variables=MUST_COMPILE).glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert MODULE in names
    assert [name for name in names if name.endswith((".c", ".h", ".pyc"))] == []
    modules = {f"pycrawl/{path.relative_to(ROOT / 'pycrawl')}" for path in ROOT.glob("pycrawl/**/*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    assert any(name.endswith("share/man/man1/pycrawl-crawl.1") for name in names)

    environment.install(wheel)
    assert environment.reader() == str(environment.packages / MODULE)
    assert environment.pycrawl("--version") == f"pycrawl, version {wheel.name.split('-')[1]}\n"
    assert (environment.path / "share/man/man1/pycrawl.1").exists()
    for version in LATER_PYTHONS:
        assert_module_works_in(f"python{version}", environment.packages)


def assert_module_works_in(python: str, packages: Path) -> None:
    """The stable ABI: the module that was built for 3.11 runs in later Pythons, where there are any."""
    code = f"import sys; sys.path.insert(0, {str(packages)!r})\nfrom pycrawl.native import compiled"
    code += "\nprint(compiled.__file__, len(compiled.words('two words')[0]))"
    if shutil.which(python) and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
        assert run(python, "-I", "-c", code) == f"{packages / MODULE} 16\n"


def test_a_wheel_that_must_be_compiled_is_not_built_without_a_compiler(checkout: Path) -> None:
    with pytest.raises(AssertionError, match=r"(?i)error: command .*/false"):
        build(checkout, "--wheel", variables={**MUST_COMPILE, **NO_COMPILER})


def test_the_source_archive_installs_without_a_compiler(checkout: Path, environment: Environment) -> None:
    (archive,) = build(checkout, "--sdist").glob("*.tar.gz")
    environment.install(archive)
    assert environment.reader() == "it was not built when pycrawl was installed"
    assert "without its compiled module (it was not built" in environment.pycrawl("--version")
    assert not list(environment.packages.glob("pycrawl/native/*.so"))
    page = "<title>T</title><p>A page with <a href=/x>a link</a>.</p>"
    code = f"from pycrawl.parse.html import parse_html; print(parse_html({page.encode()!r}, 'text/html').hrefs)"
    assert run(environment.python, "-c", code, cwd=environment.path) == "['/x']\n"


def test_the_source_archive_holds_what_the_readme_links_to(checkout: Path) -> None:
    (archive,) = build(checkout, "--sdist").glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    for document in ("README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))):
        links = re.findall(r"\]\((?!\w+:)([^)#]+)", (ROOT / document).read_text("utf-8"))
        for link in links:
            assert os.path.normpath(Path(document).parent / link) in names, f"{document} links to {link}"
    assert {"Makefile", "setup.py", "pycrawl/native/native.h", "bench/latency.py", "tests/test_install.py"} <= names
    assert [name for name in names if name.endswith((".so", ".pyc"))] == []


def test_a_checkout_that_was_built_before_lends_nothing(checkout: Path, environment: Environment) -> None:
    """Neither the module beside the sources nor old results in build/ reach an installation whose own build fails."""
    build_folder = checkout / f"build/lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for file in (build_folder / "pycrawl/old_name.py", build_folder / MODULE, checkout / MODULE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    environment.install(checkout)
    assert not (environment.packages / "pycrawl/old_name.py").exists()
    assert not list(environment.packages.glob("pycrawl/native/*.so"))
    assert environment.reader() == "it was not built when pycrawl was installed"


def test_an_editable_installation_whose_build_fails_removes_the_old_module(
    checkout: Path, environment: Environment
) -> None:
    stale = [checkout / MODULE, checkout / "pycrawl/native/_compiled.cpython-311-x86_64-linux-gnu.so"]
    for file in stale:
        file.touch()
    environment.install("--editable", checkout)
    assert not any(file.exists() for file in stale)
    assert environment.reader() == "it was not built when pycrawl was installed"


@needs_compiler
def test_a_module_built_from_other_sources_is_not_used(checkout: Path) -> None:
    """Sources that are changed after the build, as by `git pull`, turn the module off until it is built again."""
    shutil.copy(ROOT / MODULE, checkout / MODULE)
    code = "from pycrawl import native; print(bool(native.compiled), native.why_not)"
    assert run(sys.executable, "-c", code, cwd=checkout) == "True \n"
    with (checkout / "pycrawl/native/words.c").open("a") as source:
        source.write("/* changed */\n")
    assert "False it was built from other sources" in run(sys.executable, "-c", code, cwd=checkout)
    version = run(sys.executable, "-m", "pycrawl", "--version", cwd=checkout)
    assert "without its compiled module (it was built from other sources" in version


def test_the_digest_notices_every_change(tmp_path: Path) -> None:
    assert sources_digest(tmp_path) == ""
    (tmp_path / "a.c").write_text("one")
    (tmp_path / "b.h").write_text("two")
    seen = {sources_digest(tmp_path)}
    (tmp_path / "a.c").write_text("another")
    seen.add(sources_digest(tmp_path))
    (tmp_path / "b.h").rename(tmp_path / "c.h")
    seen.add(sources_digest(tmp_path))
    (tmp_path / "notes.txt").touch()
    seen.add(sources_digest(tmp_path))
    assert len(seen) == 3
