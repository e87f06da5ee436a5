"""Files that a library converts to markdown: PDF, Word, PowerPoint, Excel, CSV and HTML."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from pipeline.backends.parsers import guard
from pipeline.backends.parsers.options import ParseOptions
from pipeline.errors import (
    MissingLibraryError,
    NoTextError,
    PermanentError,
    TransientError,
    UnreadableError,
)
from pipeline.text.markdown import blocks
from pipeline.text.normalise import normalise, says_something
from pipeline.types import Document, Track


@dataclass(frozen=True, slots=True)
class Converted:
    """``text`` is markdown; ``title`` is "" where the file says none.

    ``lost`` says which parts of the file are not in the text, ``warnings`` what else was odd.
    """

    text: str
    title: str = ""
    lost: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Converter(Protocol):
    """What a module of ``converters/`` offers."""

    def convert(self, data: bytes, path: str, options: ParseOptions) -> Converted:
        """Raises PermanentError for a file that no other converter could read either."""


class ConvertedParser:
    """Parser that asks converters in turn: the next one when one fails at a file.

    A second converter's work is noted as such: the document names the one that made it.
    """

    def __init__(self, converters: Sequence[str], options: ParseOptions) -> None:
        self._converters = tuple(converters)
        self._options = options
        self.name = "+".join(converters)

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser.

        Raises NoTextError for a file of pictures, MissingLibraryError when the extra ``documents``
        is not installed, UnreadableError when each converter failed, and what ``guard.check`` does.
        """
        guard.check(data, path, self._options)
        failures: list[str] = []
        for name in self._converters:
            try:
                found = _load(name).convert(data, path, self._options)
            except (PermanentError, TransientError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 - a library's own ways to fail are endless
                failures.append(f"{name} failed at it ({_sentence(error)})")
                continue
            text = normalise(found.text)
            if not says_something(text):
                raise NoTextError(f"{path} holds no text.")
            return Document(
                path=path,
                track=track,
                title=found.title or PurePosixPath(path).stem,
                text=text,
                parser=name,
                lost=found.lost,
                warnings=(*failures, *found.warnings),
            )
        raise UnreadableError(
            f"{path} can't be read: {'; '.join(failures)}. Open it and save it again."
        )


def _load(name: str) -> Converter:
    module = f"pipeline.backends.parsers.converters.{name}"
    try:
        loaded: Converter = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"The library {error.name} is not installed: pip install 'lastro[documents]'."
        ) from None
    return loaded


def _sentence(error: Exception) -> str:
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def first_heading(text: str) -> str:
    """The first of the highest headings of ``text``, which is markdown; "" where it has none."""
    headings = [block for block in blocks(text) if block.kind == "heading" and block.words]
    return min(headings, key=lambda block: block.level).words if headings else ""
