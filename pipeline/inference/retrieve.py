"""Stage 2: candidates of every track for a query, from a dense and a keyword leg, fused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pipeline.inference.fuse import fuse
from pipeline.inference.signals import (
    Background,
    Signals,
    background,
    best_coverage,
    coverage,
    known,
)
from pipeline.ports import Vectors
from pipeline.text.tokens import terms
from pipeline.types import Candidate, EmbeddedQuery, Retrieval, Track


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index knows of one chunk in the light of a query.

    ``cosine`` and ``sentence`` (that of its best sentence) are None without a query vector;
    ``terms`` are the query's terms that stand in it, ``sentences`` the texts of its parts.
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
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A fixed random sample of the vectors of a workspace, (n, dimension) each."""

    chunks: Vectors
    sentences: Vectors


class Index(Protocol):
    """The searches that this stage needs; see ``db/search.py`` for their meaning."""

    def tracks(self) -> dict[Track, tuple[int, float]]:
        """Chunks, and terms per chunk, of each track that holds anything."""

    def dense(
        self, track: Track, chunks: int, vector: Vectors, limit: int
    ) -> list[tuple[int, float]]:
        """The nearest chunks: (id, cosine), nearest first."""

    def document_frequencies(self, track: Track, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term stands."""

    def keyword(
        self, track: Track, weights: Mapping[str, float], average: float, limit: int
    ) -> list[tuple[int, float]]:
        """The best chunks by BM25: (id, score), best first."""

    def facts(
        self,
        track: Track,
        ids: Sequence[int],
        vector: Vectors | None,
        weights: Mapping[str, float],
        average: float,
    ) -> list[Facts]:
        """What is known of the chunks ``ids``, in that order."""

    def sample(self) -> Sample:
        """The sample that stands for the query's background."""


def retrieve(
    query: EmbeddedQuery, index: Index, *, language: str, leg: int, limit: int
) -> tuple[Retrieval, ...]:
    """The best ``limit`` candidates of each track that holds anything, in fused order.

    ``leg`` is how many each leg contributes, ``language`` the query's. Without a query vector the
    dense leg is left out.
    """
    words = sorted(set(terms(query.text, language)))
    vector = None if query.vector is None else np.array(query.vector, dtype=np.float32)
    background = _background(index, vector)
    found = []
    for track, (chunks, average) in index.tracks().items():
        frequencies = index.document_frequencies(track, words)
        weights = {word: idf(chunks, frequencies.get(word, 0)) for word in words}
        held = {word: weights[word] for word in words if word in frequencies}
        keyword = index.keyword(track, held, average, leg)
        dense = [] if vector is None else index.dense(track, chunks, vector, leg)
        ids = dict.fromkeys(chunk for chunk, _ in [*dense, *keyword])
        facts = index.facts(track, list(ids), vector, held, average)
        signals = _signals(facts, weights, known(words, frequencies))
        candidates = tuple(
            _candidate(track, facts[place], signals[place]) for place in fuse(signals)[:limit]
        )
        found.append(Retrieval(query.text, track, candidates, background))
    return tuple(found)


def _signals(
    facts: Sequence[Facts], weights: Mapping[str, float], share_known: float
) -> list[Signals]:
    return [
        Signals(
            dense=fact.cosine,
            sentence=fact.sentence if fact.sentence is not None else fact.cosine,
            bm25=fact.bm25,
            coverage=coverage(weights, fact.terms),
            sentence_coverage=best_coverage(
                weights, (terms(sentence, fact.language) for sentence in fact.sentences)
            ),
            sentences=max(1, len(fact.sentences)),
            known=share_known,
        )
        for fact in facts
    ]


def _background(index: Index, vector: Vectors | None) -> Background:
    if vector is None:
        return Background()
    sample = index.sample()
    return background(sample.chunks @ vector, sample.sentences @ vector)


def _candidate(track: Track, fact: Facts, signals: Signals) -> Candidate:
    return Candidate(
        chunk_id=fact.chunk_id,
        track=track,
        name=fact.name,
        path=fact.path,
        ordinal=fact.ordinal,
        title=fact.title,
        heading=fact.heading,
        text=fact.text,
        language=fact.language,
        signals=signals,
    )


def idf(chunks: int, frequency: int) -> float:
    """The weight of a term that stands in ``frequency`` of ``chunks`` chunks.

    Lucene's form of the BM25 idf, which is never negative.
    """
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
