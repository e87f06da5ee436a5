"""Question sets as they lie on disk: SQuAD-form JSON and ``questions.jsonl``."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.errors import SettingsError
from pipeline.types import Message


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what a right answer rests on.

    ``expect`` are source names as ``type:name``, any of which is right. ``same_topic`` are the
    documents that hold the question's topic, ``expect`` among them: without these the question is
    off topic. ``refuse`` says that nothing in the corpus answers it.
    """

    id: str
    text: str
    expect: frozenset[str]
    same_topic: frozenset[str] = frozenset()
    history: tuple[Message, ...] = ()
    language: str | None = None
    facts: tuple[str, ...] = ()
    refuse: bool = False


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions over a corpus: a content folder, or the texts of one by path."""

    name: str
    corpus: str
    questions: tuple[Question, ...]
    folder: Path | None = None
    files: dict[str, str] = field(default_factory=dict)


def load(
    file: Path,
    *,
    corpus: Path | None = None,
    articles: str = "all",
    sample: int | None = None,
    seed: int = 0,
) -> QuestionSet:
    """Read a question set. Raises SettingsError that says what is wrong with the file."""
    try:
        made = _jsonl(file, corpus) if file.suffix == ".jsonl" else _squad(file, corpus, articles)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{file} is neither SQuAD-form JSON nor questions.jsonl: {error!r}"
        ) from error
    if sample is not None and sample < len(made.questions):
        chosen = random.Random(seed).sample(made.questions, sample)  # noqa: S311 - no secret
        made = replace(made, questions=tuple(chosen))
    return made


def _squad(file: Path, corpus: Path | None, articles: str) -> QuestionSet:
    asked = _read(file)
    texts = _read(corpus or file)
    if [len(article["paragraphs"]) for article in asked] != [
        len(article["paragraphs"]) for article in texts
    ]:
        raise SettingsError(f"{corpus} and {file} are not parallel: other articles or paragraphs.")
    files = {
        f"documents/{_name(a, p)}": paragraph["context"]
        for a, article in enumerate(texts)
        for p, paragraph in enumerate(article["paragraphs"])
    }
    wanted = {"odd": (1,), "even": (0,), "all": (0, 1)}[articles]
    questions = [
        Question(
            id=str(qa["id"]),
            text=qa["question"],
            expect=frozenset({f"document:documents/{_name(a, p)}"}),
            same_topic=frozenset(
                f"documents/{_name(a, other)}" for other in range(len(article["paragraphs"]))
            ),
        )
        for a, article in enumerate(asked)
        if a % 2 in wanted
        for p, paragraph in enumerate(article["paragraphs"])
        for qa in paragraph["qas"]
    ]
    return QuestionSet(file.stem, (corpus or file).stem, tuple(questions), files=files)


def _name(article: int, paragraph: int) -> str:
    return f"{article:03}-{paragraph:03}.txt"


def _read(file: Path) -> Sequence[Any]:
    loaded: Sequence[Any] = json.loads(file.read_text(encoding="utf-8"))["data"]
    return loaded


def _jsonl(file: Path, corpus: Path | None) -> QuestionSet:
    questions = [
        Question(
            id=str(item["id"]),
            text=item["question"],
            expect=frozenset(item.get("expect", ())),
            history=tuple(
                Message(turn["role"], turn["content"]) for turn in item.get("history", ())
            ),
            language=item.get("language"),
            facts=tuple(item.get("facts", ())),
            refuse=bool(item.get("refuse", False)),
        )
        for item in map(json.loads, filter(str.strip, file.read_text("utf-8").splitlines()))
    ]
    folder = (corpus or file.parent).resolve()
    if not folder.is_dir():
        raise SettingsError(f"--corpus {folder} is not a content folder.")
    return QuestionSet(file.stem, folder.name, tuple(questions), folder=folder)
