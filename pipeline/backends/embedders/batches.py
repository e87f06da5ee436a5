"""Texts in batches that cost a server or a model about the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pipeline.ports import Vectors


def batches(
    texts: Sequence[str], tokens: Callable[[str], int], *, most_texts: int, most_tokens: int
) -> Iterator[list[int]]:
    """The places of ``texts`` in batches, long texts with long ones.

    A batch has at most ``most_texts`` texts and, all padded to its longest, ``most_tokens`` tokens;
    a text that has more of them alone is a batch of its own.
    """
    lengths = [tokens(text) for text in texts]
    batch: list[int] = []
    for place in sorted(range(len(texts)), key=lambda place: -lengths[place]):
        longest = lengths[batch[0]] if batch else 0
        if len(batch) == most_texts or longest * (len(batch) + 1) > most_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def embedded(
    texts: Sequence[str], parts: Iterator[list[int]], embed: Callable[[list[str]], Vectors]
) -> list[Vectors]:
    """One row per text in the texts' own order, from ``embed`` of each batch."""
    rows: list[Vectors] = [np.empty(0, np.float32)] * len(texts)
    for part in parts:
        made = embed([texts[place] for place in part])
        for place, row in zip(part, made, strict=True):
            rows[place] = row
    return rows
