"""What a value is: the facts that it needs, and those that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

Fact = tuple[str, str]
"""Kind and canonical form: ("date", "2027-03-05"), ("money", "50 BRL"), ("number", "1234.56")."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A value is supported by any fact of `accepts`, or else by one of each of `parts`.

    As evidence it adds `gives`: "5 March 2027" the date, its month, its year and the number 5.
    """

    accepts: frozenset[Fact]
    gives: frozenset[Fact]
    parts: tuple[frozenset[Fact], ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is written.

    One that is not `asserted` (the number of a list item, "an hour") claims nothing, but gives
    its facts.
    """

    surface: str
    facts: Facts
    asserted: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """A value in its place, before it has inherited from its neighbours.

    `facts` is set where the form alone decides them. Else `kind` with `amounts` (canonical
    numbers) and `unit`, or with `dates` (day, month, year) does; several stand for the readings of
    an ambiguous form. `marked` is set by a currency before the amount and by a "pm", which the
    neighbour in a range may share; `cell` by a place that gives the number a unit from elsewhere.
    """

    start: int
    end: int
    kind: str
    amounts: frozenset[str] = frozenset()
    unit: str = ""
    dates: tuple[tuple[int, int, int | None], ...] = ()
    facts: Facts | None = None
    marked: bool = False
    cell: bool = False
    spelled: bool = False
    asserted: bool = True


def plain(
    match: re.Match[str],
    kind: str,
    canonical: str,
    *more: Fact,
    parts: Iterable[Fact] = (),
    length: int | None = None,
) -> Found:
    """A value that is what it is: supported by its own fact alone, or by all `parts`.

    It gives `more` facts too. `length` cuts the match, where it took too much.
    """
    fact = (kind, canonical)
    facts = Facts(
        accepts=frozenset((fact,)),
        gives=frozenset((fact, *more)),
        parts=tuple(frozenset((part,)) for part in parts),
    )
    end = match.end() if length is None else match.start() + length
    return Found(match.start(), end, kind, facts=facts)
