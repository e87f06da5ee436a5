"""The normal form of text, and bytes read as text without guessing."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import EmptyDocumentError, UnreadableError
from pipeline.text.decode import decode
from pipeline.text.normalise import content_hash, normalise

LATE = "a" * 5000 + "\nĐặng - café\n"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a\x00b\x07c\x1b", "abc"),
        ("\ufeffa\ufeff", "a"),
        ("a\r\nb\rc\nd\te", "a\nb\nc\nd\te"),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"),
        ("be\u0323\u0302nh vie\u0323\u0302n", "bệnh viện"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_text_has_one_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text(st.characters()))
def test_the_form_is_final_and_fits_into_a_database(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert "\x00" not in once
    assert once.encode().decode() == once


def test_a_hash_knows_where_its_parts_end() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc")
    assert content_hash("é") == content_hash("é".encode())
    assert len(content_hash("")) == 64


@pytest.mark.parametrize(
    "data",
    [
        LATE.encode(),
        LATE.encode("utf-8-sig"),
        LATE.encode("utf-16"),
        codecs.BOM_UTF16_BE + LATE.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + LATE.encode("utf-32-le"),
        LATE.replace("\n", "\r\n").encode(),
    ],
)
def test_letters_far_into_a_file_are_read_as_written(data: bytes) -> None:
    assert decode(data, "notes.txt") == LATE


@pytest.mark.parametrize(
    "data",
    [
        LATE.encode("cp1258", "replace"),
        "café".encode("latin-1"),
        b"\x89PNG\r\n\x1a\n\x00\x00",
        "plain words without a mark".encode("utf-16-le"),
        bytes(range(1, 128)) + b"\x00" * 200,
    ],
)
def test_what_is_no_unicode_text_is_refused_with_the_way_out(data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"docs/notes\.md .*Save it as UTF-8"):
        decode(data, "docs/notes.md")


def test_a_stray_nul_costs_no_word() -> None:
    assert decode(b"one two\x00 three", "a.md") == "one two three"


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "---\n***"])
def test_a_file_without_words_is_empty(text: str) -> None:
    with pytest.raises(EmptyDocumentError, match=r"a\.md"):
        decode(text.encode(), "a.md")
