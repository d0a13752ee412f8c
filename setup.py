"""Everything about the package; `pyproject.toml` has only the build system and the tools' settings."""

import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "pycrawl/__init__.py").read_text("utf-8"))[1]

# The hot path, compiled where that can be done; where it cannot, Python and numpy do the same, more slowly.
NATIVE = Extension(
    "pycrawl.native._compiled",
    sources=sorted(str(source.relative_to(HERE)) for source in HERE.glob("pycrawl/native/*.c")),
    depends=sorted(str(header.relative_to(HERE)) for header in HERE.glob("pycrawl/native/*.h")),
    extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra"],
    py_limited_api=True,
    optional=True,
)

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
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    data_files=[("share/man/man1", sorted(str(page.relative_to(HERE)) for page in HERE.glob("man/*.1")))],
    entry_points={"console_scripts": ["pycrawl = pycrawl.cli:main"]},
    install_requires=[
        "ada-url >=2,<5",
        "beautifulsoup4 >=4.12,<5",
        "certifi",
        "click >=8.1,<9",
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
        "dev": [
            "hypothesis >=6.100",
            "import-linter >=2.10",
            "mypy >=1.11",
            "psutil >=6",
            "pytest >=8",
            "pytest-timeout >=2.3",
            "pytest-xdist >=3.6",
            "ruff >=0.6",
            "setuptools >=70.1",
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
