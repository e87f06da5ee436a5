"""Stage 1: the vectors of the texts that are searched for."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import TransientError
from pipeline.ports import Embedder
from pipeline.types import EmbeddedQuery

DEGRADED = "embedder_unavailable"
"""Named in an answer that was found by keywords alone."""


def embed_query(
    texts: Sequence[str], embedder: Embedder
) -> tuple[tuple[EmbeddedQuery, ...], tuple[str, ...]]:
    """The texts with their vectors, and what is degraded.

    An embedder that can't be reached costs the dense leg, not the answer.
    """
    try:
        vectors = embedder.embed_queries(texts)
    except TransientError:
        return tuple(EmbeddedQuery(text, None) for text in texts), (DEGRADED,)
    return tuple(
        EmbeddedQuery(text, tuple(vector.tolist()))
        for text, vector in zip(texts, vectors, strict=True)
    ), ()
