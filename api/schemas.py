"""What comes out, as pydantic models: they shape the answers and the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pipeline.db.jobs import JobView
from pipeline.db.runs import RunView

JOB_ID = "6f1c2a1e-8d0b-4a57-9a51-0c6d2b1f3e11"

Track = Literal["skill", "document", "project"]


def _shown(**example: Any) -> ConfigDict:
    return ConfigDict(frozen=True, json_schema_extra={"examples": [example]})


def _only_if_set(**info: Any) -> Any:
    return Field(None, exclude_if=lambda value: value is None, **info)


# --- questions


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


# --- search


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
    """A file, and what there is to say about it."""

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
        partial=[
            {"path": "documents/scan.pdf", "reason": "page 4: a picture without text: run OCR"}
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
    partial: list[IngestWarning] = Field(
        description="Files that are indexed without a part of them that could not be read."
    )
    warnings: list[IngestWarning] = Field(
        description="Files that were skipped, and what was odd about files that were not."
    )
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
                "partial": view.partial,
                "warnings": [*view.skipped, *view.notes],
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
