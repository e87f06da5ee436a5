"""What a content folder holds: its files by track, and what in it is no content and why."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from pipeline.errors import ForbiddenPathError, PermanentError
from pipeline.types import Track

FOLDERS: dict[str, Track] = {
    "skills": Track.SKILL,
    "documents": Track.DOCUMENT,
    "projects": Track.PROJECT,
}
SKILL_FILE = "SKILL.md"
ASSISTANT_FILE = "assistant.yaml"

_LEFTOVERS = ("~", "#", ".swp", ".bak", ".tmp", ".orig")
"""How editors and merges name what they leave behind."""


class Folder:
    """The content under ``root``, read when it is made.

    ``files`` has the place and track of each content file by its path, in NFC with slashes.
    ``skipped`` are (path, reason), by path. Without any of the folders of `FOLDERS` everything
    under ``root`` is a document. Raises PermanentError when a folder can't be listed: what can't
    be seen must not look as if it were gone.
    """

    def __init__(self, root: Path, *, follow_links: bool, supported: Collection[str]) -> None:
        self._root = root.resolve()
        self._follow_links = follow_links
        self._supported = supported
        self.files: dict[str, tuple[Path, Track]] = {}
        self.skipped: list[tuple[str, str]] = []
        entries = list(self._entries(self._root, ()))
        tracks = [entry for entry in entries if entry.name in FOLDERS and entry.is_dir()]
        for entry in tracks:
            self._entry(entry, (entry.name,), FOLDERS[entry.name], ())
        if not tracks:
            self._visit(self._root, (), Track.DOCUMENT, ())
        self.skipped.sort()

    def _visit(
        self, folder: Path, parts: tuple[str, ...], track: Track, above: Sequence[Path]
    ) -> None:
        real = folder.resolve()
        if real in above:
            self._skip(parts, "a link back to a folder above it")
            return
        for entry in self._entries(folder, parts):
            name = unicodedata.normalize("NFC", entry.name)
            if is_hidden(name):
                continue
            self._entry(entry, (*parts, name), track, (*above, real))

    def _entry(
        self,
        entry: os.DirEntry[str],
        where: tuple[str, ...],
        track: Track,
        above: Sequence[Path],
    ) -> None:
        path = Path(entry.path)
        reason = self._refused_link(path) if entry.is_symlink() else ""
        if not is_text(entry.name):
            reason = "its name is not UTF-8, or holds a control character or a backslash"
        if reason:
            self._skip(where, reason)
        elif entry.is_dir():
            self._visit(path, where, track, above)
        elif entry.is_file():
            self._file(path, where, track)

    def _file(self, file: Path, where: tuple[str, ...], track: Track) -> None:
        path = "/".join(where)
        reason = refused(where, track, self._supported)
        if reason is None:
            return
        if not reason and path in self.files:
            # Reading prefers the name in NFC too.
            file = min(file, self.files[path][0], key=lambda one: one.name != where[-1])
            self._skip(where, "another file has the same name in another normal form of Unicode")
        if reason:
            self._skip(where, reason)
        else:
            self.files[path] = (file, track)

    def _refused_link(self, link: Path) -> str:
        if not self._follow_links:
            return "a symbolic link (LASTRO_FOLLOW_LINKS is off)"
        if not link.exists():
            return "a symbolic link that leads nowhere"
        if not link.resolve().is_relative_to(self._root):
            return "a symbolic link that leaves the content folder"
        return ""

    def _skip(self, where: tuple[str, ...], reason: str) -> None:
        shown = "/".join(where).encode("utf-8", "replace").decode()
        self.skipped.append(("".join(c if c.isprintable() else "?" for c in shown), reason))

    def _entries(self, folder: Path, parts: tuple[str, ...]) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                yield from sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise PermanentError(
                f"The content folder{' at ' * bool(parts)}{'/'.join(parts)} can't be read "
                f"({error.strerror}): check LASTRO_CONTENT_DIR and who may read there."
            ) from None


def track_of(path: str) -> Track:
    """The track of a path in a content folder. Raises ForbiddenPathError outside all of them."""
    first = PurePosixPath(path).parts[0]
    if first not in FOLDERS:
        raise ForbiddenPathError(
            f"{path} is in none of the content's folders: {', '.join(FOLDERS)}."
        )
    return FOLDERS[first]


def refused(where: tuple[str, ...], track: Track, supported: Collection[str]) -> str | None:
    """Why the file at ``where`` is not content; empty if it is.

    None if nobody would take it for content. ``supported`` are the endings that a parser reads.
    """
    name = PurePosixPath(where[-1])
    ending = name.suffix.lower()
    if name.stem.casefold() == "readme":
        return "a README"
    if where == (ASSISTANT_FILE,):
        return None
    if track is Track.SKILL:
        if len(where) == 3 and str(name) == SKILL_FILE:
            return ""
        return f"not a skill: those are skills/<name>/{SKILL_FILE}" if ending == ".md" else None
    if ending not in supported:
        return f"not a supported format ({', '.join(supported)})"
    return ""


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is passed over without a word."""
    return name.startswith(".") or name.endswith(_LEFTOVERS)


def is_text(name: str) -> bool:
    """Whether a name can be shown: UTF-8, without control characters and backslashes."""
    try:
        name.encode()
    except UnicodeEncodeError:  # the file system's bytes, smuggled in as lone surrogates
        return False
    return "\\" not in name and not any(unicodedata.category(sign) == "Cc" for sign in name)
