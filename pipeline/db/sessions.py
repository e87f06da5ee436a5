"""Sessions and their messages: what a conversation remembers, for as long as it lasts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, Text, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import ReturningInsert

from pipeline.db import ledger
from pipeline.db.tables import jobs, messages, sessions
from pipeline.settings import settings
from pipeline.types import JobStatus, Message

# Built once: each question runs it.
_ADD = insert(messages).from_select(
    ["workspace", "session_id", "job_id", "role", "content"],
    select(
        sessions.c.workspace,
        sessions.c.id,
        bindparam("of_job", type_=messages.c.job_id.type),
        bindparam("said_by", type_=Text),
        bindparam("said", type_=Text),
    ).where(
        sessions.c.workspace == bindparam("of_workspace"),
        sessions.c.id == bindparam("of_session"),
    ),
)


def touch(named: Select[Any]) -> ReturningInsert[Any]:
    """The statement that makes the sessions ``named`` by workspace and id, or notes a sign of life.

    It returns workspace and id.
    """
    return (
        insert(sessions)
        .from_select(["workspace", "id"], named)
        .on_conflict_do_update(
            index_elements=[sessions.c.workspace, sessions.c.id],
            set_={"last_seen_at": func.now()},
        )
        .returning(sessions.c.workspace, sessions.c.id)
    )


def add(conn: Connection, workspace: str, session_id: str, job_id: UUID, message: Message) -> None:
    """Append a turn of ``job_id``; nothing when the session is gone meanwhile."""
    conn.execute(
        _ADD,
        {
            "of_workspace": workspace,
            "of_session": session_id,
            "of_job": job_id,
            "said_by": message.role,
            "said": message.content,
        },
    )


def job_expiry() -> Any:
    """The time, as SQL, until which a job that ends now can be fetched."""
    return func.now() + timedelta(seconds=settings().job_ttl_s)


def language(conn: Connection, workspace: str, session_id: str) -> str | None:
    """The language of the session's last message that was long enough to tell."""
    return conn.execute(
        select(sessions.c.language).where(
            sessions.c.workspace == workspace, sessions.c.id == session_id
        )
    ).scalar_one_or_none()


def set_language(conn: Connection, workspace: str, session_id: str, code: str) -> None:
    """Remember ``code`` for messages that are too short to tell."""
    conn.execute(
        update(sessions)
        .where(sessions.c.workspace == workspace, sessions.c.id == session_id)
        .values(language=code)
    )


def history(conn: Connection, workspace: str, session_id: str, *, before: int) -> list[Message]:
    """The session's messages that precede the job numbered ``before``, oldest first.

    A turn that failed or was cancelled is left out, so that roles alternate and no question stands
    without its answer.
    """
    rows = conn.execute(
        select(messages.c.role, messages.c.content)
        .join(jobs, jobs.c.id == messages.c.job_id)
        .where(
            messages.c.workspace == workspace,
            messages.c.session_id == session_id,
            jobs.c.number < before,
            jobs.c.status.in_([JobStatus.DONE, JobStatus.EXPIRED]),
        )
        .order_by(jobs.c.number, messages.c.id)
    )
    return [Message(row.role, row.content) for row in rows]


def forget(conn: Connection, workspace: str, session_id: str) -> bool:
    """Delete the session with its history and cancel its unfinished jobs; False if unknown."""
    ledger.cancel(
        conn,
        jobs,
        (jobs.c.workspace == workspace) & (jobs.c.session_id == session_id),
        expires_at=job_expiry(),
    )
    result = conn.execute(
        delete(sessions).where(sessions.c.workspace == workspace, sessions.c.id == session_id)
    )
    return result.rowcount > 0


def remove_idle(conn: Connection, *, idle_s: float) -> int:
    """Delete sessions silent for ``idle_s`` seconds that have no unfinished job."""
    busy = (
        select(jobs.c.id)
        .where(
            jobs.c.workspace == sessions.c.workspace,
            jobs.c.session_id == sessions.c.id,
            jobs.c.status.in_([JobStatus.QUEUED, JobStatus.RUNNING]),
        )
        .exists()
    )
    result = conn.execute(
        delete(sessions).where(
            sessions.c.last_seen_at < func.now() - timedelta(seconds=idle_s), ~busy
        )
    )
    return result.rowcount
