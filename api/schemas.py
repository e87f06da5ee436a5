"""What goes in and out, as pydantic models: they check requests and make the OpenAPI document."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pipeline.db.jobs import JobView
from pipeline.db.runs import RunView
from pipeline.settings import settings
from pipeline.text.normalise import normalise

JOB_ID = "6f1c2a1e-8d0b-4a57-9a51-0c6d2b1f3e11"

LONGEST_WAIT_S = 60

MOST_RESULTS = 50

Track = Literal["skill", "document", "project"]


def _request(**example: Any) -> ConfigDict:
    return ConfigDict(
        extra="forbid", strict=True, frozen=True, json_schema_extra={"examples": [example]}
    )


def _shown(**example: Any) -> ConfigDict:
    return ConfigDict(frozen=True, json_schema_extra={"examples": [example]})


def _only_if_set(**info: Any) -> Any:
    return Field(None, exclude_if=lambda value: value is None, **info)


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


class Nothing(BaseModel):
    """No query, or no body."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- questions


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

    wait: float | None = Field(
        None,
        ge=0,
        le=LONGEST_WAIT_S,
        allow_inf_nan=False,
        description="Seconds; without it the server's own limit (LASTRO_ASK_WAIT_S).",
    )


class JobAccepted(BaseModel):
    """The question is recorded; its answer is at the address in `Location`."""

    model_config = _shown(job_id=JOB_ID, session_id="whatsapp-5511", status="queued")

    job_id: UUID
    session_id: str
    status: Literal["queued"]


class Source(BaseModel):
    """What stands behind an answer."""

    type: Track
    name: str = Field(description="The skill's name, or the document's path.")
    chunk: str = Field(description="`path#ordinal`.")
    score: float = Field(ge=0, le=1, description="The reranker's probability.")
    title: str
    heading: str = Field(description="The headings in force, outermost first.")


class JobError(BaseModel):
    """Why a job failed."""

    code: str
    detail: str


class ChatStatus(BaseModel):
    """Where a question stands, and its answer once `status` is `done`."""

    model_config = _shown(
        job_id=JOB_ID,
        session_id="whatsapp-5511",
        status="done",
        answer="Toque em “Esqueci minha senha” e siga o link que chega por e-mail.",
        grounded=True,
        language="pt",
        sources=[
            {
                "type": "skill",
                "name": "esqueci-a-senha",
                "chunk": "skills/esqueci-a-senha/SKILL.md#0",
                "score": 0.93,
                "title": "Esqueci a senha",
                "heading": "",
            }
        ],
        degraded=[],
        timings={"embed_query": 11.8, "retrieve": 9.1, "rerank": 4.2, "generate": 3.7},
    )

    job_id: UUID
    session_id: str | None
    status: Literal["queued", "running", "done", "failed", "cancelled", "expired"]
    position: int | None = _only_if_set(
        ge=0, description="Questions before this one; only while it is queued."
    )
    answer: str | None
    grounded: bool | None = Field(
        description="Whether sources stand behind the answer; false: it is the fixed refusal."
    )
    language: str | None
    sources: list[Source]
    degraded: list[str] = Field(description="What the answer had to do without.")
    timings: dict[str, float] = Field(description="Milliseconds per stage.")
    error: JobError | None = _only_if_set(description="Only when `status` is `failed`.")

    @classmethod
    def of(cls, view: JobView) -> ChatStatus:
        """The job as it is shown to its owner."""
        answer = view.answer or {}
        failed = view.error_code is not None
        return cls(
            job_id=view.id,
            session_id=view.session_id,
            status=view.status.value,
            position=view.position,
            answer=answer.get("text"),
            grounded=answer.get("grounded"),
            language=answer.get("language"),
            sources=answer.get("sources", []),
            degraded=answer.get("degraded", []),
            timings=view.timings,
            error=JobError(code=view.error_code or "", detail=view.error or "") if failed else None,
        )


class StatusQuery(BaseModel):
    """How to look at a job."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wait: float = Field(
        0,
        ge=0,
        le=LONGEST_WAIT_S,
        allow_inf_nan=False,
        description="Seconds to wait for the job's end before answering.",
    )


# --- search


class SearchQuery(BaseModel):
    """What to search for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Question = Field(description="The question.")
    k: int = Field(5, ge=1, le=MOST_RESULTS, description="Results, at most.")


class SearchResult(Source):
    """A passage that answers the question, or might."""

    text: str


