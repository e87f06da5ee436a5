"""The dense and the keyword leg in one order: reciprocal ranks, the keyword leg by its merit."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.inference.signals import Signals

K = 60
"""Damping of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


def fuse(signals: Sequence[Signals]) -> list[int]:
    """Places of ``signals`` in fused order, best first.

    The score is 1 / (K + dense rank) + coverage² / (K + keyword rank), ranks from 1 among all of
    ``signals``: what only one leg returned has its rank in the other too, since both of its values
    are known. No cosine and no shared term add nothing. Plain fusion trusts both legs alike, and
    across languages, where the keyword leg has only noise, it ruins what the dense leg had right.
    A keyword hit counts by the square of the share of the query that it covers: near 1 where it
    holds the rare words, near 0 where it shares a name or a preposition. Without a query vector
    the keyword leg keeps its order. Equal scores keep the given order.
    """
    dense = _ranks([one.dense for one in signals])
    keyword = _ranks([one.bm25 or None for one in signals])

    def score(place: int) -> float:
        merit = signals[place].coverage ** 2 if dense else 1.0
        from_dense = 1 / (K + dense[place]) if place in dense else 0.0
        return from_dense + (merit / (K + keyword[place]) if place in keyword else 0.0)

    return sorted(range(len(signals)), key=lambda place: -score(place))


def _ranks(values: Sequence[float | None]) -> dict[int, int]:
    """The rank, from 1 for the highest, of each place that has a value."""
    found = [(-value, place) for place, value in enumerate(values) if value is not None]
    return {place: rank for rank, (_, place) in enumerate(sorted(found), start=1)}
