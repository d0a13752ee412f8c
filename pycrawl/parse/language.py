"""The language of a document: as it declares, or as its text reads where it declares none, or one that does not fit.

What is declared is mostly right, but for "en", which templates bring along, and for names of no language. So a page
that says "en" and has hardly any of English's commonest words is doubted, as is one in a language of another script
that is all ASCII. Only then is the text looked at closely, with py3langid: its model takes half a second and 75 MB in
each process, so it is loaded with the first such text.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from typing import Any

from pycrawl.urls.language_tags import DETECTOR, NO_LANGUAGE, primary_of, tag_of

log = logging.getLogger(__name__)

LOOKED_AT = 1_000  # characters of a text
_FEWEST = 24  # characters: what is shorter could be anything
_SURE_ENOUGH = 0.5  # probability from which on a language that was found counts
_SURER = 0.75  # … and from which on it counts more than the one that is declared
_BYTES = 4 * LOOKED_AT  # that hold so many characters in UTF-8
_COMMON = (b" the ", b" of ", b" and ", b" to ")  # no other language has as many of all these together
_COMMON_SHARE = 1 / 250  # of an English text's bytes: fewer of them are doubtful; usual is 1 in 30
_OTHER_SCRIPTS = frozenset(
    "am ar as be bg bn bo dv dz el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr my ne or pa ps ru sa sd si ta te"
    " tg th ti tt ug uk ur yi yue zh".split()
)


def is_doubtful(tag: str, text: bytes) -> bool:
    """True if a text (UTF-8) hardly reads like the language of this tag, as far as that can be told at once."""
    begin = text[:LOOKED_AT].replace(b"\n", b" ").lower()
    if len(begin) < _FEWEST:
        return False
    primary = tag.partition("-")[0]
    if primary == "en":
        return sum(map(begin.count, _COMMON)) < len(begin) * _COMMON_SHARE
    return primary in _OTHER_SCRIPTS and begin.isascii()


def language_of(declared: str, text: bytes | str, may_detect: bool) -> str:
    """Returns the language of a document that declares `declared` (or nothing: "") and has this text, as a tag in lower
    case: "en", "pt-br"; empty if it is not known.

    `may_detect`: the text is looked at closely where that is needed, if py3langid is installed.
    """
    tag = tag_of(declared) if declared else ""
    if not may_detect or not is_installed():
        return tag
    if isinstance(text, str):
        text = text[:LOOKED_AT].encode("utf-8", "replace")
    if tag and not is_doubtful(tag, text):
        return tag
    sample = text[:_BYTES].decode("utf-8", "ignore")[:LOOKED_AT]
    found, probability = _detected(sample) if len(sample) >= _FEWEST else ("", 0.0)
    if not found or probability < (_SURER if tag else _SURE_ENOUGH) or found == primary_of(tag):
        return tag
    return found


@cache
def is_installed() -> bool:
    """True if languages can be detected."""
    return find_spec(DETECTOR) is not None


def load_model() -> None:
    """Load the model, if it is installed, before the first text that is looked at."""
    if is_installed():
        _identifier()


def _detected(text: str) -> tuple[str, float]:
    """Returns the language that a text is most likely in, and how likely that is; ("", 0.0) if that cannot be told."""
    identifier = _identifier()
    if identifier is None:
        return "", 0.0
    language, probability = identifier.classify(text)
    return ("" if language in NO_LANGUAGE else primary_of(language)), float(probability)


@cache
def _identifier() -> Any:
    """Returns the model; None if there is no room for it: it is unpacked into a temporary file of 35 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except (OSError, MemoryError) as error:
        log.warning("languages are not told: %s", error)
        return None
