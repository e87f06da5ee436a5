"""Chunks, by the tokenizer that really counts: nothing too long, nothing lost, nothing torn."""

from __future__ import annotations

import base64
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.backends.embedders.e5.embedder import E5Embedder
from pipeline.errors import EmptyDocumentError
from pipeline.ingestion.chunk import chunk
from pipeline.types import Chunk, Document, Track

EMBEDDER = E5Embedder()
ENGLISH = "every partner may exchange points for vouchers after the campaign has ended".split()
VIETNAMESE = "đối tác có thể đổi điểm lấy phiếu quà tặng sau khi chiến dịch kết thúc".split()


def document(text: str, *, title: str = "doc", track: Track = Track.DOCUMENT) -> Document:
    """A document whose title says no more than its file's name, unless another is given."""
    return Document(path="documents/doc.md", track=track, title=title, text=text)


def chunks(text: str, *, limit: int = 400, overlap: int = 50, title: str = "doc") -> list[Chunk]:
    made = chunk(
        document(text, title=title),
        count_tokens=EMBEDDER.count_tokens,
        limit=limit,
        overlap=overlap,
    )
    assert [one.ordinal for one in made] == list(range(len(made)))
    for one in made:
        assert one.token_count == EMBEDDER.count_tokens(one.search_text) <= limit
        assert one.search_text.endswith(one.text)
        assert one.text.strip()
    return made


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def sentence(seed: int, count: int = 12, of: list[str] = ENGLISH) -> str:
    chosen = random.Random(seed).choices(of, k=count)
    return " ".join(chosen).capitalize() + "."


def test_sections_begin_at_the_two_upper_levels_of_headings() -> None:
    made = chunks("Before.\n\n# A\none\n## B\ntwo\n### C\nthree\n# D\n\nfour\n")
    assert [(one.heading, one.text) for one in made] == [
        ("", "Before."),
        ("A", "one"),
        ("A > B", "two\n\n### C\n\nthree"),
        ("D", "four"),
    ]
    assert made[2].search_text == "A > B\ntwo\n\n### C\n\nthree"


def test_a_long_section_is_split_at_deeper_headings() -> None:
    part = " ".join(sentence(n) for n in range(12))
    made = chunks(f"# A\n## B\nlead\n### C\n{part}\n#### E\n{part}\n### D\n{part}\n", limit=200)
    assert {"A > B", "A > B > C", "A > B > C > E", "A > B > D"} == {one.heading for one in made}
    assert all("#" not in one.text for one in made)


def test_the_title_stands_before_the_path_once() -> None:
    assert chunks("# Guide\ntext", title="Guide")[0].search_text == "Guide\ntext"
    assert chunks("# Start\ntext", title="Guide")[0].search_text == "Guide > Start\ntext"
    assert chunks("text", title="Guide")[0].search_text == "Guide\ntext"
    assert chunks("text")[0].search_text == "text"


def test_setext_headings_leave_no_underline() -> None:
    made = chunks("Title\n=====\ntext\n\nSub\n---\nmore\n")
    assert [(one.heading, one.text) for one in made] == [
        ("Title", "text"),
        ("Title > Sub", "more"),
    ]


def test_a_rule_after_a_line_of_spaces_makes_no_heading() -> None:
    (made,) = chunks("para\n \n---\nnext")
    assert made.heading == ""
    assert {"para", "next"} <= words(made.text)


def test_an_empty_heading_neither_names_nor_loses_anything() -> None:
    (made,) = chunks("# A\n\n##\n\ntext\n")
    assert (made.heading, made.text) == ("A", "text")


def test_headings_without_text_stay_findable() -> None:
    made = chunks("# A\n## B\n### C\n## D\n# E\n\n---\n\n# F\n")
    assert [one.search_text for one in made] == [
        "A > B\n### C",
        "A > D\nD",
        "E\nE",
        "F\nF",
    ]


def test_markup_in_a_heading_is_not_part_of_the_path() -> None:
    (made,) = chunks("# The *new* `plan` [here](http://x.example) &amp; now\ntext")
    assert made.heading == "The new plan here & now"


