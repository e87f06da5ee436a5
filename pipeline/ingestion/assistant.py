"""``assistant.yaml``: who answers, as the content pack says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.backends.parsers.encoding import decode
from pipeline.errors import InvalidAssistantError
from pipeline.types import Assistant

FILE = "assistant.yaml"

DEFAULT = Assistant(
    name="Lastro",
    programme="",
    is_not=(),
    default_language="en",
    languages=("en", "pt", "es", "vi"),
    catalogue=False,
    refusal={
        "en": "I could not find this in the documents, so I would rather not guess.",
        "pt": "Não encontrei isso nos documentos, por isso prefiro não adivinhar.",
        "es": "No encontré esto en los documentos, así que prefiero no adivinar.",
        "vi": "Tôi không tìm thấy điều này trong tài liệu nên không muốn đoán.",
    },
    clarification={
        "en": "I didn't quite understand. Could you write the question in other words?",
        "pt": "Não entendi bem. Pode escrever a pergunta com outras palavras?",
        "es": "No entendí bien. ¿Puede escribir la pregunta con otras palabras?",
        "vi": "Tôi chưa hiểu rõ. Bạn có thể viết lại câu hỏi bằng cách khác không?",
    },
)
"""For content packs without the file."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str = Field(min_length=1)
    programme: str = ""
    is_not: tuple[str, ...] = Field((), alias="not")
    default_language: str = "en"
    languages: tuple[str, ...] = DEFAULT.languages
    catalogue: bool = False
    refusal: dict[str, str] = Field(default_factory=dict)
    clarification: dict[str, str] = Field(default_factory=dict)


def load(root: Path) -> Assistant | None:
    """The assistant of the content folder ``root``; None when it has no such file.

    Texts that the file leaves out are the default's. Raises InvalidAssistantError that names the
    key, its value and the keys that exist.
    """
    file = root / FILE
    if not file.is_file():
        return None
    try:
        loaded = yaml.safe_load(decode(file.read_bytes(), FILE))
    except yaml.YAMLError as error:
        raise InvalidAssistantError(f"{FILE} is not valid YAML: {error}") from None
    if not isinstance(loaded, dict):
        raise InvalidAssistantError(f"{FILE} must be a mapping of keys to values.")
    try:
        read = _File.model_validate(loaded)
    except ValidationError as error:
        issue = error.errors()[0]
        key = ".".join(map(str, issue["loc"]))
        keys = ", ".join(field.alias or name for name, field in _File.model_fields.items())
        raise InvalidAssistantError(
            f"{FILE}: {key}={issue['input']!r}: {issue['msg']}. Keys: {keys}."
        ) from None
    if read.default_language not in read.languages:
        raise InvalidAssistantError(
            f"{FILE}: default_language={read.default_language!r} is not one of languages "
            f"({', '.join(read.languages)})."
        )
    return from_json(read.model_dump())


def as_json(assistant: Assistant) -> dict[str, Any]:
    """The assistant as a JSON object."""
    return asdict(assistant)


def from_json(stored: Mapping[str, Any]) -> Assistant:
    """The assistant that ``as_json`` stored."""
    return Assistant(
        **{
            **stored,
            "is_not": tuple(stored["is_not"]),
            "languages": tuple(stored["languages"]),
            "refusal": {**DEFAULT.refusal, **stored["refusal"]},
            "clarification": {**DEFAULT.clarification, **stored["clarification"]},
        }
    )
