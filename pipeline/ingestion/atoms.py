"""The parts of a block that a chunk keeps whole where it can."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.text.markdown import Block

_SENTENCE_END = re.compile(r"((?<=[.!?…])[)\]\"'”’»*_]*)(\s+)|(?<=[。！？])")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")

BLOCK = "\n\n"


@dataclass(frozen=True, slots=True)
class Atom:
    """A part that is not cut if it fits; if it doesn't, its ``parts`` are taken in its place.

    ``glue`` stands between it and the part before when both are in one chunk; `BLOCK` begins a
    block. ``opening`` and ``closing`` are lines that a chunk repeats around it: a table's header, a
    fence's marks. ``prose`` may be repeated at the start of the next chunk, and ``heading`` is not
    left at the end of one.
    """

    text: str
    glue: str = BLOCK
    opening: str = ""
    closing: str = ""
    prose: bool = False
    heading: bool = False
    parts: tuple[Atom, ...] = ()


def atoms(block: Block, lines: Sequence[str]) -> list[Atom]:
    """The atoms of one block of the text ``lines``."""
    own = lines[block.begin : block.end]
    while own and not own[-1].strip():
        own = own[:-1]
    if block.kind == "heading":
        return [Atom("\n".join(own), heading=True)]
    if block.kind == "table":
        return [_table(own)]
    if block.kind == "fence":
        return [_fence(own)]
    if block.kind == "list":
        return _list(block, lines, block.begin + len(own))
    if block.inner:
        return _lines(block, lines, block.begin, block.begin + len(own))
    return prose("\n".join(own))


def prose(text: str) -> list[Atom]:
    """The sentences of a paragraph."""
    made = []
    glue = BLOCK
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end(1) if match[2] else match.end()
        if end > begin:
            made.append(Atom(text[begin:end], glue, prose=True))
            glue = match[2] or ""
        begin = match.end()
    if text[begin:].strip():
        made.append(Atom(text[begin:].rstrip(), glue, prose=True))
    return made


def _list(block: Block, lines: Sequence[str], end: int) -> list[Atom]:
    """The items; one that is too long in lines, with its fences and tables whole."""
    begins = [block.begin, *block.items[1:]]
    return [
        Atom(
            "\n".join(lines[first:last]).rstrip(),
            BLOCK if first == block.begin else "\n",
            prose=True,
            parts=tuple(_lines(block, lines, first, last)),
        )
        for first, last in zip(begins, [*begins[1:], end], strict=True)
    ]


def _lines(block: Block, lines: Sequence[str], begin: int, end: int) -> list[Atom]:
    inner = {part.begin: part for part in block.inner if begin <= part.begin < end}
    made: list[Atom] = []
    place = begin
    while place < end:
        part = inner.get(place)
        if part:
            own = lines[part.begin : part.end]
            made.append(replace(_table(own) if part.kind == "table" else _fence(own), glue="\n"))
        elif lines[place].strip():
            made.append(Atom(lines[place].rstrip(), "\n", prose=True))
        place = max(part.end, place + 1) if part else place + 1
    return [replace(made[0], glue=BLOCK if begin == block.begin else "\n"), *made[1:]]


def _table(lines: Sequence[str]) -> Atom:
    header, rows = "\n".join(lines[:2]), lines[2:]
    if not rows:
        return Atom(header)
    return _whole(rows, opening=f"{header}\n")


def _fence(lines: Sequence[str]) -> Atom:
    mark = _FENCE.match(lines[0])
    if mark is None or len(lines) < 2:  # indented, quoted, or a mark and nothing else
        return _whole(lines)
    closed = lines[-1].strip().startswith(mark[1]) and not lines[-1].strip(" \t`~")
    body = lines[1:-1] if closed else lines[1:]
    last = lines[-1] if closed else mark[1]
    return _whole(body or [""], opening=f"{lines[0]}\n", closing=f"\n{last}")


def _whole(lines: Sequence[str], opening: str = "", closing: str = "") -> Atom:
    """Lines that belong together, and can be taken one by one."""
    parts = [Atom(line, "\n", opening, closing) for line in lines]
    return Atom(
        "\n".join(lines),
        opening=opening,
        closing=closing,
        parts=(replace(parts[0], glue=BLOCK), *parts[1:]),
    )
