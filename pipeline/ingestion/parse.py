"""Stage 1: the bytes of a file of the content folder, read without leaving it."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath

from pipeline.errors import (
    FileTooLargeError,
    ForbiddenPathError,
    NotFoundError,
    UnreadableError,
)


def read(root: Path, path: str, *, max_bytes: int, follow_links: bool) -> bytes:
    """The bytes of ``path`` inside ``root``.

    Raises ForbiddenPathError for a path that leaves ``root`` or a link that may not be followed,
    NotFoundError when there is no such file, FileTooLargeError, and UnreadableError for one that
    can't be read.
    """
    file = locate(root, path, follow_links=follow_links)
    try:
        with file.open("rb") as opened:
            data = opened.read(max_bytes + 1)
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}.") from None
    if len(data) > max_bytes:
        raise FileTooLargeError(
            f"{path} has more than {max_bytes:,} bytes: split it, or raise LASTRO_MAX_FILE_BYTES."
        )
    return data


def locate(root: Path, path: str, *, follow_links: bool) -> Path:
    """The file ``path`` of ``root``, looked up without leaving it.

    Raises ForbiddenPathError or NotFoundError; no message shows where ``root`` is.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or "\x00" in path or ".." in parts:
        raise ForbiddenPathError(f"{path!r} is not a path inside the content folder.")
    try:
        path.encode()
        return _locate(root.resolve(), parts, path, follow_links)
    except (OSError, UnicodeError):  # a name that is too long, or that no file system can hold
        raise NotFoundError(f"{path!a} is not a file of the content folder.") from None


def _locate(root: Path, parts: tuple[str, ...], path: str, follow_links: bool) -> Path:
    file = root
    for part in parts:
        file = _child(file, part, path)
        if file.is_symlink():
            if not follow_links:
                raise ForbiddenPathError(
                    f"{path} is a symbolic link: set LASTRO_FOLLOW_LINKS=true to follow links."
                )
            if file.exists() and not file.resolve().is_relative_to(root):
                raise ForbiddenPathError(f"{path} leads out of the content folder.")
    if not file.is_file():
        raise NotFoundError(f"{path} is not a file of the content folder.")
    return file


def _child(folder: Path, name: str, path: str) -> Path:
    """``name`` in ``folder``, in whichever normal form the file system keeps it."""
    child = folder / name
    if child.is_symlink() or child.exists():
        return child
    if folder.is_dir():
        wanted = unicodedata.normalize("NFC", name)
        for entry in folder.iterdir():
            if unicodedata.normalize("NFC", entry.name) == wanted:
                return entry
    raise NotFoundError(f"{path} is not a file of the content folder.")
