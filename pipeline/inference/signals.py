"""What retrieval knows of a candidate and of the query's background: the reranker's features.

A cosine says little by itself: how near unrelated texts lie differs by embedder, by language and
by query. What tells is how far a candidate stands out from the query's *background*, its cosines
to a fixed sample of the index. The sample stays small however large the index is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.text.tokens import MARK

FOREGROUND = 0.05
"""Share of the sample, the nearest first, that is not background: in a small index the chunk that
answers is itself in the sample. At least one is left out."""

LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True)
class Signals:
    """Of one candidate: what speaks for its answering the query.

    ``dense`` is the cosine of the chunk, ``sentence`` that of its best sentence; both are None when
    the query has no vector. ``bm25`` is its keyword score, 0 without a shared term. ``coverage`` is
    the share of the query's idf mass that the chunk holds, ``sentence_coverage`` the share that the
    best of its ``sentences`` sentences holds, ``known`` the share of the query's words that stand
    anywhere in the searched track, all in [0, 1].
    """

    dense: float | None
    sentence: float | None
    bm25: float
    coverage: float
    sentence_coverage: float
    sentences: int
    known: float


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and deviation of the query's cosines to a sample of ``size`` chunks, and to sentences.

    A size of 0 says that there is none: no query vector, or an empty index.
    """

    dense_mean: float = 0.0
    dense_deviation: float = 1.0
    sentence_mean: float = 0.0
    sentence_deviation: float = 1.0
    size: int = 0


def coverage(weights: Mapping[str, float], held: Collection[str]) -> float:
    """The share, in [0, 1], of the idf mass of ``weights`` that the terms ``held`` have.

    ``weights`` is the idf of each distinct term of the query, those that stand nowhere included.
    """
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0


def best_coverage(weights: Mapping[str, float], sentences: Iterable[Sequence[str]]) -> float:
    """The largest coverage of one sentence, given by its terms."""
    return max((coverage(weights, set(terms)) for terms in sentences), default=0.0)


def known(terms: Iterable[str], frequencies: Mapping[str, int]) -> float:
    """The share, in [0, 1], of the query's distinct words that stand in some chunk.

    Near 1 where query and chunks share a language, low across languages, where coverage can't be
    expected. ``frequencies`` holds the terms that stand in some chunk; beginnings don't count.
    """
    words = {term for term in terms if not term.startswith(MARK)}
    return sum(word in frequencies for word in words) / len(words) if words else 0.0


def background(
    chunk_cosines: npt.NDArray[np.float32], sentence_cosines: npt.NDArray[np.float32]
) -> Background:
    """The background of a query from its cosines, (n,) and (m,), to a sample of the index."""
    if not chunk_cosines.size or not sentence_cosines.size:
        return Background()
    return Background(
        *_mean_and_deviation(chunk_cosines),
        *_mean_and_deviation(sentence_cosines),
        int(chunk_cosines.size),
    )


def _mean_and_deviation(cosines: npt.NDArray[np.float32]) -> tuple[float, float]:
    ordered = np.sort(cosines.astype(np.float64))
    foreground = max(1, int(np.ceil(FOREGROUND * ordered.size)))
    if ordered.size > foreground + 1:
        ordered = ordered[:-foreground]
    return float(ordered.mean()), float(max(ordered.std(), LEAST_DEVIATION))
