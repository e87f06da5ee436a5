"""Fits the coefficients of the reranker ``similarity`` and reports what they are worth.

    python -m evals.fit_similarity QUESTIONS.LANGUAGE.json[=CORPUS.LANGUAGE.json] ... [--write]

The files are SQuAD-form, the language stands in their names. Even-numbered articles, counted from
0, are fitted on, odd-numbered ones reported.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evals.logistic import Numbers, conditional_logit, logistic
from evals.offline import CachedEmbedder, Found
from evals.similarity_trials import Trial, TrialSet, trials
from pipeline.backends.embedders.e5.embedder import E5Embedder
from pipeline.backends.rerankers import similarity
from pipeline.backends.rerankers.similarity import Coefficients, Model

PRIOR_SIZE = 3.0
CUT = 0.5
ORDERED = ("all", "quarter", "small")
"""The indexes that the first model is fitted on: the others hold little to order."""

REPORTED_ONLY = ("near", "half")
WEIGHTS = {"all": 3.0, "typed all": 1.5}
"""How much a trial of an index counts for the second model; the others count 1."""

ROWS = (
    *("all", "half", "quarter", "small", "tiny", "single", "topic", "near"),
    *("typed all", "typed quarter", "typed topic", "life half", "life quarter", "life topic"),
)

Order = Callable[[Found], Numbers]
Answer = Callable[[Numbers, Found], Numbers]


def fit(sets: Sequence[TrialSet]) -> Model:
    """The model fitted on the trials of even articles, each set counting alike."""
    chosen = [[trial for trial in one.trials if not trial.odd] for one in sets]
    whole = [trial.found.background for one in chosen for trial in one if trial.index == "all"]
    blank = Coefficients((0.0,), (0.0,))
    prior = (
        float(np.mean([background.dense_mean for background in whole])),
        float(np.mean([background.sentence_mean for background in whole])),
    )
    model = Model(vector=blank, keyword=blank, prior=prior, prior_size=PRIOR_SIZE, cut=CUT)
    return replace(
        model,
        vector=_pair(
            chosen,
            lambda found: similarity.features(found.signals, found.background, model),
            lambda order, f: similarity.answer_features(order, f.signals, f.background),
            similarity.VECTOR_ANSWER,
        ),
        keyword=_pair(
            chosen,
            lambda found: similarity.keyword_features(found.signals),
            lambda order, found: similarity.keyword_answer(order, found.signals),
            similarity.KEYWORD_ANSWER,
        ),
    )


def _pair(
    sets: Sequence[Sequence[Trial]], order: Order, answer: Answer, names: Sequence[str]
) -> Coefficients:
    groups, weights = [], []
    for one in sets:
        ordered = [
            (order(t.found), t.right) for t in one if t.index in ORDERED and t.right is not None
        ]
        groups += ordered
        weights += [3000 / len(ordered)] * len(ordered)
    found = conditional_logit(groups, weights)
    rows, labels, counts = [], [], []
    for one in sets:
        for answerable in (True, False):
            asked = [
                trial
                for trial in one
                if trial.answerable is answerable and trial.index not in REPORTED_ONLY
            ]
            for trial in asked:
                values = order(trial.found) @ found
                rows.append(answer(values, trial.found)[int(values.argmax())])
            labels += [float(answerable)] * len(asked)
            weight = np.array([WEIGHTS.get(trial.index, 1.0) for trial in asked])
            counts += (1000 * weight / weight.sum()).tolist()
    constant = names.index("intercept")
    slopes, intercept = logistic(
        np.delete(np.array(rows), constant, axis=1), np.array(labels), np.array(counts)
    )
    return Coefficients(
        tuple(found.tolist()), tuple(np.insert(slopes, constant, intercept).tolist())
    )


def report(sets: Sequence[TrialSet], model: Model, *, odd: bool, words_only: bool = False) -> None:
    """Print, per set and index: recall, and the shares answered, refused and right about it."""
    print(f"\n{'odd' if odd else 'even'} articles{', without vectors' if words_only else ''}")
    print(f"{'set':22} {'index':14} {'R@1':>6} {'R@5':>6} {'answer':>6} {'refuse':>6} {'right':>6}")
    for one in sets:
        for index in ROWS:
            asked = [t for t in one.trials if t.index == index and t.odd is odd]
            scores = [_scores(trial, model, words_only=words_only) for trial in asked]
            passed = np.array([max(values) >= model.cut for values in scores])
            answerable = np.array([trial.answerable for trial in asked])
            refused = 1 - passed[~answerable].mean()
            cells = [None, None, None, refused, None]
            if answerable.any():
                ranks = np.array(
                    [
                        np.inf if t.right is None else sum(v > values[t.right] for v in values)
                        for t, values in zip(asked, scores, strict=True)
                        if t.answerable
                    ]
                )
                answered = passed[answerable].mean()
                share = (answered + refused) / 2
                cells = [(ranks < 1).mean(), (ranks < 5).mean(), answered, refused, share]
            shown = " ".join(f"{'':6}" if cell is None else f"{cell:6.3f}" for cell in cells)
            print(f"{one.name:22} {index:14} {shown}", flush=True)


def _scores(trial: Trial, model: Model, *, words_only: bool) -> list[float]:
    signals = trial.found.signals
    if words_only:
        signals = tuple(replace(one, dense=None, sentence=None) for one in signals)
    return similarity.score(signals, trial.found.background, model)


def stored(model: Model, names: Sequence[str]) -> dict[str, object]:
    """The model as it lies in similarity.json."""

    def named(keys: Sequence[str], values: Sequence[float]) -> dict[str, float]:
        return {key: round(value, 4) for key, value in zip(keys, values, strict=True)}

    return {
        "about": "Made by evals/fit_similarity.py; see docs/decisions/0004-similarity-reranker.md.",
        "fitted_on": {"sets": list(names), "articles": "even", "embedder": E5Embedder.model},
        "cut": model.cut,
        "prior": named(("dense", "sentence", "size"), (*model.prior, model.prior_size)),
        "vector": {
            "order": named(similarity.VECTOR_FEATURES, model.vector.order),
            "answer": named(similarity.VECTOR_ANSWER, model.vector.answer),
        },
        "keyword": {
            "order": named(similarity.KEYWORD_FEATURES, model.keyword.order),
            "answer": named(similarity.KEYWORD_ANSWER, model.keyword.answer),
        },
    }


def main() -> None:
    """Read the command line, fit, report, and write when told to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", metavar="QUESTIONS[=CORPUS]")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--write", action="store_true", help="replace similarity.json")
    options = parser.parse_args()
    embedder = CachedEmbedder(E5Embedder(), options.cache)
    sets = [trials(pair, embedder) for pair in options.sets]
    model = fit(sets)
    text = json.dumps(stored(model, [one.name for one in sets]), indent=2) + "\n"
    print(text)
    if options.write:
        similarity.FITTED.write_text(text, encoding="utf-8")
    report(sets, model, odd=False)
    report(sets, model, odd=True)
    report(sets, model, odd=True, words_only=True)


if __name__ == "__main__":
    main()
