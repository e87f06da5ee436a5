"""The structure of a markdown text, by a real markdown parser, with the lines of each part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Block:
    """A block of lines. ``kind`` is heading, fence, table, list or text.

    Lines count from 0 and ``end`` is exclusive. ``level`` is a heading's. ``words`` is the text of
    a heading or paragraph without its markup. ``items`` are the first lines of a list's items, and
    ``inner`` the fences and tables inside a list or a quotation.
    """

    kind: str
    begin: int
    end: int
    level: int = 0
    words: str = ""
    items: tuple[int, ...] = ()
    inner: tuple[Block, ...] = ()


_KINDS = {
    "fence": "fence",
    "code_block": "fence",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def blocks(text: str) -> list[Block]:
    """The top-level blocks of ``text`` in order. Only blank lines belong to none.

    What the parser takes for definitions, such as those of links, is text.
    """
    tokens = _parser().parse(text)
    opened = [
        place
        for place, token in enumerate(tokens)
        if token.level == 0 and token.map and token.nesting >= 0
    ]
    found = [_block(tokens[begin:end]) for begin, end in pairwise([*opened, len(tokens)])]
    return list(_with_gaps(found, text.split("\n")))


def statements(text: str) -> Iterator[tuple[bool, str]]:
    """(is in a list, words) of every paragraph and list item of ``text``, without markup."""
    depth = 0
    for token in _parser().parse(text):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "inline" and (words := _words(token)):
            yield depth > 0, words


def _block(tokens: Sequence[Token]) -> Block:
    """The block whose tokens these are, from its opening one on."""
    first = tokens[0]
    begin, end = first.map or (0, 0)
    if first.type == "heading_open":
        return Block("heading", begin, end, level=int(first.tag[1]), words=_words(tokens[1]))
    if first.type == "paragraph_open":
        return Block("text", begin, end, words=_words(tokens[1]))
    kind = _KINDS.get(first.type, "text")
    if kind in ("fence", "table"):
        return Block(kind, begin, end)
    return Block(
        kind,
        begin,
        end,
        items=tuple(
            token.map[0]
            for token in tokens
            if token.type == "list_item_open" and token.level == 1 and token.map
        ),
        inner=tuple(
            Block(_KINDS[token.type], token.map[0], token.map[1])
            for token in tokens[1:]
            if token.type in ("fence", "table_open") and token.map
        ),
    )


def _with_gaps(found: Sequence[Block], lines: Sequence[str]) -> Iterator[Block]:
    """``found`` with the lines between, which the parser has no token for, as text."""
    place = 0
    for block in [*found, Block("end", len(lines), len(lines))]:
        while place < block.begin:
            begin = place
            while place < block.begin and lines[place].strip():
                place += 1
            if place > begin:
                yield Block("text", begin, place, words=" ".join(lines[begin:place]))
            place = max(place, begin + 1)
        place = max(place, block.end)
        if block.kind != "end":
            yield block


def _words(inline: Token) -> str:
    """The text of an inline token, without its markup, on one line."""
    parts = []
    for child in inline.children or []:
        if child.type in ("text", "code_inline", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return " ".join("".join(parts).split())
