"""From the bytes of a file to a document, and no way out of the content folder."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest

from pipeline.backends.parsers.registry import configured
from pipeline.errors import (
    EmptyDocumentError,
    FileTooLargeError,
    ForbiddenPathError,
    InvalidSkillError,
    NotFoundError,
    UnsupportedFormatError,
)
from pipeline.ingestion.parse import read
from pipeline.settings import Settings
from pipeline.types import Document, Track

for_path = configured(Settings()).for_path


def parsed(text: str, path: str = "documents/a.md", track: Track = Track.DOCUMENT) -> Document:
    return for_path(path).parse(text.encode(), path, track)


def test_front_matter_is_metadata_and_not_text() -> None:
    made = parsed("---\ntitle: X\ntags: [a, b]\nlang: pt\n---\n# A\n\nbody\n")
    assert (made.title, made.text, made.language) == ("X", "# A\n\nbody\n", "pt")
    assert made.metadata == {"title": "X", "tags": ["a", "b"], "lang": "pt"}
    assert made.warnings == ()


@pytest.mark.parametrize(
    "data",
    [
        b"---\r\ntitle: X\r\n---\r\n# A\r\n",
        b"\xef\xbb\xbf---\ntitle: X\n---\n# A\n",
        "---\ntitle: X\n---\n# A\n".encode("utf-16"),
        b"---  \ntitle: X\n---\t\n# A\n",
    ],
)
def test_front_matter_is_seen_behind_a_mark_and_with_any_line_ends(data: bytes) -> None:
    made = for_path("a.md").parse(data, "a.md", Track.DOCUMENT)
    assert (made.title, made.text) == ("X", "# A\n")


def test_dates_and_other_yaml_values_become_json() -> None:
    front = "created: 2026-05-24\nat: 2026-05-24 10:00:00\nn: .nan\nb: !!binary aGk=\nd: {1: null}"
    made = parsed(f"---\n{front}\n---\n# A\n")
    assert made.metadata["created"] == "2026-05-24"
    assert made.metadata["at"] == "2026-05-24T10:00:00"
    assert json.loads(json.dumps(made.metadata, allow_nan=False))["d"] == {"1": None}


def test_control_characters_don_t_come_in_through_yaml() -> None:
    made = parsed('---\ntitle: "a\\0b\\uD800"\n---\ntext\n')
    assert made.title == "ab\ufffd"
    assert made.metadata["title"] == "ab\ufffd"


@pytest.mark.parametrize(
    "front",
    [
        "title: a: b",
        "created: 2026-02-30",
        "a: &a [x]\nb: *a",
        "a: &a [*a]",
        "[" * 5000,
        "n: " + "9" * 5000,
        "\tx: 1",
        "!!python/object:os.system x",
    ],
    ids=lambda front: front[:12],
)
def test_front_matter_that_can_t_be_read_costs_a_warning_and_no_text(front: str) -> None:
    made = parsed(f"---\n{front}\n---\n# A\n\nkept\n")
    assert (made.title, made.text, made.metadata) == ("A", "# A\n\nkept\n", {})
    (warning,) = made.warnings
    assert "front matter" in warning


def test_the_warning_names_the_line_of_the_file() -> None:
    made = parsed("---\nok: 1\ntitle: a: b\n---\n# A\n")
    assert "line 3" in made.warnings[0]


def test_rules_in_the_body_are_no_front_matter() -> None:
    text = "First.\n\n---\nnote: keep me\n---\nrest\n"
    assert parsed(text).text == text
    paragraph = "---\n\nA paragraph between two rules.\n\n---\n\nrest\n"
    assert parsed(paragraph).text == paragraph
    unclosed = "---\ntitle: X\n# A\n"
    assert parsed(unclosed).text == unclosed


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Front\n---\n# Heading\n", "Front"),
        ("---\ntitle: 2026\n---\n# Heading\n", "2026"),
        ("## Before\n\n# The *first* one\n\n# Second\n", "The first one"),
        ("Setext\n======\ntext\n", "Setext"),
        ("```\n# comment\n```\n", "a"),
        ("text\n", "a"),
        ("---\ntitle:\n---\ntext\n", "a"),
    ],
)
def test_the_title_is_the_front_matter_s_then_the_first_heading_then_the_file(
    text: str, title: str
) -> None:
    assert parsed(text).title == title


def test_only_a_project_s_summary_may_be_its_first_paragraph() -> None:
    text = "# Lamp\n\nA **lamp** that\nknows [the hour](x).\n\nMore.\n"
    assert parsed(text).summary == ""
    assert parsed(text, track=Track.PROJECT).summary == "A lamp that knows the hour."
    described = f"---\ndescription: >\n  one\n  line\n---\n{text}"
    assert parsed(described, track=Track.PROJECT).summary == "one line"
    assert parsed(f"---\nsummary: short\n---\n{text}").summary == "short"
    long = parsed("# Lamp\n\n" + "many words " * 60, track=Track.PROJECT).summary
    assert len(long) <= 200
    assert long.endswith("words …")


def test_plain_text_is_taken_as_it_is() -> None:
    text = "---\ntitle: X\n---\n# no heading\n"
    made = parsed(text, "documents/notes.txt")
    assert (made.title, made.text, made.metadata) == ("notes", text, {})


@pytest.mark.parametrize("text", ["---\ntitle: X\n---\n", "---\ntitle: X\n---\n\n \n***\n"])
def test_front_matter_alone_is_an_empty_document(text: str) -> None:
    with pytest.raises(EmptyDocumentError, match=r"a\.md"):
        parsed(text)


@pytest.mark.parametrize("path", ["a.odt", "a", "a.md.exe", ".md"])
def test_an_unknown_ending_names_the_known_ones(path: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=r"\.md, \.mdx, \.txt"):
        for_path(path)


def test_endings_are_known_in_any_case() -> None:
    assert for_path("A.MD").name == "markdown"


# --- skills

SKILL = """---
name: locked-login
description: The login is
  locked.
