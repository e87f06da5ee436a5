"""XLM-R's tokenizer: a unigram model over words that begin with ``▁``."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace

from pipeline.text.normalise import normalise

BEGIN, END, UNKNOWN = 0, 2, 3

KEPT_WORDS = 50_000
KEPT_LETTERS = 32
"""A longer word is hardly met again."""


class Tokens:
    """Token ids of texts, and how many they are."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        model = Unigram(list(zip(pieces, scores, strict=True)), UNKNOWN, byte_fallback=False)
        self._tokenizer = Tokenizer(model)
        self._tokenizer.pre_tokenizer = Metaspace(prepend_scheme="always")
        self._kept = functools.lru_cache(KEPT_WORDS)(self._of_word)

    def ids(self, text: str) -> list[int]:
        """Of ``text`` alone, without the marks of its begin and end."""
        return list(self._tokenizer.encode(folded(text), add_special_tokens=False).ids)

    def count(self, text: str) -> int:
        """How many ids ``text`` has. No piece has a space inside, so the words' counts, which are
        kept, add up."""
        return sum(
            self._kept(word) if len(word) <= KEPT_LETTERS else self._of_word(word)
            for word in folded(text).split(" ")
            if word
        )

    def _of_word(self, word: str) -> int:
        return len(self._tokenizer.encode(word, add_special_tokens=False).ids)


def folded(text: str) -> str:
    """``text`` in NFKC, each run of white space one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFKC", normalise(text)).split())
