"""Batches hold every text once, within both limits, and results come back in order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.backends.embedders.batches import batches, embedded

texts = st.lists(st.text(max_size=30), max_size=40)


@given(texts, st.integers(1, 8), st.integers(1, 100))
def test_every_text_is_in_one_batch_within_the_limits(
    texts: list[str], most_texts: int, most_tokens: int
) -> None:
    made = list(batches(texts, len, most_texts=most_texts, most_tokens=most_tokens))
    assert sorted(place for batch in made for place in batch) == list(range(len(texts)))
    for batch in made:
        longest = max(len(texts[place]) for place in batch)
        assert len(batch) <= most_texts
        assert len(batch) == 1 or longest * len(batch) <= most_tokens


@given(texts)
def test_rows_are_in_the_order_of_the_texts(texts: list[str]) -> None:
    parts = batches(texts, len, most_texts=3, most_tokens=50)
    rows = embedded(texts, parts, lambda batch: np.array([[len(one)] for one in batch], float))
    assert [row[0] for row in rows] == [len(one) for one in texts]


def test_padding_is_small_where_lengths_differ() -> None:
    texts = ["x" * (1 if n % 2 else 100) for n in range(40)]
    made = list(batches(texts, len, most_texts=10, most_tokens=1000))
    padded = sum(max(len(texts[p]) for p in batch) * len(batch) for batch in made)
    assert padded == sum(map(len, texts))
