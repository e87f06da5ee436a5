"""``assistant.yaml``: who answers, as the content pack says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pipeline.errors import (
    EmptyDocumentError,
    FileTooLargeError,
    ForbiddenPathError,
    InvalidAssistantError,
    NotFoundError,
    UnreadableError,
)
from pipeline.ingestion.folder import ASSISTANT_FILE
from pipeline.ingestion.parse import read
from pipeline.text import safe_yaml
from pipeline.text.decode import decode
from pipeline.types import Assistant

FILE = ASSISTANT_FILE
MAX_BYTES = 1_000_000

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

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Code = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: _Text
    programme: str = ""
    is_not: tuple[_Text, ...] = Field((), alias="not")
    default_language: _Code = DEFAULT.default_language
    languages: tuple[_Code, ...] = DEFAULT.languages
    catalogue: bool = DEFAULT.catalogue
    refusal: dict[_Code, _Text] = Field(default_factory=dict)
    clarification: dict[_Code, _Text] = Field(default_factory=dict)


_KEYS = ", ".join(field.alias or name for name, field in _File.model_fields.items())


def load(root: Path) -> Assistant | None:
    """The assistant of the content folder ``root``; None when it has no such file.

    Texts that the file leaves out are the default's. Raises InvalidAssistantError that names the
    key, its value and the keys that exist.
    """
    try:
        data = read(root, FILE, max_bytes=MAX_BYTES, follow_links=True)
    except NotFoundError:
        return None
    except (FileTooLargeError, ForbiddenPathError, UnreadableError) as error:
        raise InvalidAssistantError(str(error)) from None
    return _checked(_mapping(data))


def _mapping(data: bytes) -> dict[str, Any]:
    try:
        loaded = safe_yaml.load(decode(data, FILE))
    except (EmptyDocumentError, UnreadableError) as error:
        raise InvalidAssistantError(f"{error} Keys: {_KEYS}.") from None
    except safe_yaml.InvalidYamlError as error:
        raise InvalidAssistantError(f"{FILE} is not valid YAML: {error}.") from None
    if not isinstance(loaded, dict):
        raise InvalidAssistantError(f"{FILE} must be a mapping. Keys: {_KEYS}.")
    return loaded


def _checked(loaded: Mapping[str, Any]) -> Assistant:
    try:
        file = _File.model_validate(loaded)
    except ValidationError as error:
        issue = error.errors()[0]
        key = ".".join(map(str, issue["loc"]))
        value = "" if issue["type"] == "missing" else f"={issue['input']!r}"
        raise InvalidAssistantError(
            f"{FILE}: {key}{value}: {issue['msg']}. Keys: {_KEYS}."
        ) from None
    if file.default_language not in file.languages:
        raise InvalidAssistantError(
            f"{FILE}: default_language={file.default_language!r} is not one of languages "
            f"({', '.join(file.languages)}): add it there, or choose one of them."
        )
    return from_json(file.model_dump())


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
