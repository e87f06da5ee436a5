"""The default content pack holds together: names, triggers, and questions with their sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.backends.parsers import front_matter
from pipeline.text import tokens

PACK = Path(__file__).parents[2] / "content"
SKILLS = sorted((PACK / "skills").glob("*/SKILL.md"))
DOCUMENTS = sorted(file for file in (PACK / "documents").iterdir() if file.is_file())
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (PACK / "questions.jsonl").read_text("utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if not question["refuse"]]
LANGUAGES = ["pt", "en", "es", "vi"]


def sources() -> dict[str, str]:
    """The text of each source, without front matter, by its name in `expect`."""
    skills = {f"skill:{file.parent.name}": file for file in SKILLS}
    documents = {f"document:{file.relative_to(PACK).as_posix()}": file for file in DOCUMENTS}
    return {name: body(file) for name, file in {**skills, **documents}.items()}


def body(file: Path) -> str:
    """The text of a file without its front matter."""
    return front_matter.split(file.read_text("utf-8"))[1]


def triggers(file: Path) -> list[str]:
    section = body(file).partition("## Quando usar\n")[2].partition("\n## ")[0]
    return [line[2:].strip() for line in section.splitlines() if line.startswith("- ")]


def folded(text: str) -> str:
    return " ".join(tokens.words(text))


def test_there_are_skills_and_documents() -> None:
    assert len(SKILLS) >= 12
    assert len(DOCUMENTS) == 5


@pytest.mark.parametrize("file", SKILLS, ids=lambda file: file.parent.name)
def test_a_skill_says_when_it_applies_and_what_to_do(file: Path) -> None:
    metadata, text, warnings = front_matter.split(file.read_text("utf-8"))
    assert not warnings
    assert metadata["name"] == file.parent.name
    assert metadata["description"].strip()
    assert 5 <= len(triggers(file)) <= 9
    assert "\n## Procedimento\n\n1. " in text


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_a_document_has_a_title_sections_and_a_table(file: Path) -> None:
    lines = body(file).splitlines()
    assert sum(line.startswith("# ") for line in lines) == 1
    assert any(line.startswith("## ") for line in lines)
    assert any(line.startswith("|---") for line in lines)


def test_no_two_skills_share_a_trigger() -> None:
    said = [folded(sentence) for file in SKILLS for sentence in triggers(file)]
    assert len(set(said)) == len(said)


def test_the_assistant_speaks_every_language() -> None:
    assistant = yaml.safe_load((PACK / "assistant.yaml").read_text("utf-8"))
    assert set(assistant) == {
        "name",
        "programme",
        "not",
        "default_language",
        "languages",
        "catalogue",
        "refusal",
        "clarification",
    }
    assert assistant["default_language"] == "pt"
    assert assistant["languages"] == LANGUAGES
    assert assistant["catalogue"] is False
    for texts in (assistant["refusal"], assistant["clarification"]):
        assert list(texts) == LANGUAGES
        assert all(text.strip() for text in texts.values())


def test_forty_questions_have_an_answer_and_fifteen_have_none() -> None:
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len(ANSWERABLE) == 40
    assert len(QUESTIONS) - len(ANSWERABLE) == 15
    assert sum(bool(question["history"]) for question in ANSWERABLE) >= 6
    for question in QUESTIONS:
        assert question["language"] in LANGUAGES
        assert bool(question["expect"]) is not question["refuse"]
        assert not (question["refuse"] and question["facts"])


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_every_expected_source_states_the_facts(question: dict[str, Any]) -> None:
    texts = sources()
    for name in question["expect"]:
        assert name in texts
        missing = [fact for fact in question["facts"] if fact not in texts[name]]
        assert not missing, f"{name} does not say {missing}"


def test_no_question_repeats_a_trigger() -> None:
    said = {folded(sentence) for file in SKILLS for sentence in triggers(file)}
    asked = {folded(question["question"]) for question in QUESTIONS}
    assert not said & asked
