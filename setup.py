"""Everything about the package; `pyproject.toml` has only the build system and the tools' settings.

The compiled module is optional: where there is no compiler, or it fails, pycrawl is installed without it. With
PYCRAWL_NATIVE=1 in the environment such a failure ends the build instead; `make wheel` sets it.
"""

import os
import re
import runpy
import shutil
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "pycrawl/__init__.py").read_text("utf-8"))[1]
NATIVE_FOLDER = Path("pycrawl/native")
SOURCES_DIGEST = runpy.run_path(str(HERE / NATIVE_FOLDER / "sources.py"))["sources_digest"](HERE / NATIVE_FOLDER)

NATIVE = Extension(
    "pycrawl.native._compiled",
    sources=sorted(str(source.relative_to(HERE)) for source in HERE.glob("pycrawl/native/*.c")),
    depends=sorted(str(header.relative_to(HERE)) for header in HERE.glob("pycrawl/native/*.h")),
    define_macros=[("SOURCES_DIGEST", f'"{SOURCES_DIGEST}"')],
    extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra"],
    py_limited_api=True,
    optional=os.environ.get("PYCRAWL_NATIVE") != "1",
)

# What reads PDF, Office and other documents: about 20 MB.
DOCUMENTS = ["lxml >=5", "pypdfium2 >=5,<6", "python-calamine >=0.4"]
# What tells the language of a text: 5 MB.
LANGUAGES = ["py3langid >=0.4,<0.5"]


class BuildAfresh(build):
    """Removes what an earlier build left in build/: setuptools would pack all that lies there, old modules too."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class CompileAfresh(build_ext):
    """Removes the compiled modules of earlier builds first, so that a build that fails leaves none behind."""

    def run(self) -> None:
        folders = [Path(self.build_lib) / NATIVE_FOLDER]
        if self.inplace:
            folders.append(HERE / NATIVE_FOLDER)
        for folder in folders:
            for earlier in folder.glob("_compiled.*so"):  # also those named after one Python, which would go before
                earlier.unlink()
        super().run()


setup(
    name="pycrawl",
    version=VERSION,
    description="A polite, restartable, fast web crawler for one machine, with SQLite state and TREC Web collections",
    long_description=(HERE / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.11",
    packages=find_packages(include=["pycrawl", "pycrawl.*"]),
    package_data={"pycrawl": ["py.typed", "native/_compiled.pyi"]},
    ext_modules=[NATIVE] if sys.byteorder == "little" else [],
    cmdclass={"build": BuildAfresh, "build_ext": CompileAfresh},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    data_files=[("share/man/man1", sorted(str(page.relative_to(HERE)) for page in HERE.glob("man/*.1")))],
    entry_points={"console_scripts": ["pycrawl = pycrawl.cli:main"]},
    install_requires=[
        "ada-url >=2,<5",
        "beautifulsoup4 >=4.12,<5",
        "certifi",
        "click >=8.1,<9",
        "feedparser >=6.0.11,<7",
        "google-re2 >=1.1.20250722,<2",
        "fastwarc >=1,<2",
        "isal >=1.7,<2",
        "numpy >=2,<3",
        "protego >=0.7,<0.8",
        "pycares >=5,<6",
        'pycurl >=7.45.4,<8; platform_python_implementation == "CPython"',
        "requests >=2.32,<3",
        "resiliparse >=1,<2",
        "rich >=13.7",
        "urllib3[brotli] >=2.2,<3",
        "xxhash >=3.4,<5",
    ],
    extras_require={
        "documents": DOCUMENTS,
        "languages": LANGUAGES,
        "parquet": ["pyarrow >=17"],
        "zstd": ["zstandard >=0.22"],
        "fuzz": ["atheris >=2.3; platform_system == 'Linux' and python_version < '3.14'"],
        # Programs that read exports, for `make test-tools`; pywb brings another module in place of one of urllib3's.
        "tools": ["python-terrier >=0.13", "pywb >=2.8"],
        "dev": [
            *DOCUMENTS,
            *LANGUAGES,
            "build >=1.2",
            "duckdb >=1",
            "hypothesis >=6.100",
            "import-linter >=2.10",
            "ir_datasets >=0.5.9",
            "mypy >=1.11",
            "pandas >=2.2",
            "psutil >=6",
            "pyarrow >=17",
            "pytest >=8",
            "pytest-timeout >=2.3",
            "pytest-xdist >=3.6",
            "ruff >=0.6",
            "setuptools >=70.1",
            "warcio >=1.7,<2",
            "zstandard >=0.22",
        ],
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Internet :: WWW/HTTP :: Indexing/Search",
    ],
)
