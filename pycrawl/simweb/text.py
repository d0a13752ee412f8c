"""English-like text: made-up words with Zipf frequencies, in paragraphs that are built once and shared."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from random import Random

from pycrawl.simweb.hashed_random import PICKS

PARAGRAPHS = 2_048  # a power of two; two pages of 25 paragraphs share 0.3 of them on average
VOCABULARY = 6_000
SLUGS = 499  # a prime, so that neighbouring pages get words far apart

_FUNCTION_WORDS = str.split(
    "the of and to in a is that for it as was with be by on not he this are or his from at which but have an had they "
    "you were their one all we can her has there been if more when will would who so no out up into than them only some"
)
_ONSETS = str.split("b bl br c ch cl cr d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w")
_VOWELS = str.split("a a a e e e e i i o o u ai ea ee ou")
_CODAS = ["", "", "", "l", "m", "n", "n", "nd", "nt", "r", "r", "s", "st", "t", "ck", "rd", "ll", "sh"]
_ENDINGS = ["", "", "", "", "ed", "er", "ing", "ly", "ness", "s", "tion", "al"]


class Text:
    """All the text of one web, from its seed. Paragraphs are built when the first page's body is asked for."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.slugs = tuple(_made_up_words(Random(f"slugs {seed}"), SLUGS))

    @cached_property
    def paragraphs(self) -> list[str]:
        """Returns the paragraphs, each so often that the list is `PICKS` long: a random pick is an index into it as it
        is."""
        random = Random(f"text {self._seed}")
        return _paragraphs(random, [*_FUNCTION_WORDS, *_made_up_words(random, VOCABULARY)]) * (PICKS // PARAGRAPHS)

    @cached_property
    def mean_paragraph(self) -> float:
        return sum(map(len, self.paragraphs)) / len(self.paragraphs)

    def prepare(self) -> None:
        self.mean_paragraph  # noqa: B018 - it needs, and so builds, the paragraphs


def _made_up_words(random: Random, count: int) -> list[str]:
    words = dict.fromkeys(_FUNCTION_WORDS)
    while len(words) < count + len(_FUNCTION_WORDS):
        syllables = random.choices((1, 2, 3), (4, 5, 2))[0]
        stem = "".join(
            random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS) for _ in range(syllables)
        )
        words[stem + random.choice(_ENDINGS)] = None
    return list(words)[len(_FUNCTION_WORDS) :]


def _paragraphs(random: Random, words: list[str]) -> list[str]:
    """Returns paragraphs from "<p>" to the end of their text, without "</p>": a page may add a link of its own."""
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(words))))
    shapes = [[random.randint(5, 19) for _ in range(random.randint(3, 7))] for _ in range(PARAGRAPHS)]
    stream = iter(random.choices(words, cum_weights=weights, k=sum(map(sum, shapes))))
    return ["<p>" + " ".join(_sentence([next(stream) for _ in range(length)]) for length in shape) for shape in shapes]


def _sentence(words: list[str]) -> str:
    if len(words) > 11:
        words[len(words) // 2] += ","
    text = " ".join(words)
    return f"{text[0].upper()}{text[1:]}."
