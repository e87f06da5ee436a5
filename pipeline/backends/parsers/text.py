"""Plain text: the file's name is its title, the rest is taken as it is."""

from __future__ import annotations

from pathlib import PurePosixPath

from pipeline.text.decode import decode
from pipeline.types import Document, Track


class TextParser:
    """Parser of ``.txt``."""

    name = "text"

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser."""
        return Document(
            path=path,
            track=track,
            title=PurePosixPath(path).stem,
            text=decode(data, path),
            parser=self.name,
        )
