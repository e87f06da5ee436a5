"""What parsers made of files, kept on disk: the same bytes are converted once.

A file per entry, named by a hash of all that the result depends on: the bytes, the path, the track
and the version of the parser. Nothing depends on a clock, so a file whose time lies is no trouble.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import structlog

from pipeline.backends.parsers.registry import Parsers
from pipeline.ports import Parser
from pipeline.text.normalise import content_hash
from pipeline.types import Document, Track
from pipeline.worker import parsed_json

log = structlog.get_logger(__name__)

FORM = 1
"""Raised with every change to what the converters make of a file."""

_LIBRARIES = ("docling-slim", "docling", "markitdown", "pypdfium2")
_KEPT = 0.8
"""Share of the limit that is left after a clean-up, so that not every new entry needs one."""


class ParseCache:
    """Parser that asks ``parser`` only for what isn't in ``folder``, which holds ``max_bytes``.

    Plain text is never kept: reading it takes no longer. A folder that can't be written to costs a
    warning, no document.
    """

    name = "cache"

    def __init__(self, parser: Parser, parsers: Parsers, folder: Path, max_bytes: int) -> None:
        self._parser = parser
        self._parsers = parsers
        self._folder = folder
        self._max_bytes = max_bytes
        self._versions = json.dumps([FORM, dict(_versions()), repr(parsers)], sort_keys=True)

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser. A file that can't be parsed is tried again each time."""
        if self._parsers.is_plain(path):
            return self._parser.parse(data, path, track)
        entry = self._folder / f"{content_hash(data, path, track, self._versions)}.json"
        try:
            kept = parsed_json.document(json.loads(entry.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):
            made = self._parser.parse(data, path, track)
            self._keep(entry, made)
            return made
        with contextlib.suppress(OSError):
            os.utime(entry)  # the least recently used ones go first
        return kept

    def _keep(self, entry: Path, made: Document) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._folder, suffix=".part", delete=False
            ) as part:
                json.dump(parsed_json.as_json(made), part)
            Path(part.name).replace(entry)
            self._make_room()
        except OSError as error:
            log.warning("parse_cache_unwritable", folder=str(self._folder), reason=str(error))

    def _make_room(self) -> None:
        """Remove the entries that were not used for longest, once there is too much."""
        entries = sorted(_entries(self._folder))
        size = sum(bytes_of for _, bytes_of, _ in entries)
        if size <= self._max_bytes:
            return
        for _, bytes_of, file in entries:
            if size <= self._max_bytes * _KEPT:
                return
            with contextlib.suppress(FileNotFoundError):  # another worker was faster
                file.unlink()
            size -= bytes_of


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """(last use, bytes, place) of each file."""
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            status = file.stat()
            yield status.st_mtime, status.st_size, file


def _versions() -> Iterator[tuple[str, str]]:
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            yield name, importlib.metadata.version(name)