@pytest.mark.parametrize("mark", ["```", "~~~", "   ````"])
def test_no_heading_in_a_fence(mark: str) -> None:
    (made,) = chunks(f"# A\nprose before\n\n{mark}py\n# comment\n{mark}\n\nprose after\n")
    assert made.heading == "A"
    assert {"before", "comment", "after"} <= words(made.text)


def test_a_long_fence_is_split_between_lines_and_each_part_is_a_fence() -> None:
    code = [f"value_{n} = compute({n}, {n + 1})  # comment" for n in range(60)]
    text = "# A\nprose one\n\n~~~py\n" + "\n".join(code) + "\n~~~\n\nprose two\n"
    made = chunks(text, limit=128)
    inside = [one.text for one in made if "value_" in one.text]
    assert len(inside) > 3
    for part in inside:
        lines = part[part.index("~~~py") : part.rindex("~~~") + 3].split("\n")
        assert (lines[0], lines[-1]) == ("~~~py", "~~~")
        assert set(lines[1:-1]) <= set(code)
    assert words(text) <= set().union(*(words(one.text) for one in made)) | {"A"}
    assert {one.heading for one in made} == {"A"}


def test_a_fence_that_fits_is_not_torn() -> None:
    fence = "```\n" + "\n".join(f"line {n}" for n in range(12)) + "\n```"
    prose = " ".join(sentence(n) for n in range(6))
    made = chunks(f"{prose}\n\n{fence}\n\n{prose}", limit=128)
    assert sum(fence in one.text for one in made) == 1


def test_a_fence_in_a_list_is_not_torn() -> None:
    fence = "   ```sh\n" + "\n".join(f"   command --option {n}" for n in range(8)) + "\n   ```"
    steps = "\n".join(f"   - {sentence(n)}" for n in range(12))
    made = chunks(f"1. First do this:\n\n{steps}\n\n{fence}\n\n2. Then that.", limit=160)
    assert len(made) > 1
    assert sum(fence.strip() in one.text for one in made) == 1


def test_every_part_of_a_table_has_its_header_and_whole_rows() -> None:
    rows = [f"| prize {n} | {n * 100} points | {sentence(n, 4)} |" for n in range(60)]
    header = "| Prize | Cost | Note |\n|---|---|---|"
    made = chunks("# T\n\nAll prizes:\n\n" + "\n".join([header, *rows]), limit=200)
    tables = [one.text[one.text.index("|") :] for one in made]
    assert len(tables) > 4
    assert all(table.startswith(header + "\n") for table in tables)
    assert [row for table in tables for row in table.split("\n")[2:]] == rows


def test_a_caption_and_a_second_header_row_stand_once_and_the_tables_are_valid() -> None:
    rows = [f"| {n} | {sentence(n, 5)} |" for n in range(40)]
    text = "\n".join(["Caption of the table", "| Group | |", "| No | Text |", "|---|---|", *rows])
    made = chunks(text, limit=160)
    assert sum("Caption" in one.text for one in made) == 1
    for one in made[1:]:
        assert one.text.startswith("| No | Text |\n|---|---|\n| ")
    assert words(text) <= set().union(*(words(one.text) for one in made))


def test_a_header_that_fills_the_chunk_is_taken_as_text() -> None:
    header = "| " + " | ".join(f"column{n}" for n in range(150)) + " |"
    rule = "|" + "---|" * 150
    row = "| " + " | ".join(str(n) for n in range(150)) + " |"
    made = chunks("\n".join([header, rule, *[row] * 3]), limit=128)
    assert words(header) | words(row) <= set().union(*(words(one.text) for one in made))


def test_windows_share_whole_sentences() -> None:
    text = " ".join(sentence(n) for n in range(80))
    made = chunks(text, limit=160, overlap=40)
    for before, after in pairwise(made):
        shared = next(
            n for n in range(len(before.text), 0, -1) if after.text.startswith(before.text[-n:])
        )
        overlap = before.text[-shared:]
        assert overlap.endswith(".")
        assert overlap[0].isupper()
        assert 12 <= EMBEDDER.count_tokens(overlap) <= 40
    assert len(chunks(text, limit=160, overlap=0)) < len(made)


