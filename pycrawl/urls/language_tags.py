"""Names of languages, as pages and settings write them, in one form."""

from __future__ import annotations

import re
from functools import lru_cache

from pycrawl.errors import UsageError

DETECTOR = "py3langid"  # the package that tells the language of a text (`parse/language.py`) …
INSTALL = "pip install 'pycrawl[languages]'"  # … and how to get it
NO_LANGUAGE = frozenset(("und", "zxx", "mul", "mis", "xx"))
_TAG = re.compile(r"([a-z]{2,3})((?:[-_][a-z0-9]{1,8}){0,6})", re.IGNORECASE)
# Names of countries, and names that are no longer used, in the place of languages.
_MEANT = {"cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "in": "id", "iw": "he", "ji": "yi", "jp": "ja", "ua": "uk"}
# Varieties → the language that they are one of: pages name either.
_VARIETIES = {"nb": "no", "nn": "no", "yue": "zh", "wuu": "zh", "arz": "ar", "ary": "ar", "uzs": "uz"}


@lru_cache(maxsize=256)
def tag_of(declared: str) -> str:
    """Returns what a page declares in one form: "pt_BR" → "pt-br"; empty if it names no language."""
    match = _TAG.fullmatch(declared.strip())
    if not match:
        return ""
    primary = match[1].lower()
    primary = _MEANT.get(primary, primary)
    return "" if primary in NO_LANGUAGE else primary + match[2].lower().replace("_", "-")


def wanted_tag(text: str) -> str:
    """Returns the tag of a language that a person asks for: "pt_BR" → "pt-br". Raises UsageError if it is none."""
    tag = tag_of(text)
    if not tag:
        raise UsageError(f'language: expected a language such as "de" or "pt-BR", found {text!r}')
    return tag


@lru_cache(maxsize=256)
def primary_of(tag: str) -> str:
    """Returns the language of a tag without its region, a variety by the language that it is one of: "nb-no" → "no"."""
    primary = tag.partition("-")[0].lower()
    return _VARIETIES.get(primary, primary)
