"""A document's sections, by its headings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.text.markdown import Block, blocks

SPLIT_AT = 2
"""Headings down to this level always begin a new section; deeper ones only in a long section."""

DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under one heading, their source, and the path of headings that is in force there.

    A heading with nothing under it, not even a deeper heading, is a section without blocks.
    """

    path: tuple[str, ...]
    blocks: tuple[Block, ...]
    source: str


def sections(text: str, is_long: Callable[[Section], bool]) -> Iterator[Section]:
    """The sections of ``text`` in order, those that are long split at ever deeper headings."""
    lines = text.split("\n")
    for section in _split(blocks(text), lines, (), SPLIT_AT):
        yield from _refine(section, lines, is_long, SPLIT_AT + 1)


def _refine(
    section: Section, lines: Sequence[str], is_long: Callable[[Section], bool], level: int
) -> Iterator[Section]:
    headings = [block.level for block in section.blocks if block.kind == "heading"]
    if level > DEEPEST or not headings or not is_long(section):
        yield section
        return
    level = max(level, min(headings))
    for part in _split(section.blocks, lines, section.path, level):
        yield from _refine(part, lines, is_long, level + 1)


def _split(
    found: Sequence[Block], lines: Sequence[str], base: tuple[str, ...], level: int
) -> Iterator[Section]:
    stack: list[tuple[int, str]] = []  # the headings in force
    under: list[Block] = []

    def section() -> Section:
        source = "\n".join(lines[under[0].begin : under[-1].end]) if under else ""
        return Section((*base, *(title for _, title in stack)), tuple(under), source)

    bare = False  # the last heading has nothing under it yet
    for block in found:
        if block.kind != "heading" or block.level > level:
            under.append(block)
            bare = False
            continue
        if under:
            yield section()
            under.clear()
        if not block.words:
            continue  # an empty heading names nothing: what follows stays under the one before
        if bare and block.level <= stack[-1][0]:
            yield section()
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        stack.append((block.level, block.words))
        bare = True
    if under or bare:
        yield section()
