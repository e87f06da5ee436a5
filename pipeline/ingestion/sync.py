"""Stage 0: what a content folder holds against what is live: add, change, remove, skip."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.errors import ForbiddenPathError, MassRemovalError, NotFoundError
from pipeline.ingestion.folder import Folder
from pipeline.text.normalise import content_hash
from pipeline.types import Track

MOST_REMOVED = 0.5
"""Share of a track that a run may remove unasked: more is more often a mistake with the folder."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was last ingested."""

    content_hash: str
    track: Track


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Bytes that must not be parsed again, and why."""

    content_hash: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync has to do, each list by path; ``skipped`` are (path, reason)."""

    add: tuple[tuple[str, Track], ...]
    change: tuple[tuple[str, Track], ...]
    remove: tuple[tuple[str, Track], ...]
    unchanged: int
    skipped: tuple[tuple[str, str], ...]


def plan(
    root: Path,
    *,
    track: Track | None,
    prefix: str,
    known: Mapping[str, KnownFile],
    force: bool,
    follow_links: bool,
    supported: Collection[str],
    quarantined: Mapping[str, Quarantined] | None = None,
    allow_removals: bool = False,
    only: Collection[str] | None = None,
) -> Plan:
    """Compare the files under ``root`` with ``known`` ones.

    ``track`` and ``prefix`` (a folder or a file of ``root``) limit both sides. ``force`` takes
    unchanged files as changed. ``supported`` are the endings that a parser reads. An absent folder
    turns its track off: what is known of it is removed. ``quarantined`` files are skipped as long
    as their bytes are the same, and not with ``force``. ``only`` limits both sides to these paths.

    Raises PermanentError when ``root`` can't be read, so that a missing mount removes nothing,
    ForbiddenPathError for a prefix that leaves it, and NotFoundError for one that exists neither
    there nor in ``known``, and MassRemovalError unless ``allow_removals``.
    """
    folder = Folder(root, follow_links=follow_links, supported=supported)
    start = PurePosixPath(unicodedata.normalize("NFC", prefix))
    if start.is_absolute() or ".." in start.parts:
        raise ForbiddenPathError(f"{prefix!r} is not a path inside the content folder.")

    def within(path: str) -> bool:
        return PurePosixPath(path).is_relative_to(start) and (only is None or path in only)

    found = {
        path: file
        for path, file in folder.files.items()
        if within(path) and track in (None, file[1])
    }
    gone = tuple(
        (path, file.track)
        for path, file in sorted(known.items())
        if path not in folder.files and within(path) and track in (None, file.track)
    )
    skipped = [entry for entry in folder.skipped if within(entry[0])]
    exists = any(map(within, (*folder.files, *known))) or bool(skipped)
    if not exists and only is None and not (root / start).is_dir():
        raise NotFoundError(f"{prefix} is neither in the content folder nor in the index.")
    if not allow_removals:
        _refuse_mass_removal(gone, known)
    add, change, unchanged = [], [], 0
    for path, (file, its_track) in sorted(found.items()):
        held = None if force else (quarantined or {}).get(path)
        if held and held.content_hash == _hash(file):
            skipped.append((path, held.reason))
        elif path not in known:
            add.append((path, its_track))
        elif force or known[path] != KnownFile(_hash(file), its_track):
            change.append((path, its_track))
        else:
            unchanged += 1
    return Plan(tuple(add), tuple(change), gone, unchanged, tuple(sorted(skipped)))


def _refuse_mass_removal(
    gone: Collection[tuple[str, Track]], known: Mapping[str, KnownFile]
) -> None:
    for track in Track:
        lost = sum(its_track is track for _, its_track in gone)
        all_of_it = sum(file.track is track for file in known.values())
        if lost > all_of_it * MOST_REMOVED:
            raise MassRemovalError(
                f"This would remove {lost} of {all_of_it} {track}s from the index, so nothing was "
                "changed. If the folder is right: `lastro ingest --force`, over the API "
                "allow_removals."
            )


def _hash(file: Path) -> str:
    """The file's hash, or one that nothing has: parsing then tells what is wrong with it."""
    try:
        return content_hash(file.read_bytes())
    except OSError:
        return ""