def test_text_without_sentence_ends_overlaps_too() -> None:
    text = " ".join(f"word{n}" for n in range(600))
    made = chunks(text, limit=160, overlap=40)
    for before, after in pairwise(made):
        first = after.text.split()[0]
        assert first in before.text.split()
        assert before.text.split()[-1] in after.text.split()
    assert words(text) <= set().union(*(words(one.text) for one in made))


def test_a_heading_is_not_left_at_the_end_of_a_chunk() -> None:
    text = "".join(f"#### Heading {n}\n\n{sentence(n, 30)}\n\n" for n in range(12))
    made = chunks("# A\n" + text, limit=130, overlap=0)
    assert all(not one.text.split("\n")[-1].startswith("####") for one in made)


@pytest.mark.parametrize(
    "text",
    [
        "这是一个关于积分兑换的说明文件" * 2000,
        "。".join(["这是一个关于积分兑换的说明文件"] * 2000),
        " ".join(VIETNAMESE * 30),
        base64.b64encode(random.Random(1).randbytes(20_000)).decode(),
        "ﷺ" * 3000,
        "👩‍👩‍👧‍👦" * 500 + "e",
        "a" + "\u0301" * 3000,
        "- " + "word " * 3000,
        "> " + "word " * 3000,
        "| a |\n|---|\n| " + "cell " * 3000 + " |",
        "```" + "info" * 3000 + "\ncode\n```",
        "```\n" + "x" * 30_000 + "\n```",
        "# " + "Heading " * 2000 + "\ntext",
        "# " + "x" * 9_000,
        "[a]: http://example.org/" + "long" * 3000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_makes_a_chunk_that_is_too_long(text: str) -> None:
    made = chunks(text)
    assert len(made) < 1500
    assert Counter(filter(str.isalnum, text)) <= Counter("".join(one.search_text for one in made))


def test_a_word_is_cut_only_if_it_is_too_long_alone() -> None:
    address = "https://example.org/" + "-".join(ENGLISH)
    text = f"{' '.join(ENGLISH)} {address} " * 20
    made = chunks(text, limit=100)
    assert set(text.split()) == {word for one in made for word in one.text.split()}


def test_thousands_of_different_words_without_a_heading_are_chunked() -> None:
    chosen = random.Random(2)
    text = " ".join("".join(chosen.choices("abcdefghijkl", k=7)) for _ in range(5_000))
    made = chunks(text)
    assert words(text) <= set().union(*(words(one.text) for one in made))


def test_an_edit_leaves_other_sections_as_they_are() -> None:
    parts = [f"## Section {n}\n\n" + " ".join(sentence(n + i) for i in range(30)) for n in range(5)]
    before = chunks("# T\n\n" + "\n\n".join(parts), limit=160)
    parts[2] = parts[2].replace("points", "miles") + " One more sentence at the end."
    after = chunks("# T\n\n" + "\n\n".join(parts), limit=160)
    changed = {one.heading for one in set_of_new(before, after)}
    assert changed == {"T > Section 2"}


def set_of_new(before: list[Chunk], after: list[Chunk]) -> list[Chunk]:
    known = {(one.text, one.search_text, one.content_hash) for one in before}
    return [one for one in after if (one.text, one.search_text, one.content_hash) not in known]


def test_sentences_are_those_of_the_text() -> None:
    (made,) = chunks("# A\n\nOne sentence stands here. Another one follows it.\n")
    assert made.sentences == ("One sentence stands here.", "Another one follows it.")
    assert made.language == ""


def test_a_document_without_words_has_no_chunk() -> None:
    with pytest.raises(EmptyDocumentError, match=r"doc\.md"):
        chunks("---\n\n***\n")


SKILL = Document(
    path="skills/login/SKILL.md",
    track=Track.SKILL,
    title="Locked login",
    text="# Locked login\n\n1. Wait 30 minutes.",
    summary="The login is locked. It happens after wrong passwords.",
    triggers=("my login is locked", "unlock"),
)


def skill_chunk(skill: Document, limit: int = 400) -> Chunk:
    (made,) = chunk(skill, count_tokens=EMBEDDER.count_tokens, limit=limit, overlap=50)
    assert made.token_count == EMBEDDER.count_tokens(made.search_text) <= limit
    return made


def test_a_skill_is_one_chunk_found_by_what_calls_for_it() -> None:
    made = skill_chunk(SKILL)
    assert made.text == SKILL.text
    assert made.search_text == (
        "Locked login\nThe login is locked. It happens after wrong passwords.\n"
        "my login is locked\nunlock"
    )
    assert made.sentences == (
        "The login is locked.",
        "It happens after wrong passwords.",
        "my login is locked",
        "unlock",
    )


def test_triggers_beyond_the_limit_keep_their_own_vectors() -> None:
    many = tuple(f"question number {n} about the login" for n in range(100))
    made = skill_chunk(replace(SKILL, triggers=many))
    assert many[0] in made.search_text
    assert many[-1] not in made.search_text
    assert made.sentences[-100:] == many
    edited = skill_chunk(replace(SKILL, triggers=(*many[:-1], "something else")))
    assert edited.content_hash != made.content_hash


# --- properties

PLAIN = st.sampled_from([*ENGLISH, *VIETNAMESE, "3.5", "R$", "10%", "可以", "Nº"])
SENTENCE = st.lists(PLAIN, min_size=1, max_size=25).map(lambda chosen: " ".join(chosen) + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)
LINES = st.lists(SENTENCE, min_size=1, max_size=8)


def _table(rows: list[str]) -> str:
    return "\n".join(["| Key | Value |", "|---|---|", *(f"| {row} | x |" for row in rows)])


BLOCK = st.one_of(
    PARAGRAPH,
    LINES.map(lambda rows: "\n".join(f"- {row}" for row in rows)),
    LINES.map(lambda rows: "\n".join(f"{n}. {row}" for n, row in enumerate(rows, 1))),
    LINES.map(_table),
    LINES.map(lambda rows: "```py\n" + "\n".join(f"# {row}" for row in rows) + "\n```"),
    LINES.map(lambda rows: "\n".join(f"> {row}" for row in rows)),
    st.tuples(st.integers(1, 6), PLAIN).map(lambda pair: f"{'#' * pair[0]} {pair[1]}"),
    st.just("##"),
    st.just("***"),
)
MARKDOWN = st.lists(BLOCK, min_size=1, max_size=14).map("\n\n".join)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(MARKDOWN, st.sampled_from([64, 128, 400]), st.sampled_from([0, 20, 50]))
def test_markdown_of_any_shape_is_chunked_whole(text: str, limit: int, overlap: int) -> None:
    if not words(text):
        return
    made = chunks(text, limit=limit, overlap=overlap)
    assert made == chunks(text, limit=limit, overlap=overlap)
    assert words(text) - {"py"} <= set().union(*(words(one.search_text) for one in made))
    source = {line.strip() for line in text.split("\n")}
    for one in made:
        marks = [line for line in one.text.split("\n") if line.startswith("```")]
        assert marks == ["```py", "```"] * (len(marks) // 2)
        for line in one.text.split("\n"):
            if line.startswith("|"):
                assert line in source


@QUICK
@given(
    st.text(
        st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="&<>[]()!\\`~"),
        max_size=600,
    ),
    st.sampled_from([48, 128]),
)
def test_any_text_is_chunked_without_loss(text: str, limit: int) -> None:
    signs = Counter(filter(str.isalnum, text))
    if not signs:
        return
    made = chunks(text, limit=limit, overlap=10)
    assert signs <= Counter("".join(one.search_text for one in made))


@QUICK
@given(st.lists(PARAGRAPH, min_size=3, max_size=5), PARAGRAPH, st.data())
def test_an_edit_of_one_section_changes_no_other(
    sections: list[str], new: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(sections) - 1))
    edited = [*sections[:place], new, *sections[place + 1 :]]

    def made(parts: list[str]) -> list[Chunk]:
        text = "\n\n".join(f"# Part {n}\n\n{part}" for n, part in enumerate(parts))
        return chunks(text, limit=64, overlap=20)

    changed = {one.heading for one in set_of_new(made(sections), made(edited))}
    assert changed <= {f"Part {place}"}
