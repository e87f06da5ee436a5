"""Packing atoms into chunks that stay under the token limit."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipeline.ingestion.atoms import Atom

CountTokens = Callable[[str], int]


LONGEST_TOKEN = 64
"""Characters. Text of more than this many per token of the limit is taken as too long uncounted,
so that a line of a megabyte isn't tokenised again and again."""

Fits = Callable[[Sequence[Atom]], bool]


def windows(
    prefix: str,
    groups: Sequence[Sequence[Atom]],
    *,
    count_tokens: CountTokens,
    limit: int,
    overlap: int,
) -> list[str]:
    """Texts made of ``groups`` in order, none of which is over ``limit`` tokens with ``prefix``.

    A group is a block; one without prose (a table, a fence) is cut only if it doesn't fit into a
    text of its own. A text begins with up to ``overlap`` tokens of the sentences that ended the
    one before.
    """

    def fits(atoms: Sequence[Atom]) -> bool:
        if sum(len(atom.text) for atom in atoms) > LONGEST_TOKEN * limit:
            return False
        return count_tokens(prefix + join(atoms)) <= limit

    units = [unit for group in groups for unit in _units(group, fits, limit)]
    made: list[list[Atom]] = []
    begin = 0
    while begin < len(units):
        end = _furthest(units, begin, fits)
        window = [atom for unit in units[begin:end] for atom in unit]
        made.append(_lead(made[-1], window, count_tokens, overlap, fits) if made else window)
        begin = end
    return [join(window) for window in made]


def _units(group: Sequence[Atom], fits: Fits, limit: int) -> Iterator[Sequence[Atom]]:
    """What is never cut: a table or fence that fits, else each atom, in pieces if need be."""
    if not group[0].prose and fits(group):
        yield group
        return
    for atom in group:
        for piece in _cut_to_size(atom, fits, limit):
            yield [piece]


def join(atoms: Sequence[Atom]) -> str:
    """The text of ``atoms``, with the lines that surround a table's or a fence's parts."""
    text = ""
    before: Atom | None = None
    for atom in atoms:
        same = (
            before is not None
            and (before.opening, before.closing) == (atom.opening, atom.closing)
            and atom.glue != "\n\n"
        )
        if before is not None:
            text += atom.glue if same else f"{before.closing}{_apart(before, atom)}"
        text += atom.text if same else f"{atom.opening}{atom.text}"
        before = atom
    return text + (before.closing if before is not None else "")


def _apart(before: Atom, atom: Atom) -> str:
    return "\n\n" if before.opening or atom.opening else atom.glue


def _furthest(units: Sequence[Sequence[Atom]], begin: int, fits: Fits) -> int:
    """The largest end such that ``units[begin:end]`` fit together, by doubling and bisection."""

    def together(end: int) -> bool:
        return fits([atom for unit in units[begin:end] for atom in unit])

    good, step = begin + 1, 1
    while good + step <= len(units) and together(good + step):
        good += step
        step *= 2
    bad = min(good + step, len(units) + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        if together(middle):
            good = middle
        else:
            bad = middle
    return good


def _lead(
    last: Sequence[Atom],
    window: Sequence[Atom],
    count_tokens: CountTokens,
    overlap: int,
    fits: Fits,
) -> list[Atom]:
    """``window`` with the sentences before it, as far as the overlap and the limit allow."""
    lead: list[Atom] = []
    if not window[0].prose:
        return list(window)
    for atom in reversed(last):
        longer = [atom, *lead]
        if not atom.prose or count_tokens(join(longer)) > overlap or not fits([*longer, *window]):
            break
        lead = longer
    return [*lead, *window]


def _cut_to_size(atom: Atom, fits: Fits, limit: int) -> Iterator[Atom]:
    """The atom, or pieces of it where it is over the limit alone: at spaces, else at characters."""
    rest = atom
    while not fits([rest]):
        end = _longest(rest, fits, limit)
        if end <= 0 or end >= len(rest.text):
            break
        yield replace(rest, text=rest.text[:end].rstrip() or rest.text[:end], prose=False)
        remaining = rest.text[end:].lstrip()
        if not remaining:
            return
        # What follows was one run of text: no paragraph begins here.
        rest = replace(rest, text=remaining, glue=" " if rest.text[end - 1].isspace() else "")
    yield rest


def _longest(atom: Atom, fits: Fits, limit: int) -> int:
    """Where to cut the atom's text so that the first piece fits: after a space if there is one."""
    good, bad = 1, min(len(atom.text), LONGEST_TOKEN * limit)
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits([replace(atom, text=atom.text[:middle])]):
            good = middle
        else:
            bad = middle
    space = max(atom.text.rfind(sign, 0, good) for sign in (" ", "\n", "\t"))
    if space > 0:
        return space + 1
    while good > 1 and unicodedata.combining(atom.text[good]):
        good -= 1
    return good
