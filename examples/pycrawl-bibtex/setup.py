from setuptools import setup

setup(
    name="pycrawl-bibtex",
    version="1.0",
    description="For pycrawl: reads BibTeX files, and keeps a crawl to some languages of a site",
    packages=["pycrawl_bibtex"],
    install_requires=["pycrawl"],
    entry_points={
        "pycrawl.parsers": ["bibtex = pycrawl_bibtex.parser:BibtexParser"],
        "pycrawl.filters": ["path-language = pycrawl_bibtex.filter:PathLanguageFilter"],
    },
)
