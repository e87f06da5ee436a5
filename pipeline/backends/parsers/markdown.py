"""Markdown and MDX: front matter apart, the title found, a skill's parts told from one another."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from pipeline.backends.parsers import front_matter, mdx
from pipeline.backends.parsers.blocks import Block, blocks
from pipeline.backends.parsers.encoding import decode
from pipeline.errors import EmptyDocumentError, InvalidSkillError
from pipeline.text.sentences import sentences
from pipeline.text.tokens import words
from pipeline.types import Document, Track

_WHEN_TO_USE = (
    "quando usar",
    "quando utilizar",
    "when to use",
    "use when",
    "cuando usar",
    "cuando utilizar",
    "khi nao dung",
    "khi nao su dung",
    "khi nao can dung",
)
"""Beginnings of the heading over a skill's trigger sentences, folded."""


class MarkdownParser:
    """Parser of ``.md`` and ``.mdx``."""

    name = "markdown"

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser.

        Raises InvalidSkillError when a skill has no name, description or body.
        """
        metadata, text, warnings = front_matter.split(decode(data, path))
        if path.lower().endswith(".mdx"):
            text = mdx.strip(text)
        if not text.strip():
            raise EmptyDocumentError(f"{path} holds front matter and no text.")
        found = blocks(text)
        if track is Track.SKILL:
            return self._skill(path, text, found, metadata, warnings)
        first = next((block.title for block in found if block.kind == "heading"), "")
        title = _line(metadata.get("title")) or first or PurePosixPath(path).stem
        summary = _line(metadata.get("description") or metadata.get("summary"))
        if track is Track.PROJECT and not summary:
            summary = _first_paragraph(text, found)
        return Document(
            path=path,
            track=track,
            title=title,
            text=text,
            summary=summary,
            metadata=metadata,
            language=_line(metadata.get("lang") or metadata.get("language")),
            parser=self.name,
            warnings=warnings,
        )

    def _skill(
        self,
        path: str,
        text: str,
        found: list[Block],
        metadata: dict[str, Any],
        warnings: tuple[str, ...],
    ) -> Document:
        name = _line(metadata.get("name"))
        description = _line(metadata.get("description"))
        missing = [
            key for key, value in (("name", name), ("description", description)) if not value
        ]
        if missing:
            reason = f" {warnings[0]}" if warnings else ""
            raise InvalidSkillError(
                f"{path}: the front matter has no {' and no '.join(missing)}.{reason}"
            )
        triggers, body = _triggers(text, found)
        if not body.strip():
            raise InvalidSkillError(f"{path}: there is no procedure under the front matter.")
        first = next((block.title for block in found if block.kind == "heading"), "")
        return Document(
            path=path,
            track=Track.SKILL,
            title=_line(metadata.get("title")) or first or name,
            text=body,
            summary=description,
            triggers=triggers,
            metadata=metadata | {"name": name},
            language=_line(metadata.get("lang") or metadata.get("language")),
            parser=self.name,
            warnings=warnings,
        )


def _triggers(text: str, found: list[Block]) -> tuple[tuple[str, ...], str]:
    """The trigger sentences of a skill, and the text without their section."""
    lines = text.split("\n")
    for place, block in enumerate(found):
        if block.kind != "heading" or not _is_when_to_use(block.title):
            continue
        end = next(
            (
                later.begin
                for later in found[place + 1 :]
                if later.kind == "heading" and later.level <= block.level
            ),
            len(lines),
        )
        section = "\n".join(lines[block.end : end])
        return tuple(sentences(section)), "\n".join([*lines[: block.begin], *lines[end:]]).strip()
    return (), text.strip()


def _is_when_to_use(title: str) -> bool:
    return " ".join(words(title)).startswith(_WHEN_TO_USE)


def _first_paragraph(text: str, found: list[Block]) -> str:
    lines = text.split("\n")
    for block in found:
        if block.kind == "text":
            return _line(" ".join(lines[block.begin : block.end]))[:200]
    return ""


def _line(value: Any) -> str:
    """A metadata value as one line of text."""
    return " ".join(str(value).split()) if value not in (None, "") else ""
