"""The parser of a file, made by the name that ``formats`` has for its ending."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline import formats
from pipeline.backends.parsers.converted import ConvertedParser
from pipeline.backends.parsers.markdown import MarkdownParser
from pipeline.backends.parsers.options import ParseOptions
from pipeline.backends.parsers.text import TextParser
from pipeline.errors import SettingsError, UnsupportedFormatError
from pipeline.ports import Parser
from pipeline.settings import Settings

_PLAIN: dict[str, Callable[[], Parser]] = {"markdown": MarkdownParser, "text": TextParser}


@dataclass(frozen=True, slots=True)
class Parsers:
    """The parsers of a configuration: ``choices`` by ending."""

    choices: Mapping[str, str]
    options: ParseOptions

    @property
    def supported(self) -> tuple[str, ...]:
        """The endings of files that can be ingested, in lower case."""
        return tuple(self.choices)

    def for_path(self, path: str) -> Parser:
        """The parser of a file by its ending.

        Raises UnsupportedFormatError that names the endings that there are.
        """
        choice = self._choice(path)
        if choice in _PLAIN:
            return _PLAIN[choice]()
        if ":" in choice:
            return _imported(choice)
        return ConvertedParser(choice.split("+"), self.options)

    def is_plain(self, path: str) -> bool:
        """Whether the file is text that is read as it stands, too cheap to keep the result of."""
        return self._choice(path) in _PLAIN

    def _choice(self, path: str) -> str:
        ending = PurePosixPath(path).suffix.lower()
        if ending not in self.choices:
            raise UnsupportedFormatError(
                f"{path}: no parser for {ending or 'a file without an ending'}. "
                f"Supported: {', '.join(self.supported)}."
            )
        return self.choices[ending]


def configured(settings: Settings) -> Parsers:
    """The parsers that ``settings`` ask for. Raises SettingsError that names what is wrong."""
    choices = formats.choices(
        settings.parsers, with_layout_models=settings.docling_artifacts is not None
    )
    options = ParseOptions(
        pages=settings.parse_max_pages,
        inflated_bytes=settings.parse_max_inflated_bytes,
        docling_artifacts=settings.docling_artifacts,
    )
    return Parsers(choices, options)


def _imported(choice: str) -> Parser:
    module, _, name = choice.partition(":")
    try:
        made: Parser = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"LASTRO_PARSERS names {choice}, and {error}.") from None
    return made
