"""What comes in, as pydantic models: bodies and queries, checked before a handler sees them.

A field that is not listed is refused, never ignored.
"""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from starlette.datastructures import UploadFile

from api.schemas import Track
from pipeline.settings import settings
from pipeline.text.normalise import normalise

LONGEST_WAIT_S = 60

MOST_RESULTS = 50


def _request(**example: Any) -> ConfigDict:
    return ConfigDict(
        extra="forbid", strict=True, frozen=True, json_schema_extra={"examples": [example]}
    )


_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that show nothing: Hangul fillers and the empty Braille cell."""


def _question(text: str) -> str:
    """``text`` in its normal form; ValueError for nothing, too much or what is no text."""
    if any(unicodedata.category(c) == "Cs" for c in text):
        raise ValueError("must be Unicode text: it holds half of a surrogate pair")
    cleaned = normalise(text).strip()
    if all(unicodedata.category(c)[0] not in "LNPS" or c in _UNSEEN for c in cleaned):
        raise ValueError("must not be blank")
    limit = settings().max_message_chars
    if len(cleaned) > limit:
        raise ValueError(f"may have at most {limit} characters, this has {len(cleaned)}")
    return cleaned


def _session(name: str) -> str:
    if not name.isprintable():
        raise ValueError("must be printable characters")
    return name


def _limit_of_settings(schema: dict[str, Any]) -> None:
    schema["maxLength"] = settings().max_message_chars


Question = Annotated[
    str, AfterValidator(_question), Field(min_length=1, json_schema_extra=_limit_of_settings)
]

SessionId = Annotated[
    str,
    AfterValidator(_session),
    Field(
        min_length=1,
        max_length=128,
        pattern="^[^/]+$",
        description="Names the conversation; printable characters, no `/`.",
    ),
]

Wait = Annotated[float, Field(ge=0, le=LONGEST_WAIT_S, allow_inf_nan=False)]


class Nothing(BaseModel):
    """No query, or no body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Session(BaseModel):
    """A conversation's name in a path."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session_id: SessionId


class ChatRequest(BaseModel):
    """A question. Fields that are not listed here are refused."""

    model_config = _request(session_id="whatsapp-5511", message="como recupero minha senha?")

    message: Question = Field(description="The question, as the person wrote it.")
    session_id: SessionId | None = Field(
        None, description="Continues this conversation; without it a new one is begun."
    )


class AskRequest(ChatRequest):
    """A question, and how long to wait for its answer."""

    model_config = _request(session_id="web-1", message="how do I reset it?", wait=20)

    wait: Wait | None = Field(
        None, description="Seconds; without it the server's own limit (LASTRO_ASK_WAIT_S)."
    )


class AskQuery(BaseModel):
    """How long to wait, said where `/chat/status` takes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wait: Wait | None = Field(None, description="Seconds; the body's `wait` goes before it.")


class StatusQuery(BaseModel):
    """How to look at a job."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wait: Wait = Field(0, description="Seconds to wait for the job's end before answering.")


class SearchQuery(BaseModel):
    """What to search for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Question = Field(description="The question.")
    k: int = Field(5, ge=1, le=MOST_RESULTS, description="Results, at most.")


class IngestRequest(BaseModel):
    """What to bring up to date; an empty object means all of the content folder."""

    model_config = _request(path="documents/faq.md", force=False)

    path: str = Field("", max_length=1000, description="A folder or file of the content folder.")
    track: Track | None = Field(None, description="This kind of content only.")
    force: bool = Field(False, description="Ingest unchanged files too.")
    allow_removals: bool = Field(
        False, description="Also where more than half of a track would be removed."
    )
    retry: UUID | None = Field(
        None, strict=False, description="Only the files that failed in this run."
    )


class UploadRequest(BaseModel):
    """A file for the content folder."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    file: Annotated[UploadFile, WithJsonSchema({"type": "string", "format": "binary"})]
    path: str = Field(
        "",
        max_length=1000,
        description="Where it goes, like documents/faq.pdf; by default into documents/ under its "
        "own name. What is there is replaced.",
    )
