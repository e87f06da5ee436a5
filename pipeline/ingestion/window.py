"""Packing atoms into chunks that stay under the token limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from pipeline.ingestion.atoms import BLOCK, Atom
from pipeline.ingestion.cut import cut, furthest

CountTokens = Callable[[str], int]

LONGEST_TOKEN = 16
"""Characters. Text of more than this many per token of the limit is taken as too long uncounted:
counting takes microseconds per character, and a line may have a million."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """An atom that is not cut, and its tokens without what stands around it."""

    atom: Atom
    tokens: int


class Packer:
    """Makes texts that with ``prefix`` have at most ``limit`` tokens, and share ``overlap``."""

    def __init__(self, prefix: str, count_tokens: CountTokens, limit: int, overlap: int) -> None:
        self._prefix = prefix
        self._count_tokens = count_tokens
        self._limit = limit
        self._overlap = overlap
        self._frames: dict[str, int] = {}

    def pack(self, atoms: Sequence[Atom]) -> list[str]:
        """Texts made of ``atoms`` in order.

        An atom with parts is cut only if it doesn't fit into a text of its own. Before prose, a
        text begins with the sentences that ended the one before, as far as the overlap allows.
        """
        whole = join(atoms)
        if atoms and self._tokens(whole) <= self._limit:
            return [whole]
        units = [unit for atom in atoms for unit in self._units(atom)]
        made: list[list[_Unit]] = []
        begin = 0
        while begin < len(units):
            lead = self._lead(made[-1], units[begin]) if made else []
            count = self._furthest(lead, units, begin)
            made.append([*lead, *units[begin : begin + count]])
            begin += count
        return [_text(window) for window in made]

    def is_long(self, text: str) -> bool:
        """Whether ``text`` doesn't fit into one chunk."""
        return self._tokens(text) > self._limit

    def _tokens(self, text: str) -> int:
        if len(text) > LONGEST_TOKEN * self._limit:
            return len(text)
        return self._count_tokens(self._prefix + text)

    def _frame(self, atom: Atom) -> int:
        """Tokens of what stands around the atom: prefix, opening and closing."""
        around = atom.opening + atom.closing
        if around not in self._frames:
            self._frames[around] = self._tokens(around)
        return self._frames[around]

    def _units(self, atom: Atom) -> Iterator[_Unit]:
        """The atom if it fits, else its parts, else pieces of it."""
        frame = self._frame(atom)
        if frame > self._limit // 2 and (atom.opening or atom.closing):
            # A header that fills the chunk is no header: it is taken as the first of the lines.
            yield from self._units(Atom(atom.opening.strip("\n"), atom.glue))
            for part in atom.parts or (atom,):
                yield from self._units(replace(part, glue="\n", opening="", closing=""))
            return
        tokens = self._tokens(join([atom]))
        if tokens <= self._limit:
            yield _Unit(atom, tokens - frame)
        elif atom.parts:
            for part in atom.parts:
                yield from self._units(part)
        else:
            yield from self._pieces(atom)

    def _pieces(self, atom: Atom) -> Iterator[_Unit]:
        """Runs of the atom's words. Of prose they are short, so that chunks of it overlap too."""
        frame = self._frame(atom)
        run = max(self._limit // 8, min(self._overlap, self._limit // 4))
        wanted_tokens = frame + run - self._count_tokens("") if atom.prose else self._limit

        def tokens(text: str) -> int:
            return self._tokens(join([replace(atom, text=text)]))

        pieces = cut(
            atom.text,
            lambda text: tokens(text) <= wanted_tokens,
            lambda text: tokens(text) <= self._limit,
        )
        for place, (gap, piece) in enumerate(pieces):
            part = replace(atom, text=piece, glue=gap if place else atom.glue)
            yield _Unit(part, tokens(piece) - frame)

    def _lead(self, last: Sequence[_Unit], following: _Unit) -> list[_Unit]:
        """The sentences at the end of ``last`` that are repeated before ``following``."""
        lead: list[_Unit] = []
        if not following.atom.prose:
            return lead
        tokens = 0
        for unit in reversed(last[1:]):
            tokens += unit.tokens
            if not unit.atom.prose or tokens > self._overlap:
                break
            lead.insert(0, unit)
        while lead and (
            self._count_tokens(_text(lead)) > self._overlap
            or self._tokens(_text([*lead, following])) > self._limit
        ):
            del lead[0]
        return lead

    def _furthest(self, lead: Sequence[_Unit], units: Sequence[_Unit], begin: int) -> int:
        """How many of ``units`` from ``begin`` on fit behind ``lead``, no heading last."""

        def fits(count: int) -> bool:
            return self._tokens(_text([*lead, *units[begin : begin + count]])) <= self._limit

        room = self._limit - self._frame(units[begin].atom) - sum(unit.tokens for unit in lead)
        guess = 0
        for tokens in accumulate(unit.tokens for unit in units[begin : begin + self._limit]):
            if tokens > room:
                break
            guess += 1
        fitting = count = max(furthest(fits, len(units) - begin, guess), 1)
        if begin + fitting < len(units):
            while count > 1 and units[begin + count - 1].atom.heading:
                count -= 1
        return fitting if units[begin + count - 1].atom.heading else count


def _text(units: Sequence[_Unit]) -> str:
    return join([unit.atom for unit in units])


def join(atoms: Sequence[Atom]) -> str:
    """The text of ``atoms``, with the lines that surround a table's or a fence's parts."""
    parts: list[str] = []
    before: Atom | None = None
    for atom in atoms:
        if before is None:
            parts += [atom.opening, atom.text]
        elif (before.opening, before.closing) == (atom.opening, atom.closing) and (
            atom.glue != BLOCK
        ):
            parts += [atom.glue, atom.text]
        else:
            # Around a table or fence a blank line, whatever stood there.
            glue = BLOCK if before.opening or atom.opening else atom.glue
            parts += [before.closing, glue, atom.opening, atom.text]
        before = atom
    return "".join([*parts, before.closing if before else ""])
