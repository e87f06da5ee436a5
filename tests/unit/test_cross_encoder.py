"""What the cross-encoder does without a model; tests/torch_models has real ones."""

from __future__ import annotations

import sys

import pytest
from structlog.testing import capture_logs

from pipeline.backends.rerankers.cross_encoder import probabilities
from pipeline.backends.rerankers.factory import build
from pipeline.errors import SettingsError
from pipeline.settings import Settings

NAN = float("nan")


def test_logits_become_probabilities() -> None:
    scores = probabilities([-4, 0.1, 6])
    assert [round(score, 3) for score in scores] == [0.018, 0.525, 0.998]
    assert [score >= 0.55 for score in scores] == [False, False, True]


def test_large_logits_do_not_overflow() -> None:
    assert probabilities([-5000, 5000]) == [0.0, 1.0]


def test_a_score_that_is_no_number_is_zero_and_told() -> None:
    with capture_logs() as logs:
        scores = probabilities([2.0, NAN, -1.0, float("inf"), 0.0])
    assert [round(score, 2) for score in scores] == [0.88, 0.0, 0.27, 0.0, 0.5]
    assert [(line["event"], line["count"], line["of"]) for line in logs] == [
        ("scores_not_finite", 2, 5)
    ]


def test_no_number_at_all_refuses_every_candidate() -> None:
    assert probabilities([NAN] * 3) == [0.0, 0.0, 0.0]


def test_scores_are_plain_floats() -> None:
    assert {type(score) for score in probabilities([1.0, NAN])} == {float}


def test_the_model_must_be_named() -> None:
    with pytest.raises(SettingsError, match="LASTRO_RERANKER_MODEL"):
        build(Settings(reranker="cross-encoder"))


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SettingsError, match=r"extra gpu: pip install 'lastro\[gpu\]'"):
        build(Settings(reranker="cross-encoder", reranker_model="some/model"))
