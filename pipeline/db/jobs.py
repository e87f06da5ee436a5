"""Jobs: one row per question, from its arrival until its answer has expired."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, insert, select, update

from pipeline.db import ledger, sessions
from pipeline.db.ledger import UNFINISHED, Claim
from pipeline.db.tables import jobs, trail
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


# Built once: for the front door, making these statements costs as much as running them.
_COUNT_QUEUED = select(func.count()).select_from(
    select(jobs.c.id)
    .where(jobs.c.status == JobStatus.QUEUED)
    .limit(bindparam("at_most"))
    .subquery()
)
_INSERT = insert(jobs).values(stage=Stage.EMBED_QUERY, sends=1, sent_at=func.now())


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
    waiting = conn.execute(_COUNT_QUEUED, {"at_most": limit}).scalar_one()
    if waiting >= limit:
        raise QueueFullError(f"{waiting} questions are waiting already: try again later.")
    job_id = uuid4()
    conn.execute(
        _INSERT,
        {
            "id": job_id,
            "workspace": workspace,
            "session_id": session_id,
            "kind": kind,
            "question": question,
        },
    )
    if session_id is not None:
        sessions.touch(conn, workspace, session_id)
        sessions.add(conn, workspace, session_id, job_id, Message("user", question))
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
    ledger.finish(
        conn,
        held,
        JobStatus.DONE,
        answer=dict(answer),
        error_code=None,
        error=None,
        expires_at=sessions.job_expiry(),
    )
    row = held.row
    if row["session_id"] is not None:
        sessions.add(
            conn, row["workspace"], row["session_id"], held.id, Message("assistant", answer["text"])
        )
    if outcome is not None:
        _leave_trail(conn, held.row, outcome)


def fail(conn: Connection, held: Claim, code: str, reason: str) -> None:
    """End the job with its reason. Raises LeaseLostError when it is no longer this worker's."""
    ledger.finish(
        conn,
        held,
        JobStatus.FAILED,
        error_code=code,
        error=reason,
        expires_at=sessions.job_expiry(),
    )
    leave_failure(conn, held.row, code)


def leave_failure(conn: Connection, row: RowMapping, code: str) -> None:
    """The trail of a job that failed, also of one whose worker is dead."""
    if row["kind"] == "chat":
        _leave_trail(conn, row, Outcome("failed", "", [], [], {}, []), code)


def _leave_trail(
    conn: Connection, row: RowMapping, outcome: Outcome, code: str | None = None
) -> None:
    question = row["question"]
    timings = conn.execute(select(jobs.c.timings).where(jobs.c.id == row["id"])).scalar_one()
    conn.execute(
        insert(trail).values(
            job_id=row["id"],
            workspace=row["workspace"],
            session_id=row["session_id"],
            question=question if settings().trail_questions == "text" else None,
            question_hash=hashlib.sha256(question.encode()).hexdigest(),
            timings=timings,
            error_code=code,
            **asdict(outcome),
        )
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
