"""The blocks of a markdown text, by a real markdown parser, with the lines that each one spans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block. ``kind`` is heading, fence, table, list, html or text.

    Lines count from 0 and ``end`` is exclusive. ``level`` and ``title`` are a heading's; ``html``
    is true for a block of tags.
    """

    kind: str
    begin: int
    end: int
    level: int = 0
    title: str = ""


_KINDS = {
    "fence": "fence",
    "code_block": "fence",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "html_block": "html",
}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def blocks(text: str) -> list[Block]:
    """The top-level blocks of ``text`` in order. Only blank lines belong to none.

    What the parser takes for definitions, such as those of links, is text.
    """
    tokens = _parser().parse(text)
    found = []
    for place, token in enumerate(tokens):
        if token.level != 0 or token.map is None or token.nesting < 0:
            continue
        begin, end = token.map
        if token.type == "heading_open":
            inline = tokens[place + 1]
            found.append(Block("heading", begin, end, int(token.tag[1]), plain(inline)))
        else:
            found.append(Block(_KINDS.get(token.type, "text"), begin, end))
    return _with_gaps(found, text.split("\n"))


def list_items(text: str) -> list[int]:
    """The lines on which the items of the list ``text`` begin."""
    return [
        token.map[0]
        for token in _parser().parse(text)
        if token.type == "list_item_open" and token.level == 1 and token.map
    ]


def _with_gaps(found: list[Block], lines: list[str]) -> list[Block]:
    whole = []
    place = 0
    for block in [*found, Block("end", len(lines), len(lines))]:
        while place < block.begin:
            if lines[place].strip():
                begin = place
                while place < block.begin and lines[place].strip():
                    place += 1
                whole.append(Block("text", begin, place))
            else:
                place += 1
        place = max(place, block.end)
        whole.append(block)
    return whole[:-1]


def plain(inline: Token) -> str:
    """The words of an inline token, without its markup."""
    parts = []
    for child in inline.children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
    return " ".join("".join(parts).split())
