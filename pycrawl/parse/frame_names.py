"""What the names of a box (its tag, classes and id) tell of its place in a page: content, or frame, and how surely.

Names are made for style sheets, so a single word may mean anything: `<div class="has-sidebar">` is around the article.
A name is read as tokens (`entry-content`, `c-sidebar--wide`), a token as words. A word in the middle of a token, or in
one that also speaks of content ("teaser-text"), tells less; modifiers ("--right") and names of layouts tell nothing.

The compiled reader (`native/names.c`) is given these words and has none of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache

# How much a name tells that its box belongs to the page's frame.
NOTHING, WEAK, MAYBE, SURE, HARD = range(5)
LONGEST_NAME = 100  # characters that are read of class, and of id

TAGS = {
    **dict.fromkeys("nav footer menu".split(), HARD),
    **dict.fromkeys("aside dialog figure figcaption".split(), SURE),
    **dict.fromkeys("form address".split(), MAYBE),
    "header": WEAK,
}
CONTENT_TAGS = frozenset(("article", "main", "body"))  # never a frame, whatever their names

_WORDS = {
    WEAK: "side foot more most also tag carousel slideshow gallery link links prev previous next topic topics search "
    "header button btn tool tools utility category categories rail right hidden",
    MAYBE: "reply follow caption credit credits byline author autor auteur autore bio biography meta metadata "
    "timestamp dateline legal legend legende imprint impressum kontakt bildunterschrift bildunterzeile "
    "imagedescription rating ratings poll notice alert teaser teasers widget widgets tooltip banner tagcloud paging "
    "skip cta",
    SURE: "sidebar aside ad ads popup popover modal overlay lightbox infobar pushlayer comment comments commentlist "
    "kommentar kommentare comentario comentarios commentaire commentaires commenti reacties respond replies popular "
    "trending share sharing sharebar sharedaddy likes teilen compartir partager condividi social sociable newsletter "
    "signup login register screenreader sr visuallyhidden noprint masthead disclaimer taboola outbrain linklist tags "
    "werbung anzeige publicidad publicite pubblicita banniere affiliate profile placeholder textresizer",
    HARD: "nav navbar navigation menu submenu breadcrumb breadcrumbs footer copyright cookie cookies consent gdpr "
    "pagination pager toolbar",
}
# A word that begins like these, and is none of the above.
SURE_STARTS = tuple("advert sponsor promo disqus related recommend recirc subscri".split())
# These tell less in the middle of a token, and beside words for content: they name layouts as often as frames.
_SOFT = (
    "sidebar teaser teasers widget widgets hidden header right share aside modal overlay banner gallery ad ads notice "
    "alert popular"
)
_CONTENT = "article post entry content text story body main news hentry paragraph blog"
_STATES = "has no with without not"  # "has-sidebar": such a token tells nothing
_LAYOUT = "layout"  # anywhere in a token: the same
# Words that begin like these tell as much in boxes that are named for content, too ("post-author").
STEADY_STARTS = tuple("comment kommentar relat author autor".split())

# What else is known of a word, as bits; the compiled reader has the same.
SOFT, CONTENT, STATE, LAYOUT, STEADY = 1, 2, 4, 8, 16


def _table() -> dict[str, tuple[int, int]]:
    levels = {word: level for level, words in _WORDS.items() for word in words.split()}
    bits = {SOFT: _SOFT, CONTENT: _CONTENT, STATE: _STATES, LAYOUT: _LAYOUT}
    flags = dict.fromkeys(levels, 0)
    for bit, words in bits.items():
        for word in words.split():
            flags[word] = flags.get(word, 0) | bit
    return {word: (levels.get(word, NOTHING), flag) for word, flag in flags.items()}


WORDS = _table()  # word → level, flags
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")  # also in camelCase
_TOKEN = re.compile(r"[^ \t\n\f\r]+")  # of a class attribute; an id is read in the same way


@lru_cache(16_384)
def suspicion(tag: str, class_name: str, identifier: str) -> int:
    """How much the names of a box, of at most LONGEST_NAME characters each, tell that it belongs to the frame: NOTHING
    up to HARD."""
    if tag in CONTENT_TAGS:
        return NOTHING
    named, speaks_of_content, is_steady = NOTHING, False, False
    for name in (class_name, identifier):
        for token in _TOKEN.findall(name):
            level, flags = _read_token(token)
            named = max(named, level)
            speaks_of_content |= bool(flags & CONTENT) and level == NOTHING
            is_steady |= bool(flags & STEADY)
    if named and speaks_of_content and not is_steady:
        named -= 1
    return max(TAGS.get(tag, NOTHING), named)


def _read_token(token: str) -> tuple[int, int]:
    """Returns the level of a token, and as flags whether it speaks of content and whether it has a steady word."""
    words = [_read_word(word.lower()) for word in _WORD.findall(token.partition("--")[0])]
    if not words or any(flags & LAYOUT for _, flags in words) or (len(words) > 1 and words[0][1] & STATE):
        return NOTHING, 0
    found = (words[0][1] | words[-1][1]) & CONTENT
    most = NOTHING
    for place, (level, flags) in enumerate(words):
        if flags & SOFT:
            level -= (0 < place < len(words) - 1) + bool(found)
        most = max(most, level)
        found |= flags & STEADY
    return most, found


def _read_word(word: str) -> tuple[int, int]:
    level, flags = WORDS.get(word, (NOTHING, 0))
    if level < SURE and word.startswith(SURE_STARTS):
        level = SURE
    return level, flags | STEADY if word.startswith(STEADY_STARTS) else flags
