"""``assistant.yaml``: read, checked, stored and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import InvalidAssistantError
from pipeline.ingestion import assistant
from pipeline.types import Assistant

PACKS = Path(__file__).parents[2]


def load(tmp_path: Path, text: str) -> Assistant:
    (tmp_path / "assistant.yaml").write_text(text)
    made = assistant.load(tmp_path)
    assert made is not None
    return made


def test_the_packs_of_the_repository_are_read() -> None:
    made = assistant.load(PACKS / "content")
    assert made is not None
    assert made.name == "Assistente Jangada"
    assert made.languages == ("pt", "en", "es", "vi")
    assert len(made.is_not) == 4
    assert made.refusal["pt"].startswith("Não encontrei")
    assert assistant.load(PACKS / "tests" / "packs" / "small") is not None


def test_a_pack_without_the_file_has_none(tmp_path: Path) -> None:
    assert assistant.load(tmp_path) is None


def test_what_is_left_out_is_the_default_s(tmp_path: Path) -> None:
    made = load(tmp_path, "name: Ana\nrefusal: {en: Sorry.}\n")
    assert made.refusal == {**assistant.DEFAULT.refusal, "en": "Sorry."}
    assert made.clarification == assistant.DEFAULT.clarification
    assert (made.default_language, made.catalogue) == ("en", False)
    assert set(assistant.DEFAULT.refusal) == set(assistant.DEFAULT.clarification)
    assert set(assistant.DEFAULT.refusal) == {"pt", "en", "es", "vi"}


def test_it_is_stored_as_json_and_back(tmp_path: Path) -> None:
    made = load(tmp_path, "name: Ana\nnot: [a bank]\ncatalogue: true\nlanguages: [en, pt-BR]\n")
    stored = json.loads(json.dumps(assistant.as_json(made)))
    assert assistant.from_json(stored) == made
    assert made.is_not == ("a bank",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name: Ana\nnme: x", "nme='x'"),
        ("programme: x", "name: Field required"),
        ("name: ''", "name=''"),
        ("name: 5", "name=5"),
        ("name: Ana\nlanguages: [no, pt]", "languages.0=False"),
        ("name: Ana\nlanguages: pt", "languages='pt'"),
        ("name: Ana\nlanguages: [Portuguese]", "languages.0='Portuguese'"),
        ("name: Ana\nlanguages: [pt]", "default_language='en'"),
        ("name: Ana\ndefault_language: fr", "default_language='fr'"),
        ("name: Ana\nrefusal: Sorry", "refusal='Sorry'"),
        ("name: Ana\nrefusal: {pt: ' '}", "refusal.pt=' '"),
        ("name: Ana\ncatalogue: maybe", "catalogue='maybe'"),
        ("name: Ana\nis_not: [x]", "is_not=['x']"),
        ("- name", "must be a mapping"),
        ("name: a: b", "line 1"),
        ("a: &a [*a]", "aliases"),
        ("", "holds no text"),
    ],
)
def test_a_wrong_key_is_named_with_its_value_and_the_keys_that_exist(
    tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(InvalidAssistantError) as refused:
        load(tmp_path, text)
    assert named in str(refused.value)
    assert "assistant.yaml" in str(refused.value)


def test_the_keys_are_listed_as_the_file_spells_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidAssistantError, match="name, programme, not, default_language"):
        load(tmp_path, "name: Ana\nother: 1")


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("name: secret")
    root = tmp_path / "content"
    root.mkdir()
    (root / "assistant.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(InvalidAssistantError) as refused:
        assistant.load(root)
    assert "secret" not in str(refused.value)