---
# Locked login

{triggers}

## Steps

1. Wait.
"""


def skill(triggers: str) -> Document:
    return parsed(SKILL.format(triggers=triggers), "skills/x/SKILL.md", Track.SKILL)


@pytest.mark.parametrize(
    "heading",
    [
        "Quando usar",
        "## Quando usar este procedimento",
        "WHEN TO USE",
        "1. When to use this skill",
        "Cuándo usar",
        "Cuando se usa",
        "Khi nào dùng",
        "Khi na\u0300o sử dụng",
        "🔎 Quando *usar*?",
    ],
)
def test_triggers_are_found_by_their_heading_in_every_language(heading: str) -> None:
    made = skill(f"## {heading.lstrip('# ')}\n\n- My login **is locked**\n- unlock\n")
    assert made.triggers == ("My login is locked", "unlock")
    assert made.text == "# Locked login\n\n## Steps\n\n1. Wait."


def test_a_skill_has_its_name_description_and_title() -> None:
    made = skill("")
    assert made.metadata["name"] == "locked-login"
    assert (made.title, made.summary, made.triggers) == (
        "Locked login",
        "The login is locked.",
        (),
    )
    untitled = parsed("---\nname: n\ndescription: d\n---\nStep.\n", "s.md", Track.SKILL)
    assert untitled.title == "n"


def test_triggers_may_be_sentences_and_nested_lists_and_subsections() -> None:
    made = skill(
        "## When to use\n\nUse it when the login is locked. Not when it is forgotten.\n\n"
        "- too many tries\n  - with the app\n\n### Also\n\n1. blocked card\n"
    )
    assert made.triggers == (
        "Use it when the login is locked.",
        "Not when it is forgotten.",
        "too many tries",
        "with the app",
        "Also",
        "blocked card",
    )
    assert "Steps" in made.text
    assert "blocked" not in made.text


def test_when_not_to_use_is_no_trigger() -> None:
    made = skill("## When not to use\n\n- forgotten password\n")
    assert made.triggers == ()
    assert "forgotten password" in made.text


@pytest.mark.parametrize(
    ("front", "missing"),
    [
        ("description: d", "no name"),
        ("name: n", "no description"),
        ("title: t", "no name and no description"),
        ("name:\ndescription: ' '", "no name and no description"),
        ("name: a: b", r"not valid YAML: line 2"),
    ],
)
def test_a_skill_that_lacks_something_says_what(front: str, missing: str) -> None:
    with pytest.raises(InvalidSkillError, match=missing):
        parsed(f"---\n{front}\n---\n# A\n\nStep.\n", "skills/x/SKILL.md", Track.SKILL)


@pytest.mark.parametrize("body", ["# A\n\n## When to use\n\n- x\n", "# Only a title\n\n## Steps\n"])
def test_a_skill_without_a_procedure_is_refused(body: str) -> None:
    with pytest.raises(InvalidSkillError, match="no procedure"):
        parsed(f"---\nname: n\ndescription: d\n---\n{body}", "s.md", Track.SKILL)


# --- MDX


def mdx(text: str) -> str:
    return parsed(text, "documents/a.mdx").text


def test_imports_and_tags_go_and_prose_and_code_stay() -> None:
    text = (
        "import Tabs from '@theme/Tabs';\nimport {\n  A,\n  B,\n} from './b'\n\n"
        "export const meta = {\n  a: [1,\n\n  2],\n}\n\n# Title\n\n"
        '<Tabs groupId="os"\n  defaultValue={{a: 1}}>\nProse in <b>tabs</b>.\n'
        "<Tab label='a > b'>\n```js\n# x\nimport y\n<Keep />\n```\n</Tab>\n</Tabs>\n\n"
        "{/* a note\nto self */}\nUse `<Tab>` and ``import x from 'y'``.\n"
    )
    assert mdx(text) == (
        "# Title\n\nProse in tabs.\n\n```js\n# x\nimport y\n<Keep />\n```\n\n"
        "Use `<Tab>` and ``import x from 'y'``.\n"
    )


@pytest.mark.parametrize(
    "prose",
    [
        "import the list of partners first",
        "exports and imports",
        "a < b and c > d",
        "1 <2 and 3> 2",
        "<https://example.org/a> and <help@example.org>",
        "cost > 5",
    ],
)
def test_prose_that_only_looks_like_mdx_stays(prose: str) -> None:
    assert mdx(f"# A\n\n{prose}\n").strip().endswith(prose)


def test_a_heading_in_a_fence_under_a_tag_is_none() -> None:
    made = parsed("<Tab>\n```js\n# x\nimport y\n```\n</Tab>\n\ntext\n", "documents/a.mdx")
    assert made.title == "a"


def test_tags_are_kept_in_plain_markdown() -> None:
    assert parsed("a <b>c</b>\n").text == "a <b>c</b>\n"


# --- the content folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "a.md").write_text("# A\n\ntext\n")
    (tmp_path / "secret.md").write_text("# secret\n")
    return folder


def read_text(root: Path, path: str, *, links: bool = False, most: int = 1000) -> str:
    return read(root, path, max_bytes=most, follow_links=links).decode()


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "documents/../../secret.md",
        "/etc/passwd",
        "documents\\a.md",
        "documents/a.md\x00.txt",
        "",
        ".",
    ],
)
def test_no_path_leaves_the_folder(root: Path, path: str) -> None:
    with pytest.raises(ForbiddenPathError) as refused:
        read_text(root, path)
    assert str(root.parent) not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    ["documents/b.md", "documents", "file:///etc/passwd", "documents/a.md/b", "x" * 5000, "\ud800"],
)
def test_what_is_no_file_is_not_found(root: Path, path: str) -> None:
    with pytest.raises(NotFoundError) as refused:
        read_text(root, path)
    assert str(root.parent) not in str(refused.value)
    assert str(refused.value).encode()


def test_links_are_followed_only_where_allowed_and_never_out(root: Path) -> None:
    (root / "documents" / "inside.md").symlink_to(root / "documents" / "a.md")
    (root / "documents" / "outside.md").symlink_to(root.parent / "secret.md")
    (root / "folder").symlink_to(root.parent)
    (root / "nowhere.md").symlink_to(root / "gone")
    (root / "loop.md").symlink_to(root / "loop.md")
    assert read_text(root, "documents/inside.md", links=True) == "# A\n\ntext\n"
    with pytest.raises(ForbiddenPathError, match="LASTRO_FOLLOW_LINKS"):
        read_text(root, "documents/inside.md")
    for path in ("documents/outside.md", "folder/secret.md"):
        with pytest.raises(ForbiddenPathError):
            read_text(root, path, links=True)
    for path in ("nowhere.md", "loop.md"):
        with pytest.raises(NotFoundError):
            read_text(root, path, links=True)


def test_a_root_that_is_itself_a_link_is_read(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert read_text(link, "documents/a.md") == "# A\n\ntext\n"


def test_too_large_a_file_is_refused_with_the_setting(root: Path) -> None:
    assert read_text(root, "documents/a.md", most=10)
    with pytest.raises(FileTooLargeError, match="LASTRO_MAX_FILE_BYTES"):
        read_text(root, "documents/a.md", most=9)


def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with pytest.raises(NotFoundError):
        read_text(root, "pipe.md")


def test_a_file_is_found_by_its_name_in_either_normal_form(root: Path) -> None:
    name = unicodedata.normalize("NFD", "bệnh viện.md")
    (root / name).write_text("x")
    assert read_text(root, unicodedata.normalize("NFC", name)) == "x"
