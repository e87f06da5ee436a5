"""The parts of a skill's text: the sentences that call for it, and the procedure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.errors import InvalidSkillError
from pipeline.text.markdown import Block, statements
from pipeline.text.sentences import MAX_CHARS, sentences
from pipeline.text.tokens import words

_WHEN_TO_USE = (
    "quando usar",
    "quando utilizar",
    "quando se usa",
    "quando acionar",
    "when to use",
    "when do i use",
    "when should",
    "use this when",
    "use when",
    "cuando usar",
    "cuando utilizar",
    "cuando se usa",
    "khi nao dung",
    "khi nao su dung",
    "khi nao can dung",
)
"""What stands in the heading over a skill's trigger sentences, folded."""


def split(text: str, found: Sequence[Block], path: str) -> tuple[tuple[str, ...], str]:
    """(trigger sentences, the text without their section) of a skill.

    Raises InvalidSkillError when nothing else is in the text: then there is nothing to follow.
    """
    lines = text.split("\n")
    begin, end = _section(found, len(lines))
    rest = [block for block in found if not begin <= block.begin < end]
    if all(block.kind == "heading" for block in rest):
        raise InvalidSkillError(f"{path}: it has no procedure, only triggers and headings.")
    body = "\n".join([*lines[:begin], *lines[end:]]).strip()
    return tuple(_triggers("\n".join(lines[begin:end]))), body


def _section(found: Sequence[Block], lines: int) -> tuple[int, int]:
    """The lines of the section, (0, 0) where there is none."""
    headings = [block for block in found if block.kind == "heading"]
    for place, heading in enumerate(headings):
        title = " ".join(words(heading.words))
        if any(sign in title for sign in _WHEN_TO_USE):
            ends = (b.begin for b in headings[place + 1 :] if b.level <= heading.level)
            return heading.begin, next(ends, lines)
    return 0, 0


def _triggers(section: str) -> Iterator[str]:
    """Each list item as it is, however short; the sentences of what is no list."""
    first = True
    for in_list, statement in statements(section):
        if first:  # the heading
            first = False
        elif in_list and len(statement) <= MAX_CHARS:
            yield statement
        else:
            yield from sentences(statement)
