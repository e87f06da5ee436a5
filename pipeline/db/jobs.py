"""Jobs: one row per question, from its arrival until its answer has expired."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    Connection,
    RowMapping,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)

from pipeline.db import ledger, sessions
from pipeline.db.ledger import UNFINISHED, Claim
from pipeline.db.tables import jobs, messages, trail
from pipeline.errors import GoneError, NotFoundError, QueueFullError
from pipeline.settings import settings
from pipeline.types import JobStatus, Message, Stage


@dataclass(frozen=True, slots=True)
class JobView:
    """What the owner of a job may see of it. Times are milliseconds per stage."""

    id: UUID
    session_id: str | None
    kind: str
    status: JobStatus
    stage: str | None
    position: int | None
    answer: dict[str, Any] | None
    error_code: str | None
    error: str | None
    timings: dict[str, float]


def _submit() -> Any:
    """One statement, so that the front door needs one round trip to record a question."""
    waiting = (
        select(func.count())
        .select_from(
            select(jobs.c.id)
            .where(jobs.c.status == JobStatus.QUEUED)
            .limit(bindparam("limit"))
            .subquery()
        )
        .scalar_subquery()
    )
    given = {
        name: bindparam(f"new_{name}", type_=jobs.c[name].type)
        for name in ("id", "workspace", "session_id", "kind", "question")
    }
    fixed = {"stage": literal(Stage.EMBED_QUERY), "sends": literal(1), "sent_at": func.now()}
    job = (
        insert(jobs)
        .from_select(
            [*given, *fixed],
            select(*given.values(), *fixed.values()).where(waiting < bindparam("limit")),
        )
        .returning(*(jobs.c[name] for name in given))
        .cte("job")
    )
    in_session = select(job.c.workspace, job.c.session_id).where(job.c.session_id.is_not(None))
    session = sessions.touch(in_session).cte("session")
    message = (
        insert(messages)
        .from_select(
            ["workspace", "session_id", "job_id", "role", "content"],
            select(
                session.c.workspace, session.c.id, job.c.id, literal("user"), job.c.question
            ).where(session.c.id == job.c.session_id),
        )
        .cte("message")
    )
    return select(job.c.id).add_cte(message)


_SUBMIT = _submit()


def submit(
    conn: Connection,
    *,
    workspace: str,
    session_id: str | None,
    question: str,
    kind: str = "chat",
) -> UUID:
    """Record a question; after the commit the caller sends stage ``embed_query`` for it.

    Raises QueueFullError when ``queue_limit`` jobs wait already.
    """
    limit = settings().queue_limit
    job_id = uuid4()
    recorded = conn.execute(
        _SUBMIT,
        {
            "limit": limit,
            "new_id": job_id,
            "new_workspace": workspace,
            "new_session_id": session_id,
            "new_kind": kind,
            "new_question": question,
        },
    ).one_or_none()
    if recorded is None:
        raise QueueFullError(f"{limit} questions are waiting already: try again later.")
    return job_id


def view(conn: Connection, workspace: str, job_id: UUID) -> JobView:
    """The job as its owner sees it.

    Raises NotFoundError when it is unknown or another workspace's, GoneError when it has expired.
    """
    row = conn.execute(
        select(jobs).where(jobs.c.id == job_id, jobs.c.workspace == workspace)
    ).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no job {job_id}.")
    if row.status == JobStatus.EXPIRED:
        raise GoneError(f"The answer of job {job_id} has expired.")
    status = JobStatus(row.status)
    position = None
    if status is JobStatus.QUEUED:
        position = conn.execute(
            select(func.count()).where(
                jobs.c.status == JobStatus.QUEUED, jobs.c.number < row.number
            )
        ).scalar_one()
    return JobView(
        id=row.id,
        session_id=row.session_id,
        kind=row.kind,
        status=status,
        stage=row.stage if status is JobStatus.RUNNING else None,
        position=position,
        answer=row.answer,
        error_code=row.error_code if status is JobStatus.FAILED else None,
        error=row.error if status is JobStatus.FAILED else None,
        timings=row.timings,
    )


def waiting(conn: Connection) -> dict[str, int]:
    """Unfinished jobs by status."""
    rows = conn.execute(
        select(jobs.c.status, func.count())
        .where(jobs.c.status.in_(UNFINISHED))
        .group_by(jobs.c.status)
    )
    return {status.value: 0 for status in UNFINISHED} | {row[0]: row[1] for row in rows}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the trail keeps of an ended job."""

    outcome: str
    language: str
    candidates: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    models: Mapping[str, str]
    degraded: list[str]


def complete(
    conn: Connection, held: Claim, answer: Mapping[str, Any], outcome: Outcome | None
) -> None:
    """End the job with its answer, the assistant's message and the trail, all or nothing.

    Raises LeaseLostError when the job is no longer this worker's.
    """
    timings = ledger.finish(
        conn,
        held,
        JobStatus.DONE,
        keep=timedelta(seconds=settings().job_ttl_s),
        answer=dict(answer),
        error_code=None,
        error=None,
    )
    row = held.row
    if row["session_id"] is not None:
        sessions.add(
            conn, row["workspace"], row["session_id"], held.id, Message("assistant", answer["text"])
        )
    if outcome is not None:
        _leave_trail(conn, held.row, timings, outcome)


def fail(conn: Connection, held: Claim, code: str, reason: str) -> None:
    """End the job with its reason. Raises LeaseLostError when it is no longer this worker's."""
    timings = ledger.finish(
        conn,
        held,
        JobStatus.FAILED,
        keep=timedelta(seconds=settings().job_ttl_s),
        error_code=code,
        error=reason,
    )
    if held.row["kind"] == "chat":
        failed = Outcome("failed", "", [], [], {}, [])
        _leave_trail(conn, held.row, timings, failed, code)


def _leave_trail(
    conn: Connection,
    row: RowMapping,
    timings: Mapping[str, float],
    outcome: Outcome,
    code: str | None = None,
) -> None:
    question = row["question"]
    conn.execute(
        insert(trail),
        {
            "job_id": row["id"],
            "workspace": row["workspace"],
            "session_id": row["session_id"],
            "question": question if settings().trail_questions == "text" else None,
            "question_hash": hashlib.sha256(question.encode()).hexdigest(),
            "timings": timings,
            "error_code": code,
        }
        | asdict(outcome),
    )


def cancel(conn: Connection, workspace: str, job_id: UUID) -> None:
    """Cancel the job wherever it is; one that has ended stays as it is.

    Raises NotFoundError when it is unknown or another workspace's.
    """
    known = conn.execute(
        select(jobs.c.id).where(jobs.c.id == job_id, jobs.c.workspace == workspace)
    ).first()
    if known is None:
        raise NotFoundError(f"There is no job {job_id}.")
    ledger.cancel(conn, jobs, jobs.c.id == job_id, expires_at=sessions.job_expiry())


def expire(conn: Connection, *, keep_days: int) -> int:
    """Remove the content of answers past their time, and rows and trail past ``keep_days``."""
    expired = conn.execute(
        update(jobs)
        .where(
            jobs.c.expires_at < func.now(),
            jobs.c.status.in_([JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED]),
        )
        .values(status=JobStatus.EXPIRED, question=None, answer=None, state={}, error=None)
    ).rowcount
    old = func.now() - timedelta(days=keep_days)
    conn.execute(delete(jobs).where(jobs.c.status == JobStatus.EXPIRED, jobs.c.expires_at < old))
    conn.execute(delete(trail).where(trail.c.created_at < old))
    return expired
