"""Files that come in over the API: into the content folder, whole or not at all."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pipeline.errors import (
    ConflictError,
    FileTooLargeError,
    ForbiddenPathError,
    UnsupportedFormatError,
)
from pipeline.ingestion import folder
from pipeline.ingestion.parse import locate

_PIECE = 1 << 20
_READABLE = 0o644
"""Other accounts, such as a worker's, may read it."""


def checked(path: str, supported: Collection[str]) -> str:
    """``path`` in NFC, if a file there would be ingested.

    Raises ForbiddenPathError, or UnsupportedFormatError that names the endings that are.
    """
    path = unicodedata.normalize("NFC", path)
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or str(PurePosixPath(path)) != path:
        raise ForbiddenPathError(f"{path!r} is not a plain path inside the content folder.")
    for part in parts:
        if folder.is_hidden(part) or not folder.is_text(part) or len(part.encode()) > 255:
            raise ForbiddenPathError(f"{part!r} is no name for a file that is to be found.")
    reason = folder.refused(parts, folder.track_of(path), supported)
    if len(parts) < 2 or reason is None:
        reason = "not a file of the content"
    if reason:
        raise UnsupportedFormatError(f"{path} would not be ingested: {reason}.")
    return path


def write(root: Path, path: str, data: BinaryIO, *, max_bytes: int) -> None:
    """Put ``data`` at ``path``, which is ``checked``, in place of what is there.

    Raises FileTooLargeError, ForbiddenPathError where a link leads elsewhere, and ConflictError
    when the folder can't be written to.
    """
    place = root.resolve().joinpath(*PurePosixPath(path).parts)
    _refuse_links(root.resolve(), place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Hidden, so that no run takes it for content before it has its name.
        descriptor, part = tempfile.mkstemp(prefix=".upload-", dir=place.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                _copy(data, file, path, max_bytes)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), _READABLE)
            Path(part).replace(place)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from None


def remove(root: Path, path: str) -> None:
    """Remove the file at ``path``.

    Raises NotFoundError, ForbiddenPathError, and ConflictError when the folder can't be written to.
    """
    place = locate(root, path, follow_links=False)
    try:
        place.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _copy(data: BinaryIO, file: BinaryIO, path: str, max_bytes: int) -> None:
    size = 0
    while piece := data.read(_PIECE):
        size += len(piece)
        if size > max_bytes:
            raise FileTooLargeError(
                f"{path} has more than {max_bytes:,} bytes: split it, or raise "
                "LASTRO_MAX_FILE_BYTES."
            )
        file.write(piece)


def _refuse_links(root: Path, place: Path) -> None:
    for above in (place, *place.parents):
        if above == root:
            return
        if above.is_symlink():
            raise ForbiddenPathError(
                f"{above.relative_to(root).as_posix()} is a link: nothing is written there."
            )


def _unwritable(path: str, error: OSError) -> ConflictError:
    return ConflictError(
        f"{path} can't be changed in the content folder ({error.strerror}): let the API write "
        "there, or change the folder yourself and ingest it."
    )
