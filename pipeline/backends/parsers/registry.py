"""Which parser reads which file."""

from __future__ import annotations

from pathlib import PurePosixPath

from pipeline.backends.parsers.markdown import MarkdownParser
from pipeline.backends.parsers.text import TextParser
from pipeline.errors import UnsupportedFormatError
from pipeline.ports import Parser

_PARSERS: dict[str, type[Parser]] = {
    ".md": MarkdownParser,
    ".mdx": MarkdownParser,
    ".txt": TextParser,
}

SUPPORTED = tuple(_PARSERS)
"""The endings of files that can be ingested, in lower case."""


def for_path(path: str) -> Parser:
    """The parser of a file by its ending. Raises UnsupportedFormatError that names the endings."""
    ending = PurePosixPath(path).suffix.lower()
    if ending not in _PARSERS:
        raise UnsupportedFormatError(
            f"{path}: no parser for {ending or 'a file without an ending'}. "
            f"Supported: {', '.join(SUPPORTED)}."
        )
    return _PARSERS[ending]()
