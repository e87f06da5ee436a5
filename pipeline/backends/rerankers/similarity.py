"""The reranker that is always there: no model but a handful of fitted coefficients.

Two linear models. The first orders: how far the chunk and its best sentence stand out from the
query's background, and how much of the query's rare words they hold. The second tells whether the
list answers at all: how high a candidate is, how far it stands above the crowd behind it, whether
query and index share a language, and how near and how spread the index is around the query. There
is one setting for all languages. Data, measurements and what was dropped:
docs/decisions/0004-similarity-reranker.md; ``evals/fit_similarity.py`` makes similarity.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.inference.signals import Background, Signals
from pipeline.types import Retrieval

Numbers = npt.NDArray[np.float64]

FITTED = Path(__file__).with_suffix(".json")

VECTOR_FEATURES = ("dense", "sentence", "coverage", "sentence_coverage", "log_sentences")
KEYWORD_FEATURES = ("coverage", "sentence_coverage", "log_sentences")
"""What the first model sees with and without a query vector. The more sentences a chunk has, the
higher the best of them is by chance alone; the logarithm of their number takes that back."""

KEYWORD_ANSWER = ("order", "margin", "known", "intercept")
VECTOR_ANSWER = (*KEYWORD_ANSWER, "sentence", "sentence_deviation", "dense_deviation")
"""What the second model sees. The last three are of the list, so that they move all its scores
alike and the order stays the first model's: the cosine of the best candidate's best sentence, and
how much the query's cosines vary, little where the index has nothing to do with it."""

CROWD = slice(4, 10)
"""The places, best first, whose mean is the crowd that a candidate is held against. The first four
are left out: an answer may stand in several chunks, and they don't make each other doubtful."""

LEAST_SCALE = 0.015
"""Added to a background's deviation, in quadrature, before a cosine is divided by it. Queries whose
cosines hardly vary, or a sample of few chunks, would make any difference look large. Fits
embedders with a narrow spread, as e5, and is negligible beside a wide one."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of one pair of models, in the order of the feature names."""

    order: tuple[float, ...]
    answer: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """All that was fitted. ``prior`` is the background that an index of few chunks leans to: the
    usual mean cosines of dense and sentence, counted as that many more chunks.
    """

    vector: Coefficients
    keyword: Coefficients
    prior: tuple[float, float]
    prior_size: float
    cut: float


class Similarity:
    """Scores candidates by what retrieval measured; nothing is loaded, nothing is called."""

    name = "similarity"

    def __init__(self) -> None:
        self.cut = fitted().cut

    def score(self, retrieval: Retrieval) -> list[float]:
        """One probability in [0, 1] per candidate, in the candidates' order."""
        return score([one.signals for one in retrieval.candidates], retrieval.background)


def score(
    signals: Sequence[Signals], background: Background, model: Model | None = None
) -> list[float]:
    """The probability, in [0, 1], that each candidate of a list answers its query.

    The whole list belongs together: each candidate is also held against the others. Without a
    query vector, and where a cosine is missing or not finite, words alone decide, by models of
    their own. An empty list gives an empty list. ``model`` is the one in similarity.json unless
    given.
    """
    if not signals:
        return []
    model = model or fitted()
    with_vector = has_vector(signals, background)
    coefficients = model.vector if with_vector else model.keyword
    if with_vector:
        order = features(signals, background, model) @ np.array(coefficients.order)
        rows = answer_features(order, signals, background)
    else:
        rows = keyword_answer(keyword_features(signals) @ np.array(coefficients.order), signals)
    logits = rows @ np.array(coefficients.answer)
    # (1 + tanh(x / 2)) / 2 is the logistic function, and does not overflow.
    return [float(p) for p in (1 + np.tanh(logits / 2)) / 2]


def has_vector(signals: Sequence[Signals], background: Background) -> bool:
    """Whether every candidate has finite cosines and the query a background."""
    cosines = [cosine for one in signals for cosine in (one.dense, one.sentence)]
    return background.size > 0 and all(c is not None and np.isfinite(c) for c in cosines)


def features(signals: Sequence[Signals], background: Background, model: Model) -> Numbers:
    """(n, 5), the columns of ``VECTOR_FEATURES``; every cosine must be a finite number."""
    weight = model.prior_size / (model.prior_size + background.size)
    means = np.array([background.dense_mean, background.sentence_mean])
    deviations = np.array([background.dense_deviation, background.sentence_deviation])
    means += weight * (np.array(model.prior) - means)
    cosines = np.array([[one.dense, one.sentence] for one in signals], dtype=np.float64)
    distances = (cosines - means) / np.hypot(deviations * (1 - weight), LEAST_SCALE)
    return np.hstack([distances, keyword_features(signals)])


def keyword_features(signals: Sequence[Signals]) -> Numbers:
    """(n, 3), the columns of ``KEYWORD_FEATURES``."""
    return np.array(
        [[s.coverage, s.sentence_coverage, np.log(max(1, s.sentences))] for s in signals],
        dtype=np.float64,
    )


def keyword_answer(order: Numbers, signals: Sequence[Signals]) -> Numbers:
    """(n, 4), the columns of ``KEYWORD_ANSWER``, from the first model's values, (n,)."""
    best_first = np.sort(order)[::-1]
    crowd = best_first[CROWD]
    margin = order - (crowd.mean() if crowd.size else best_first[-1])
    known = np.array([one.known for one in signals])
    return np.column_stack([order, margin, known, np.ones_like(order)])


def answer_features(order: Numbers, signals: Sequence[Signals], background: Background) -> Numbers:
    """(n, 7), the columns of ``VECTOR_ANSWER``, from the first model's values, (n,)."""
    best = signals[int(order.argmax())].sentence
    of_list = [best, background.sentence_deviation, background.dense_deviation]
    repeated = np.tile(np.array(of_list, dtype=np.float64), (len(order), 1))
    return np.hstack([keyword_answer(order, signals), repeated])


@cache
def fitted() -> Model:
    """The model in similarity.json."""
    return read(json.loads(FITTED.read_text(encoding="utf-8")))


def read(stored: Mapping[str, Any]) -> Model:
    """A model from its JSON form, coefficients by name of their feature."""

    def pair(part: str, order: Sequence[str], answer: Sequence[str]) -> Coefficients:
        return Coefficients(
            tuple(float(stored[part]["order"][name]) for name in order),
            tuple(float(stored[part]["answer"][name]) for name in answer),
        )

    return Model(
        vector=pair("vector", VECTOR_FEATURES, VECTOR_ANSWER),
        keyword=pair("keyword", KEYWORD_FEATURES, KEYWORD_ANSWER),
        prior=(float(stored["prior"]["dense"]), float(stored["prior"]["sentence"])),
        prior_size=float(stored["prior"]["size"]),
        cut=float(stored["cut"]),
    )
