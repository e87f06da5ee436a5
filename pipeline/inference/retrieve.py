"""Stage 2: candidates of every track for a query, from a dense and a keyword leg, fused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.ports import Vectors
from pipeline.types import Track


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index knows of one chunk in the light of a query.

    ``cosine`` and ``sentence`` (that of its best sentence) are None without a query vector;
    ``terms`` are the query's terms that stand in it.
    """

    chunk_id: int
    path: str
    name: str
    ordinal: int
    title: str
    heading: str
    text: str
    language: str
    cosine: float | None
    sentence: float | None
    bm25: float
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sample:
    """A fixed random sample of a track's vectors, (n, dimension) each."""

    chunks: Vectors
    sentences: Vectors


class Index(Protocol):
    """The searches that this stage needs; see ``db/search.py`` for their meaning."""

    def tracks(self) -> dict[Track, tuple[int, float]]: ...

    def dense(
        self, track: Track, chunks: int, vector: Vectors, limit: int
    ) -> list[tuple[int, float]]: ...

    def document_frequencies(self, track: Track, terms: Sequence[str]) -> dict[str, int]: ...

    def keyword(
        self, track: Track, weights: Mapping[str, float], average: float, limit: int
    ) -> list[tuple[int, float]]: ...

    def facts(
        self,
        track: Track,
        ids: Sequence[int],
        vector: Vectors | None,
        weights: Mapping[str, float],
        average: float,
    ) -> list[Facts]: ...

    def sample(self, track: Track) -> Sample: ...


def idf(chunks: int, frequency: int) -> float:
    """The weight of a term that stands in ``frequency`` of ``chunks`` chunks.

    Lucene's form of the BM25 idf, which is never negative.
    """
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
