"""Stage 0: what a content folder holds against what is live: add, change, remove, skip."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pipeline.backends.parsers.registry import SUPPORTED
from pipeline.errors import NotFoundError, PermanentError
from pipeline.text.normalise import content_hash
from pipeline.types import Track

FOLDERS: dict[str, Track] = {
    "skills": Track.SKILL,
    "documents": Track.DOCUMENT,
    "projects": Track.PROJECT,
}
SKILL_FILE = "SKILL.md"
_LEFTOVERS = ("~", ".swp", ".bak", ".tmp", ".orig")


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was last ingested."""

    content_hash: str
    track: Track


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync has to do, each list by path; ``skipped`` are (path, reason)."""

    add: tuple[tuple[str, Track], ...]
    change: tuple[tuple[str, Track], ...]
    remove: tuple[tuple[str, Track], ...]
    unchanged: int
    skipped: tuple[tuple[str, str], ...]


@dataclass
class _Walk:
    root: Path
    follow_links: bool
    files: dict[str, tuple[Path, Track]] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def plan(
    root: Path,
    *,
    track: Track | None,
    prefix: str,
    known: Mapping[str, KnownFile],
    force: bool,
    follow_links: bool,
) -> Plan:
    """Compare the content folder ``root`` with the ``known`` live files.

    ``track`` and ``prefix`` (a folder or a file of ``root``) limit both sides. ``force`` takes
    unchanged files as changed. Raises PermanentError when ``root`` can't be read, so that a missing
    mount removes nothing, and NotFoundError when nothing stands under ``prefix``.
    """
    walk = _walk(root, follow_links)
    prefix = unicodedata.normalize("NFC", prefix.strip("/"))

    def within(path: str) -> bool:
        return not prefix or path == prefix or path.startswith(prefix + "/")

    found = {
        path: entry
        for path, entry in walk.files.items()
        if within(path) and track in (None, entry[1])
    }
    gone = tuple(
        (path, file.track)
        for path, file in sorted(known.items())
        if path not in walk.files and within(path) and track in (None, file.track)
    )
    skipped = [(path, reason) for path, reason in walk.skipped if within(path)]
    if prefix and not found and not gone and not skipped and not (root / prefix).is_dir():
        raise NotFoundError(f"{prefix} is neither in the content folder nor in the index.")
    add, change, unchanged = [], [], 0
    for path, (file, its_track) in sorted(found.items()):
        if path not in known:
            add.append((path, its_track))
            continue
        same = known[path].track is its_track and known[path].content_hash == _hash(file)
        if same and not force:
            unchanged += 1
        else:
            change.append((path, its_track))
    return Plan(tuple(add), tuple(change), gone, unchanged, tuple(sorted(skipped)))


def _hash(file: Path) -> str:
    """The file's hash, or one that nothing has: parsing then tells what is wrong with it."""
    try:
        return content_hash(file.read_bytes())
    except OSError:
        return ""


def _walk(root: Path, follow_links: bool) -> _Walk:
    base = root.resolve()
    try:
        names = {unicodedata.normalize("NFC", name) for name in os.listdir(base)}  # noqa: PTH208
    except OSError as error:
        raise PermanentError(
            f"The content folder can't be read ({error.strerror}): check LASTRO_CONTENT_DIR."
        ) from None
    walk = _Walk(base, follow_links)
    tracks = [(folder, track) for folder, track in FOLDERS.items() if folder in names]
    if tracks:
        for folder, track in tracks:
            _visit(walk, base / folder, (folder,), track, seen=())
    else:
        _visit(walk, base, (), Track.DOCUMENT, seen=())
    return walk


def _visit(
    walk: _Walk, folder: Path, parts: tuple[str, ...], track: Track, seen: Sequence[Path]
) -> None:
    real = folder.resolve()
    if real in seen:
        walk.skipped.append(("/".join(parts), "a link back to a folder above it"))
        return
    for entry in _entries(walk, folder, parts):
        name = unicodedata.normalize("NFC", entry.name)
        where = (*parts, name)
        path = "/".join(where)
        if name.startswith(".") or name.endswith(_LEFTOVERS):
            continue
        if entry.is_symlink():
            reason = _refused_link(walk, Path(entry.path))
            if reason:
                walk.skipped.append((path, reason))
                continue
        if entry.is_dir():
            _visit(walk, Path(entry.path), where, track, (*seen, real))
        elif entry.is_file():
            reason = _refused(where, track)
            if reason:
                walk.skipped.append((path, reason))
            else:
                walk.files[path] = (Path(entry.path), track)


def _entries(walk: _Walk, folder: Path, parts: tuple[str, ...]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        # What can't be listed must not look as if it were gone.
        raise PermanentError(
            f"The folder {'/'.join(parts) or '.'} can't be read: {error.strerror}."
        ) from None


def _refused_link(walk: _Walk, link: Path) -> str:
    if not walk.follow_links:
        return "a symbolic link (LASTRO_FOLLOW_LINKS is off)"
    if not link.exists():
        return "a symbolic link that leads nowhere"
    if not link.resolve().is_relative_to(walk.root):
        return "a symbolic link that leaves the content folder"
    return ""


def _refused(where: tuple[str, ...], track: Track) -> str:
    """Why a file is not content, or an empty string."""
    name = PurePosixPath(where[-1])
    if name.stem.casefold() == "readme":
        return "a README"
    if track is Track.SKILL:
        return "" if len(where) == 3 and str(name) == SKILL_FILE else f"not a {SKILL_FILE}"
    if name.suffix.lower() not in SUPPORTED:
        return f"not a supported format ({', '.join(SUPPORTED)})"
    if len(where) == 1 and str(name) in ("assistant.yaml", "questions.jsonl"):
        return "not a document"
    return ""
