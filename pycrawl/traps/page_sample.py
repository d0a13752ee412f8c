"""A sample of a page's text, by which pages are compared.

Knows nothing of numpy, which takes a tenth of a second to load, unless there is no compiled module.
"""

from __future__ import annotations

import functools
from array import array
from collections.abc import Callable, Sequence

from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled
from pycrawl.urls.parts import path_and_query

SAMPLE_PAIRS = 48  # pairs of words in a sample, at the most
_WHOLE_TEXT = 4_500  # characters; of a longer text three parts are taken
_PART = 1_500  # characters
_WORD_SLOTS = 4_096  # residues of a word's hash, by which the words to be left out are known
BANDS = 4  # copy keys of a page
_LEAST_IN_BAND = 3  # pairs; a key made of less would stand for many texts
_BAND_SHIFT = 7  # bits; a sample has the smallest pairs, so that their high bits say nothing
_HOST_FACTOR = 0x9E3779B97F4A7C15  # odd, so that the keys of each host are its own
_64_BITS = (1 << 64) - 1

_DATE_WORDS = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun am pm
januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
janvier février mars avril juin juillet août septembre octobre novembre décembre
lundi mardi mercredi jeudi vendredi samedi dimanche
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
lunes martes miércoles jueves viernes sábado domingo
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
lunedì martedì mercoledì giovedì venerdì sabato domenica
januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""


def sample(text: str, url: str) -> bytes:
    """The smallest hashes of the pairs of neighbouring words of a text, as uint64 in ascending order.

    Numbers, dates and the words of the page's own URL are left out first, so that all months of an empty calendar, and
    all answers to missing pages, have one sample. As the smallest hashes are taken, two texts that share most of their
    pairs share most of their samples.
    """
    if len(text) > _WHOLE_TEXT:
        parts = (len(text) * place // 6 - _PART // 2 for place in (1, 3, 5))
        text = " ".join([text[start : start + _PART] for start in parts])
    left_out = bytearray(_date_words(text.isascii()))
    _mark(left_out, _hashed(path_and_query(url))[0])
    pairs: bytes = _pairs(*_hashed(text), left_out, SAMPLE_PAIRS)
    return pairs


@functools.cache
def _date_words(in_ascii: bool) -> bytes:
    """The residues of the hashes of all date words. A few other words share one, and are left out too: no harm done.

    For ASCII texts without the words that are not ASCII: to split those takes tables that such texts have no use for.
    """
    residues = bytearray(_WORD_SLOTS)
    _mark(residues, _hashed(" ".join(word for word in _DATE_WORDS.split() if word.isascii() or not in_ascii))[0])
    return bytes(residues)


def _mark(residues: bytearray, hashes: bytes) -> None:
    for one in array("Q", hashes):
        residues[one % _WORD_SLOTS] = 1


_hashed: Callable[[str], tuple[bytes, bytes]]
if compiled is not None:
    _hashed, _pairs = hashed, compiled.pairs
else:
    from pycrawl.fingerprint.pairs import hashed_by_numpy, pairs

    _hashed, _pairs = hashed_by_numpy, pairs


def copy_keys(pairs: Sequence[int], host_id: int) -> list[int]:
    """`BANDS` keys of a sample. Exact copies on one host have the same keys; a few words more or less change one or two
    of them."""
    bands: list[list[int]] = [[] for _ in range(BANDS)]
    for pair in pairs:
        bands[(pair >> _BAND_SHIFT) % BANDS].append(pair)
    if min(map(len, bands)) < _LEAST_IN_BAND:
        bands = [list(pairs)] * BANDS
    host = host_id * _HOST_FACTOR
    return [(sum(band) ^ host) & _64_BITS for band in bands]
