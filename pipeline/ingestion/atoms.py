"""The parts of a block that a chunk keeps whole where it can."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.backends.parsers.blocks import Block, list_items

_SENTENCE_END = re.compile(r"(?<=[.!?…])[)\]\"'”’»*_]*\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Atom:
    """A part that is not cut if it fits.

    ``glue`` stands between it and the part before when both are in one chunk. ``opening`` and
    ``closing`` are lines that a chunk repeats around it: a table's header, a fence's marks.
    ``prose`` parts may be repeated at the start of the next chunk.
    """

    text: str
    glue: str
    opening: str = ""
    closing: str = ""
    prose: bool = False


def atoms(block: Block, text: str) -> list[Atom]:
    """The atoms of one block, whose source is ``text``."""
    if block.kind == "table":
        return _table(text)
    if block.kind == "fence":
        return _fence(text)
    if block.kind == "list":
        return _list(text)
    return _prose(text)


def _prose(text: str) -> list[Atom]:
    found = []
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        found.append((text[begin : match.end()].rstrip(), _gap(text[: match.end()])))
        begin = match.end()
    if text[begin:].strip():
        found.append((text[begin:].rstrip(), ""))
    glue = "\n\n"
    made = []
    for sentence, gap in found:
        made.append(Atom(sentence, glue, prose=True))
        glue = gap
    return made


def _gap(text: str) -> str:
    """The white space at the end of ``text``: it stays between two sentences of one chunk."""
    return text[len(text.rstrip()) :]


def _list(text: str) -> list[Atom]:
    lines = text.rstrip("\n").split("\n")
    begins = list_items(text) or [0]
    begins[0] = 0
    ends = [*begins[1:], len(lines)]
    return [
        Atom("\n".join(lines[begin:end]).rstrip(), "\n\n" if place == 0 else "\n", prose=True)
        for place, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]


def _table(text: str) -> list[Atom]:
    header, separator, *rows = text.rstrip("\n").split("\n")
    opening = f"{header}\n{separator}\n"
    if not rows:
        return [Atom(f"{header}\n{separator}", "\n\n")]
    return [
        Atom(row, "\n\n" if place == 0 else "\n", opening=opening) for place, row in enumerate(rows)
    ]


def _fence(text: str) -> list[Atom]:
    lines = text.rstrip("\n").split("\n")
    mark = re.match(r"\s*(`{3,}|~{3,})", lines[0])
    if mark is None:  # indented code
        return [
            Atom(line, "\n\n" if place == 0 else "\n") for place, line in enumerate(lines) if line
        ]
    closed = len(lines) > 1 and lines[-1].strip().startswith(mark[1])
    body = lines[1:-1] if closed else lines[1:]
    opening, closing = f"{lines[0]}\n", f"\n{mark[1]}"
    return [
        Atom(line, "\n\n" if place == 0 else "\n", opening=opening, closing=closing)
        for place, line in enumerate(body or [""])
    ]
