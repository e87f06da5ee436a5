"""Packing atoms into chunks that stay under the token limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipeline.ingestion.atoms import BLOCK, Atom
from pipeline.ingestion.cut import cut, furthest

CountTokens = Callable[[str], int]

LONGEST_TOKEN = 64
"""Characters. Text of more than this many per token of the limit is taken as too long uncounted,
so that a line of a megabyte isn't tokenised again and again."""

LEAST_RUN = 1 / 8
"""Share of the limit. Prose without sentence ends is cut into runs as long as the overlap, so that
chunks of it overlap too, but into none shorter than this."""


class Packer:
    """Makes texts that with ``prefix`` have at most ``limit`` tokens, and share ``overlap``."""

    def __init__(self, prefix: str, count_tokens: CountTokens, limit: int, overlap: int) -> None:
        self._prefix = prefix
        self._count_tokens = count_tokens
        self._limit = limit
        self._overlap = overlap

    def pack(self, atoms: Sequence[Atom]) -> list[str]:
        """Texts made of ``atoms`` in order.

        An atom with parts is cut only if it doesn't fit into a text of its own. Before prose, a
        text begins with the sentences that ended the one before, as far as the overlap allows.
        """
        units = [unit for atom in atoms for unit in self._units(atom)]
        made: list[list[Atom]] = []
        begin = 0
        while begin < len(units):
            lead = self._lead(made[-1], units[begin]) if made else []
            count = self._furthest(lead, units, begin)
            made.append([*lead, *units[begin : begin + count]])
            begin += count
        return [join(window) for window in made]

    def _fits(self, text: str, limit: int = 0) -> bool:
        limit = limit or self._limit
        return (
            len(text) <= LONGEST_TOKEN * limit and self._count_tokens(self._prefix + text) <= limit
        )

    def _units(self, atom: Atom) -> Iterator[Atom]:
        """The atom if it fits, else its parts, else pieces of it."""
        if self._fits(join([atom])):
            yield atom
        elif not self._fits(atom.opening + atom.closing, self._limit // 2):
            # A header that fills the chunk is no header: it is taken as the first of the lines.
            yield from self._units(Atom(atom.opening.strip("\n"), atom.glue))
            for part in atom.parts or (atom,):
                yield from self._units(replace(part, glue="\n", opening="", closing=""))
        elif atom.parts:
            for part in atom.parts:
                yield from self._units(part)
        else:
            yield from self._pieces(atom)

    def _pieces(self, atom: Atom) -> Iterator[Atom]:
        run = max(self._overlap, int(self._limit * LEAST_RUN))

        def fits(text: str) -> bool:
            return self._fits(join([replace(atom, text=text)]))

        def wanted(text: str) -> bool:
            overlaps = atom.prose and self._overlap
            return fits(text) and not (overlaps and self._count_tokens(text) > run)

        first = True
        for gap, piece in cut(atom.text, wanted, fits):
            yield replace(atom, text=piece, glue=atom.glue if first else gap)
            first = False

    def _lead(self, last: Sequence[Atom], following: Atom) -> list[Atom]:
        """The sentences at the end of ``last`` that are repeated before ``following``."""
        lead: list[Atom] = []
        if not following.prose:
            return lead
        for atom in reversed(last[1:]):
            longer = [atom, *lead]
            if not atom.prose or self._count_tokens(join(longer)) > self._overlap:
                break
            lead = longer
        while lead and not self._fits(join([*lead, following])):
            lead = lead[1:]
        return lead

    def _furthest(self, lead: Sequence[Atom], units: Sequence[Atom], begin: int) -> int:
        """How many of ``units`` from ``begin`` on fit behind ``lead``, no heading last."""

        def fits(count: int) -> bool:
            return self._fits(join([*lead, *units[begin : begin + count]]))

        count = max(furthest(fits, len(units) - begin), 1)
        full = count
        while begin + full < len(units) and count > 1 and units[begin + count - 1].heading:
            count -= 1
        return count if not units[begin + count - 1].heading else full


def join(atoms: Sequence[Atom]) -> str:
    """The text of ``atoms``, with the lines that surround a table's or a fence's parts."""
    text = ""
    before: Atom | None = None
    for atom in atoms:
        if before is None:
            text = atom.opening + atom.text
        elif (before.opening, before.closing) == (atom.opening, atom.closing) and (
            atom.glue != BLOCK
        ):
            text += atom.glue + atom.text
        else:
            # Around a table or fence a blank line, whatever stood there.
            glue = BLOCK if before.opening or atom.opening else atom.glue
            text += before.closing + glue + atom.opening + atom.text
        before = atom
    return text + (before.closing if before is not None else "")
