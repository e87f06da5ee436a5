"""Stage 2: a document cut into chunks.

First by headings (``#`` and ``##``, deeper ones only where a section is too long), then by a token
window over the section's parts: paragraphs by sentence, lists by item, tables by row with their
header repeated, fences by line. A part is cut inside only when it alone is over the limit. A
section's chunks depend on nothing outside it but its heading path, so an edit elsewhere leaves
them, and their vectors, as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.backends.parsers.blocks import Block, blocks
from pipeline.ingestion.atoms import atoms
from pipeline.ingestion.window import CountTokens, windows
from pipeline.text.normalise import content_hash
from pipeline.text.sentences import sentences
from pipeline.types import Chunk, Document, Track

SPLIT_AT = 2
"""Headings down to this level always begin a new section; deeper ones only in a long section."""

DEEPEST = 6
PATH_SIGN = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under one heading, with the path of headings that is in force there."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


def chunk(
    document: Document, *, count_tokens: CountTokens, limit: int, overlap: int
) -> list[Chunk]:
    """The chunks of ``document`` in order; language is left to the caller.

    No chunk's search text is over ``limit`` by ``count_tokens``. Windows of one section share up
    to ``overlap`` tokens of whole sentences.
    """
    if document.track is Track.SKILL:
        return [_skill(document, count_tokens)]
    lines = document.text.split("\n")
    pieces = [
        (section.path, text)
        for section in _sections(document, lines, count_tokens, limit)
        for text in _texts(section, lines, document, count_tokens, limit, overlap)
    ]
    return [
        _chunk(ordinal, document, path, text, count_tokens)
        for ordinal, (path, text) in enumerate(pieces)
    ]


def _skill(document: Document, count_tokens: CountTokens) -> Chunk:
    """A skill is one chunk: found by description and triggers, followed by its body."""
    search_text = "\n".join([document.title, document.summary, *document.triggers])
    return Chunk(
        ordinal=0,
        heading="",
        text=document.text,
        search_text=search_text,
        sentences=(*sentences(document.summary), *document.triggers),
        language="",
        token_count=count_tokens(search_text),
        content_hash=content_hash(search_text, document.text),
    )


def _chunk(
    ordinal: int,
    document: Document,
    path: Sequence[str],
    text: str,
    count_tokens: CountTokens,
) -> Chunk:
    search_text = _prefix(document, path) + text
    return Chunk(
        ordinal=ordinal,
        heading=PATH_SIGN.join(path),
        text=text,
        search_text=search_text,
        sentences=tuple(sentences(text)),
        language="",
        token_count=count_tokens(search_text),
        content_hash=content_hash(search_text, text),
    )


LONGEST_PREFIX = 200
"""Characters. The beginning of a longer heading path is cut: a chunk is there for its text."""


def _prefix(document: Document, path: Sequence[str]) -> str:
    """Title and heading path, as they stand before the text that is embedded."""
    named = list(path)
    from_file_name = document.title == PurePosixPath(document.path).stem
    if document.title not in named and not from_file_name:
        named.insert(0, document.title)
    return PATH_SIGN.join(named)[-LONGEST_PREFIX:] + "\n" if named else ""


def _sections(
    document: Document, lines: Sequence[str], count_tokens: CountTokens, limit: int
) -> Iterator[Section]:
    for section in _split(blocks(document.text), (), SPLIT_AT):
        yield from _refine(section, document, lines, count_tokens, limit, SPLIT_AT + 1)


def _refine(
    section: Section,
    document: Document,
    lines: Sequence[str],
    count_tokens: CountTokens,
    limit: int,
    level: int,
) -> Iterator[Section]:
    """Split a section that is too long at the next deeper level of headings."""
    text = _prefix(document, section.path) + _source(section.blocks, lines)
    if level > DEEPEST or not _has_heading(section) or count_tokens(text) <= limit:
        yield section
        return
    for part in _split(section.blocks, section.path, level):
        yield from _refine(part, document, lines, count_tokens, limit, level + 1)


def _has_heading(section: Section) -> bool:
    return any(block.kind == "heading" for block in section.blocks)


def _split(found: Sequence[Block], base: tuple[str, ...], level: int) -> list[Section]:
    """Sections at headings down to ``level``; a heading with nothing under it stays findable."""
    made: list[Section] = []
    stack: list[tuple[int, str]] = []
    under: list[Block] = []
    pending = ""  # a title that has no text yet and may get none

    def close() -> None:
        nonlocal pending
        if under:
            made.append(Section((*base, *(title for _, title in stack)), tuple(under)))
            under.clear()
            pending = ""

    for block in found:
        if block.kind != "heading" or block.level > level:
            under.append(block)
            continue
        close()
        if not block.title:
            continue  # an empty heading ends nothing and names nothing
        if pending and stack and block.level <= stack[-1][0]:
            made.append(Section((*base, *(title for _, title in stack)), ()))
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        stack.append((block.level, block.title))
        pending = block.title
    close()
    if pending:
        made.append(Section((*base, *(title for _, title in stack)), ()))
    return made


def _texts(
    section: Section,
    lines: Sequence[str],
    document: Document,
    count_tokens: CountTokens,
    limit: int,
    overlap: int,
) -> list[str]:
    if not section.blocks:
        return [section.path[-1]]
    prefix = _prefix(document, section.path)
    groups = [atoms(block, "\n".join(lines[block.begin : block.end])) for block in section.blocks]
    return windows(
        prefix,
        [group for group in groups if group],
        count_tokens=count_tokens,
        limit=limit,
        overlap=overlap,
    )


def _source(found: Sequence[Block], lines: Sequence[str]) -> str:
    return "\n".join(lines[found[0].begin : found[-1].end])
