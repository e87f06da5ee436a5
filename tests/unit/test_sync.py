"""What a run has to do, from a real folder and what is known of it."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import (
    ForbiddenPathError,
    MassRemovalError,
    NotFoundError,
    PermanentError,
)
from pipeline.ingestion import sync
from pipeline.ingestion.sync import KnownFile, Plan, Quarantined
from pipeline.text.normalise import content_hash
from pipeline.types import Track

SUPPORTED = (".md", ".mdx", ".txt")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    root = tmp_path / "content"
    for path in (
        "assistant.yaml",
        "skills/login/SKILL.md",
        "documents/rules.md",
        "documents/deep/er/notes.txt",
        "projects/lamp.mdx",
    ):
        write(root, path, f"text of {path}")
    return root


def write(root: Path, path: str, text: str = "text") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def plan(
    root: Path,
    known: Mapping[str, KnownFile] | None = None,
    *,
    track: Track | None = None,
    prefix: str = "",
    force: bool = False,
    links: bool = False,
    **more: Any,
) -> Plan:
    return sync.plan(
        root,
        track=track,
        prefix=prefix,
        known=known or {},
        force=force,
        follow_links=links,
        supported=SUPPORTED,
        **{"allow_removals": True} | more,
    )


def known_of(root: Path) -> dict[str, KnownFile]:
    return {
        path: KnownFile(content_hash((root / path).read_bytes()), track)
        for path, track in plan(root).add
    }


def paths(files: tuple[tuple[str, Track], ...]) -> list[str]:
    return [path for path, _ in files]


def test_a_new_pack_is_added_file_by_file_with_its_track(pack: Path) -> None:
    made = plan(pack)
    assert made.add == (
        ("documents/deep/er/notes.txt", Track.DOCUMENT),
        ("documents/rules.md", Track.DOCUMENT),
        ("projects/lamp.mdx", Track.PROJECT),
        ("skills/login/SKILL.md", Track.SKILL),
    )
    assert (made.change, made.remove, made.unchanged, made.skipped) == ((), (), 0, ())


def test_what_changed_what_is_gone_and_what_stayed(pack: Path) -> None:
    known = known_of(pack)
    assert plan(pack, known) == Plan((), (), (), 4, ())
    write(pack, "documents/rules.md", "new text")
    (pack / "projects/lamp.mdx").unlink()
    write(pack, "documents/new.md")
    made = plan(pack, known)
    assert paths(made.add) == ["documents/new.md"]
    assert paths(made.change) == ["documents/rules.md"]
    assert made.remove == (("projects/lamp.mdx", Track.PROJECT),)
    assert made.unchanged == 2


def test_force_takes_unchanged_files_as_changed(pack: Path) -> None:
    made = plan(pack, known_of(pack), force=True)
    assert (len(made.change), made.unchanged, made.add) == (4, 0, ())


def test_a_file_that_was_known_under_another_track_is_changed(pack: Path) -> None:
    known = known_of(pack)
    path = "documents/rules.md"
    known[path] = KnownFile(known[path].content_hash, Track.PROJECT)
    assert plan(pack, known).change == ((path, Track.DOCUMENT),)


def test_a_track_or_a_prefix_limits_what_is_added_and_removed(pack: Path) -> None:
    gone = {
        path: KnownFile("x", track)
        for path, track in [
            ("skills/gone/SKILL.md", Track.SKILL),
            ("documents/gone.md", Track.DOCUMENT),
            ("documents/deep/gone.md", Track.DOCUMENT),
            ("documents/deeper.md", Track.DOCUMENT),
        ]
    }
    skills = plan(pack, gone, track=Track.SKILL)
    assert paths(skills.add) == ["skills/login/SKILL.md"]
    assert paths(skills.remove) == ["skills/gone/SKILL.md"]
    for prefix in ("documents/deep", "documents/deep/", "./documents/deep"):
        deep = plan(pack, gone, prefix=prefix)
        assert paths(deep.add) == ["documents/deep/er/notes.txt"]
        assert paths(deep.remove) == ["documents/deep/gone.md"]
    assert paths(plan(pack, gone, prefix="documents/rules.md").add) == ["documents/rules.md"]
    assert paths(plan(pack, gone, prefix="documents/gone.md").remove) == ["documents/gone.md"]
    assert len(plan(pack, gone, prefix=".").add) == 4


def test_a_prefix_that_exists_nowhere_is_an_error(pack: Path) -> None:
    (pack / "documents/empty").mkdir()
    assert plan(pack, prefix="documents/empty") == Plan((), (), (), 0, ())
    with pytest.raises(NotFoundError, match=r"documents/gone\.md"):
        plan(pack, prefix="documents/gone.md")
    for prefix in ("../elsewhere", "/etc", "documents/../../x"):
        with pytest.raises(ForbiddenPathError):
            plan(pack, prefix=prefix)


def test_an_absent_folder_turns_its_track_off(pack: Path) -> None:
    known = known_of(pack)
    shutil.rmtree(pack / "skills")
    assert plan(pack, known).remove == (("skills/login/SKILL.md", Track.SKILL),)


def test_a_missing_or_unreadable_root_removes_nothing(pack: Path, tmp_path: Path) -> None:
    known = known_of(pack)
    shutil.rmtree(pack)
    for root in (pack, tmp_path / "file"):
        (tmp_path / "file").write_text("no folder")
        with pytest.raises(PermanentError, match="LASTRO_CONTENT_DIR"):
            plan(root, known)


def test_without_any_track_s_folder_everything_is_a_document(tmp_path: Path) -> None:
    for path in ("guide.md", "sub/more.txt", "Documents/a.md", "assistant.yaml", "README.md"):
        write(tmp_path, path)
    made = plan(tmp_path)
    assert paths(made.add) == ["Documents/a.md", "guide.md", "sub/more.txt"]
    assert {track for _, track in made.add} == {Track.DOCUMENT}


def test_what_is_no_content_is_skipped_and_told_where_somebody_may_wonder(pack: Path) -> None:
    for path in (
        "documents/README.md",
        "documents/deep/readme.txt",
        "documents/.hidden.md",
        "documents/.git/config.md",
        "documents/rules.md~",
        "documents/#rules.md#",
        "documents/rules.md.swp",
        "documents/picture.png",
        "documents/no-ending",
        "skills/login/helper.py",
        "skills/login/notes.md",
        "skills/SKILL.md",
        "skills/group/deeper/SKILL.md",
        "skills/lower/skill.md",
        "elsewhere/a.md",
    ):
        write(pack, path)
    made = plan(pack)
    assert len(made.add) == 4
    assert dict(made.skipped) == {
        "documents/README.md": "a README",
        "documents/deep/readme.txt": "a README",
        "documents/picture.png": "not a supported format (.md, .mdx, .txt)",
        "documents/no-ending": "not a supported format (.md, .mdx, .txt)",
        "skills/login/notes.md": "not a skill: those are skills/<name>/SKILL.md",
        "skills/SKILL.md": "not a skill: those are skills/<name>/SKILL.md",
        "skills/group/deeper/SKILL.md": "not a skill: those are skills/<name>/SKILL.md",
        "skills/lower/skill.md": "not a skill: those are skills/<name>/SKILL.md",
    }
    assert plan(pack, prefix="documents/README.md").skipped == (
        ("documents/README.md", "a README"),
    )


@pytest.fixture
def linked(pack: Path) -> Path:
    """Links of every kind: inside, out, to a folder, to nothing, in a loop."""
    write(pack.parent, "outside/secret.md", "secret")
    documents = pack / "documents"
    (documents / "same.md").symlink_to(documents / "rules.md")
    (documents / "out.md").symlink_to(pack.parent / "outside" / "secret.md")
    (documents / "outdir").symlink_to(pack.parent / "outside")
    (documents / "nowhere.md").symlink_to(documents / "gone.md")
    (documents / "self.md").symlink_to(documents / "self.md")
    (documents / "deep" / "up").symlink_to(documents)
    return pack


def test_links_are_skipped_with_a_warning(linked: Path) -> None:
    made = plan(linked)
    assert len(made.add) == 4
    assert {reason for _, reason in made.skipped} == {
        "a symbolic link (LASTRO_FOLLOW_LINKS is off)"
    }
    assert len(made.skipped) == 6


def test_allowed_links_are_followed_inside_the_folder_alone(linked: Path) -> None:
    made = plan(linked, links=True)
    assert "documents/same.md" in paths(made.add)
    assert len(made.add) == 5
    assert dict(made.skipped) == {
        "documents/out.md": "a symbolic link that leaves the content folder",
        "documents/outdir": "a symbolic link that leaves the content folder",
        "documents/nowhere.md": "a symbolic link that leads nowhere",
        "documents/self.md": "a symbolic link that leads nowhere",
        "documents/deep/up": "a link back to a folder above it",
    }


@pytest.mark.parametrize("links", [False, True])
def test_a_track_s_folder_that_leads_out_is_no_way_out(pack: Path, links: bool) -> None:
    write(pack.parent, "outside/secret.md", "secret")
    shutil.rmtree(pack / "documents")
    (pack / "documents").symlink_to(pack.parent / "outside")
    made = plan(pack, links=links)
    assert paths(made.add) == ["projects/lamp.mdx", "skills/login/SKILL.md"]
    assert paths_of_skipped(made) == ["documents"]


def paths_of_skipped(made: Plan) -> list[str]:
    return [path for path, _ in made.skipped]


def test_a_file_that_became_a_link_is_removed(linked: Path) -> None:
    known = {"documents/out.md": KnownFile("x", Track.DOCUMENT)}
    assert paths(plan(linked, known).remove) == ["documents/out.md"]


def test_names_are_known_in_one_normal_form(pack: Path) -> None:
    name = "documents/bệnh viện.md"
    write(pack, unicodedata.normalize("NFD", name))
    made = plan(pack)
    assert unicodedata.normalize("NFC", name) in paths(made.add)
    known = {unicodedata.normalize("NFC", name): KnownFile(content_hash(b"text"), Track.DOCUMENT)}
    for form in ("NFC", "NFD"):
        limited = plan(pack, known, prefix=unicodedata.normalize(form, name))
        assert (limited.unchanged, limited.add, limited.remove) == (1, (), ())
    write(pack, unicodedata.normalize("NFC", name), "other")
    both = plan(pack, known)
    assert paths(both.change) == [unicodedata.normalize("NFC", name)]
    assert paths_of_skipped(both) == [unicodedata.normalize("NFC", name)]


def test_names_that_can_t_be_stored_are_skipped(pack: Path) -> None:
    for name in (b"\xff\xfe.md", b"line\nbreak.md", b"back\\slash.md"):
        os.close(os.open(os.fsencode(pack / "documents") + b"/" + name, os.O_CREAT))
    made = plan(pack)
    assert len(made.add) == 4
    assert len(made.skipped) == 3
    for path, reason in made.skipped:
        assert path.encode().decode().isprintable()
        assert "name" in reason


def test_pipes_are_not_read(pack: Path) -> None:
    os.mkfifo(pack / "documents" / "pipe.md")
    assert len(plan(pack).add) == 4


def test_most_of_a_track_is_never_removed_unasked(pack: Path) -> None:
    for name in "abcd":
        (pack / "documents" / f"{name}.md").write_text(f"# {name}\n\ntext\n")
    known = known_of(pack)
    count = sum(file.track is Track.DOCUMENT for file in known.values())
    for path, file in known.items():
        if file.track is Track.DOCUMENT:
            (pack / path).unlink()
    with pytest.raises(MassRemovalError, match=rf"{count} of {count} documents.*--force"):
        plan(pack, known, allow_removals=False)
    assert len(plan(pack, known, allow_removals=True).remove) == count


def test_half_of_a_track_may_go(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    for name in "abcd":
        (tmp_path / "documents" / f"{name}.md").write_text(f"# {name}\n\ntext\n")
    known = known_of(tmp_path)
    for name in "ab":
        (tmp_path / "documents" / f"{name}.md").unlink()
    assert len(plan(tmp_path, known, allow_removals=False).remove) == 2
    (tmp_path / "documents" / "c.md").unlink()
    with pytest.raises(MassRemovalError, match="3 of 4 documents"):
        plan(tmp_path, known, allow_removals=False)


def test_a_second_try_is_for_the_given_files_alone(pack: Path) -> None:
    known = known_of(pack)
    path = next(iter(known))
    made = plan(pack, known, force=True, only=[path, "documents/gone.md"], allow_removals=False)
    assert paths(made.change) == [path]
    assert (made.add, made.remove, made.unchanged) == ((), (), 0)


def test_what_took_its_parser_down_waits_for_a_change(pack: Path) -> None:
    known = known_of(pack)
    path = next(iter(known))
    held = {path: Quarantined(known[path].content_hash, "it ended its parser")}
    assert (path, "it ended its parser") in plan(pack, {}, quarantined=held).skipped
    assert path in paths(plan(pack, {}, quarantined=held, force=True).add)
    (pack / path).write_bytes((pack / path).read_bytes() + b"\nmore")
    assert path in paths(plan(pack, {}, quarantined=held).add)
