"""Vectors of chunks by the real embedder, and what is done with wrong ones; postings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pipeline.backends.embedders.e5.embedder import E5Embedder
from pipeline.errors import InvalidVectorError
from pipeline.ingestion.chunk import chunk
from pipeline.ingestion.embed import embed
from pipeline.ingestion.publish import postings
from pipeline.ports import Vectors
from pipeline.types import Chunk, Document, Track
from pipeline.vectors import unit

EMBEDDER = E5Embedder()


class Counting(E5Embedder):
    """The real embedder, and what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_passages(texts)


class Spoiling(E5Embedder):
    """The real embedder, whose vectors are spoilt on the way."""

    def __init__(self, spoil: object) -> None:
        super().__init__()
        self.spoil = spoil

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self.spoil(super().embed_passages(texts))  # type: ignore[operator,no-any-return]


def pieces(text: str) -> list[Chunk]:
    return chunk(
        Document("a.md", Track.DOCUMENT, "a", text),
        count_tokens=EMBEDDER.count_tokens,
        limit=400,
        overlap=50,
    )


def test_a_chunk_and_each_of_its_sentences_get_a_vector() -> None:
    made = pieces("# A\n\nPoints expire after two years. Vouchers do not expire.\n\n# B\n\nNo.\n")
    embedded = embed(made, EMBEDDER)
    assert [one.vector.shape for one in embedded] == [(384,), (384,)]
    assert [one.sentence_vectors.shape for one in embedded] == [(2, 384), (1, 384)]
    expected = EMBEDDER.embed_passages([made[0].search_text, *made[0].sentences])
    assert embedded[0].vector @ expected[0] == pytest.approx(1, abs=1e-4)
    assert np.diag(embedded[0].sentence_vectors @ expected[1:].T) == pytest.approx(1, abs=1e-4)
    assert np.linalg.norm(embedded[0].sentence_vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_equal_texts_are_embedded_once() -> None:
    (one,) = pieces("The same sentence stands in both.")
    counting = Counting()
    first, second = embed([one, replace(one, ordinal=1)], counting)
    assert counting.asked == ["The same sentence stands in both."]
    assert (first.vector == second.vector).all()


def test_no_chunk_and_no_sentence_are_no_trouble() -> None:
    assert embed([], EMBEDDER) == []
    (one,) = pieces("Some text.")
    (embedded,) = embed([replace(one, sentences=())], EMBEDDER)
    assert embedded.sentence_vectors.shape == (0, 384)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[:-1], "1 vectors for 2 texts"),
        (lambda rows: rows[:, :100], "100 dimensions, not 384"),
        (lambda rows: rows * np.nan, "not finite"),
        (lambda rows: rows * np.inf, "not finite"),
        (lambda rows: rows * 0, "zero"),
        (lambda rows: rows[0], "vectors for 2 texts"),
        (lambda rows: [rows[0], rows[1][:5]], "different lengths"),
    ],
)
def test_wrong_vectors_are_refused_with_what_is_wrong(spoil: object, said: str) -> None:
    made = pieces("One sentence is here. Another sentence is there.")
    with pytest.raises(InvalidVectorError, match=said):
        embed([replace(made[0], sentences=made[0].sentences[:1])], Spoiling(spoil))


def test_vectors_of_another_length_are_made_unit() -> None:
    (one,) = pieces("One sentence.")
    (embedded,) = embed([one], Spoiling(lambda rows: rows * 7))
    assert np.linalg.norm(embedded.vector) == pytest.approx(1, abs=1e-5)
    assert unit([[3, 4]], count=1, dimension=2).tolist() == [
        [pytest.approx(0.6), pytest.approx(0.8)]
    ]


def test_postings_count_the_terms_of_heading_and_text() -> None:
    (made,) = pieces("# Points\n\nPoints and more points.\n")
    frequencies, length = postings(made)
    assert frequencies["points"] == 3
    assert length == sum(frequencies.values())


def test_a_skill_is_found_by_words_of_its_procedure_and_of_every_trigger() -> None:
    triggers = tuple(f"question{n} about it" for n in range(200))
    skill = Document("s.md", Track.SKILL, "Login", "1. Tap Recover.", "It is locked.", triggers)
    (made,) = chunk(skill, count_tokens=EMBEDDER.count_tokens, limit=400, overlap=50)
    frequencies, _ = postings(made)
    assert {"recover", "locked", "login", "question0", "question199"} <= set(frequencies)
    assert frequencies["question0"] == 1


def test_a_frequency_fits_into_its_column() -> None:
    (made,) = pieces("word")
    frequencies, length = postings(replace(made, text="word " * 40_000))
    assert max(frequencies.values()) == 32_767
    assert length > 32_767
