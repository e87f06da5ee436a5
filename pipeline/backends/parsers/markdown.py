"""Markdown and MDX: front matter apart, the title found, a skill's parts told from one another."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from pipeline.backends.parsers import front_matter, mdx, skill
from pipeline.errors import EmptyDocumentError, InvalidSkillError
from pipeline.text.decode import decode
from pipeline.text.markdown import Block, blocks
from pipeline.text.normalise import says_something
from pipeline.types import Document, Track

LONGEST_SUMMARY = 200
"""Characters of a first paragraph that stands in for a summary."""


class MarkdownParser:
    """Parser of ``.md`` and ``.mdx``.

    The title is the front matter's, else the first ``#`` heading, else the file's name. A skill
    must name itself: its name is what answers cite and reports count, and a renamed folder must
    not change it.
    """

    name = "markdown"

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser.

        Raises InvalidSkillError when a skill has no name, description or procedure.
        """
        metadata, text, warnings = front_matter.split(decode(data, path))
        if path.lower().endswith(".mdx"):
            text = mdx.strip(text)
        if not says_something(text):
            raise EmptyDocumentError(f"{path} holds front matter and no text.")
        found = blocks(text)
        summary = _line(metadata, "description") or _line(metadata, "summary")
        triggers: tuple[str, ...] = ()
        name = PurePosixPath(path).stem
        if track is Track.SKILL:
            name = _skill_name(metadata, path, warnings)
            triggers, text = skill.split(text, found, path)
        elif track is Track.PROJECT and not summary:
            summary = _first_paragraph(found)
        return Document(
            path=path,
            track=track,
            title=_line(metadata, "title") or _first_heading(found) or name,
            text=text,
            summary=summary,
            triggers=triggers,
            metadata=metadata,
            language=_line(metadata, "lang") or _line(metadata, "language"),
            parser=self.name,
            warnings=warnings,
        )


def _skill_name(metadata: dict[str, Any], path: str, warnings: Sequence[str]) -> str:
    missing = [key for key in ("name", "description") if not _line(metadata, key)]
    if missing:
        raise InvalidSkillError(
            " ".join([f"{path}: the front matter has no {' and no '.join(missing)}.", *warnings])
        )
    metadata["name"] = _line(metadata, "name")
    return str(metadata["name"])


def _first_heading(found: Sequence[Block]) -> str:
    return next((b.words for b in found if b.kind == "heading" and b.level == 1), "")


def _first_paragraph(found: Sequence[Block]) -> str:
    words = next((block.words for block in found if block.kind == "text" and block.words), "")
    return textwrap.shorten(words, LONGEST_SUMMARY, placeholder=" …")


def _line(metadata: dict[str, Any], key: str) -> str:
    """A metadata value as one line of text."""
    value = metadata.get(key)
    return "" if value is None else " ".join(str(value).split())
