"""The same bytes are converted once, whatever the clock says, and the cache stays small."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pipeline.backends.parsers.registry import configured
from pipeline.errors import NoTextError
from pipeline.settings import Settings
from pipeline.types import Document, Track
from pipeline.worker.parse_cache import ParseCache


class Counting:
    """Parser that counts what it is asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        self.asked.append(path)
        if data == b"empty":
            raise NoTextError(path)
        return Document(path, track, path, data.decode(), lost=("page 2",), metadata={"a": 1})


@pytest.fixture
def counting() -> Counting:
    return Counting()


def cache(counting: Counting, folder: Path, most: int = 1_000_000, **settings: Any) -> ParseCache:
    return ParseCache(counting, configured(Settings.model_validate(settings)), folder, most)


def test_a_file_is_parsed_once_by_all_workers(counting: Counting, tmp_path: Path) -> None:
    made = [
        cache(counting, tmp_path / "kept").parse(b"text", "a.pdf", Track.DOCUMENT) for _ in "ab"
    ]
    assert made[0] == made[1]
    assert made[0].lost == ("page 2",)
    assert counting.asked == ["a.pdf"]


def test_all_that_the_result_depends_on_counts(counting: Counting, tmp_path: Path) -> None:
    for data, path, track, settings in (
        (b"text", "a.pdf", Track.DOCUMENT, {}),
        (b"other", "a.pdf", Track.DOCUMENT, {}),
        (b"text", "b.pdf", Track.DOCUMENT, {}),
        (b"text", "a.pdf", Track.PROJECT, {}),
        (b"text", "a.pdf", Track.DOCUMENT, {"parsers": "pdf=markitdown"}),
        (b"text", "a.pdf", Track.DOCUMENT, {"parse_max_pages": 3}),
    ):
        cache(counting, tmp_path, **settings).parse(data, path, track)
    assert len(counting.asked) == 6


def test_plain_text_and_failures_are_not_kept(counting: Counting, tmp_path: Path) -> None:
    kept = cache(counting, tmp_path)
    for _ in "ab":
        kept.parse(b"text", "a.md", Track.DOCUMENT)
        with pytest.raises(NoTextError):
            kept.parse(b"empty", "a.pdf", Track.DOCUMENT)
    assert len(counting.asked) == 4
    assert list(tmp_path.iterdir()) == []


def test_the_least_recently_used_go_first(counting: Counting, tmp_path: Path) -> None:
    kept = cache(counting, tmp_path, most=5000)
    kept.parse(b"old", "old.pdf", Track.DOCUMENT)
    for entry in tmp_path.iterdir():
        os.utime(entry, (1, 1))
    for number in range(20):
        kept.parse(b"x" * 500, f"{number}.pdf", Track.DOCUMENT)
        kept.parse(b"x" * 500, "0.pdf", Track.DOCUMENT)
        for entry in tmp_path.iterdir():  # a clock that never stands still between two files
            os.utime(entry, (entry.stat().st_atime, entry.stat().st_mtime - 60))
    assert sum(entry.stat().st_size for entry in tmp_path.iterdir()) <= 5000
    before = len(counting.asked)
    kept.parse(b"x" * 500, "0.pdf", Track.DOCUMENT)
    assert len(counting.asked) == before
    kept.parse(b"old", "old.pdf", Track.DOCUMENT)
    assert len(counting.asked) == before + 1


def test_a_damaged_entry_is_made_again(counting: Counting, tmp_path: Path) -> None:
    kept = cache(counting, tmp_path)
    for damage in (b"", b"{", b'{"path": 1}', b"[]"):
        kept.parse(b"text", "a.pdf", Track.DOCUMENT)
        [entry] = tmp_path.iterdir()
        entry.write_bytes(damage)
        assert kept.parse(b"text", "a.pdf", Track.DOCUMENT).text == "text"


def test_a_folder_that_cannot_be_written_to_costs_no_document(
    counting: Counting, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    kept = cache(counting, tmp_path / "file" / "below")
    assert kept.parse(b"text", "a.pdf", Track.DOCUMENT).text == "text"
