"""The dense and the keyword leg in one order: reciprocal ranks, the keyword leg by its merit."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.inference.signals import Signals

K = 60
"""Damping of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


def fuse(signals: Sequence[Signals]) -> list[int]:
    """Places of ``signals`` in fused order, best first.

    The score is 1 / (K + dense rank) + coverage² / (K + keyword rank), ranks from 1, a leg that did
    not return the chunk adding nothing. Plain fusion trusts both legs alike, and across languages,
    where the keyword leg has only noise, it ruins what the dense leg had right. A keyword hit
    counts by the square of the share of the query that it covers: near 1 where it holds the rare
    words, near 0 where it shares a name or a preposition. Equal scores keep the given order.
    """

    def score(one: Signals) -> float:
        dense = 0.0 if one.dense_rank is None else 1 / (K + 1 + one.dense_rank)
        keyword = 0.0 if one.keyword_rank is None else 1 / (K + 1 + one.keyword_rank)
        return dense + one.coverage**2 * keyword

    if all(one.dense_rank is None for one in signals):  # no query vector: the leg's own order
        last = len(signals)
        return sorted(
            range(last),
            key=lambda place: last if (r := signals[place].keyword_rank) is None else r,
        )
    return sorted(range(len(signals)), key=lambda place: -score(signals[place]))