class SearchResults(BaseModel):
    """The retrieval alone, best first, also what the cut would drop."""

    model_config = _shown(
        query="change my e-mail",
        language="en",
        results=[
            {
                "type": "document",
                "name": "documents/account.md",
                "chunk": "documents/account.md#3",
                "score": 0.81,
                "title": "Your account",
                "heading": "Your account > E-mail",
                "text": "Open Settings, then E-mail, and enter the new address.",
            }
        ],
        degraded=[],
    )

    query: str
    language: str
    results: list[SearchResult]
    degraded: list[str] = Field(description="What the search had to do without.")


# --- ingestion


class IngestRequest(BaseModel):
    """What to bring up to date; an empty object means all of the content folder."""

    model_config = _request(path="documents/faq.md", force=False)

    path: str = Field("", max_length=1000, description="A folder or file of the content folder.")
    track: Track | None = Field(None, description="This kind of content only.")
    force: bool = Field(False, description="Ingest unchanged files too.")


class IngestAccepted(BaseModel):
    """The run is recorded; how it goes is at the address in `Location`."""

    model_config = _shown(run_id=JOB_ID, status="queued")

    run_id: UUID
    status: Literal["queued"]


class IngestCounts(BaseModel):
    """Files of a run."""

    added: int
    changed: int
    removed: int
    unchanged: int
    failed: int
    total: int = Field(description="Files that the run has work with.")
    finished: int


class IngestFailure(BaseModel):
    """A file that could not be ingested."""

    path: str
    stage: str
    code: str
    reason: str


class IngestWarning(BaseModel):
    """A file that was skipped."""

    path: str
    reason: str


class IngestRun(BaseModel):
    """How an ingest run goes or went. `partial`: some of its files failed."""

    model_config = _shown(
        run_id=JOB_ID,
        status="partial",
        track=None,
        counts={
            "added": 11,
            "changed": 1,
            "removed": 0,
            "unchanged": 3,
            "failed": 1,
            "total": 13,
            "finished": 13,
        },
        failures=[
            {
                "path": "documents/old.md",
                "stage": "parse",
                "code": "unreadable",
                "reason": "documents/old.md is not UTF-8: save it as UTF-8.",
            }
        ],
        warnings=[],
        created_at="2026-03-02T09:30:00Z",
        finished_at="2026-03-02T09:30:04Z",
    )

    run_id: UUID
    status: Literal["queued", "running", "done", "partial", "failed", "cancelled"]
    track: Track | None
    counts: IngestCounts
    failures: list[IngestFailure]
    warnings: list[IngestWarning]
    error: JobError | None = _only_if_set(description="Only when the run itself failed.")
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, view: RunView) -> IngestRun:
        """The run as it is shown to its owner."""
        return cls.model_validate(
            {
                "run_id": view.id,
                "status": view.status.value,
                "track": view.track.value if view.track else None,
                "counts": view.counts,
                "failures": view.failures,
                "warnings": view.warnings,
                "error": {"code": view.error_code, "detail": view.error or ""}
                if view.error_code
                else None,
                "created_at": view.created_at,
                "finished_at": view.finished_at,
            }
        )


# --- health


class Component(BaseModel):
    """A server that Lastro needs."""

    status: Literal["ok", "down"]


class Workers(BaseModel):
    """Living workers by queue; `scheduler` sends again what was lost."""

    inference: int
    ingest: int
    scheduler: int


class Components(BaseModel):
    """The parts of the installation; what can't be asked is null."""

    database: Component
    broker: Component
    workers: Workers | None


class QueueDepth(BaseModel):
    """Unfinished questions."""

    queued: int
    running: int


class Health(BaseModel):
    """`degraded`: questions are accepted, and something that answers them is missing."""

    model_config = _shown(
        status="ok",
        components={
            "database": {"status": "ok"},
            "broker": {"status": "ok"},
            "workers": {"inference": 1, "ingest": 1, "scheduler": 1},
        },
        queue={"queued": 2, "running": 1},
    )

    status: Literal["ok", "degraded", "down"]
    components: Components
    queue: QueueDepth | None


class Alive(BaseModel):
    """The process answers."""

    model_config = _shown(status="ok")

    status: Literal["ok"]


# --- errors


class FieldError(BaseModel):
    """A field that is at fault."""

    field: str
    reason: str


class ProblemDetails(BaseModel):
    """An error, as RFC 9457 has it."""

    model_config = _shown(
        type="about:blank",
        title="Unprocessable Content",
        status=422,
        detail="message: must not be blank",
        code="invalid",
        instance=f"urn:uuid:{JOB_ID}",
        errors=[{"field": "message", "reason": "must not be blank"}],
    )

    type: str
    title: str
    status: int
    detail: str = Field(description="What is wrong and what to do, for people.")
    code: str = Field(description="The stable reason, for programs.")
    instance: str | None = Field(None, description="Names the request in the log.")
    errors: list[FieldError] = Field([], description="The fields at fault.")
