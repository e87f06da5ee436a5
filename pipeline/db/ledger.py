"""Rows as units of work: claim, heartbeat, hand on, fail, and find what was lost.

PostgreSQL is the record and a message is only a hint that a row has work to do. So every rule is
about the row:

- A worker **claims** a row for one stage. The claim sets a **lease** (``lease_until``), which a
  heartbeat extends, and raises the **fencing token**. A second message for the same stage finds the
  lease, or a later stage, and does nothing.
- Every write at the end of a stage names the token that its claim got. A worker that was taken for
  dead and comes back holds an old token: its write changes no row and raises LeaseLostError.
- A row whose lease has run out, or that has no lease and whose message is gone from the broker, is
  **lost**; the sweep sends it again. After ``max_attempts`` claims of one stage it fails instead.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    CursorResult,
    Interval,
    RowMapping,
    Table,
    and_,
    bindparam,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from pipeline.db.tables import ingest_items, ingest_runs, jobs
from pipeline.errors import LeaseLostError
from pipeline.types import JobStatus, Stage

WITHOUT_MESSAGE = text("'9999-01-01'")
"""For ``not_before``: no message is out, so none can be lost. Psycopg can't read 'infinity'."""

UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)

ENDED_CHANNEL = "lastro_ended"
"""The NOTIFY channel; the payload is ``<table>:<id>``."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run ``stage`` of a row until the lease ends.

    ``row`` is the row as claimed; ``since`` the time of the claim by this process's clock.
    """

    table: Table
    id: Any
    stage: Stage
    token: int
    row: RowMapping
    since: float = field(default_factory=time.perf_counter)


def claim(
    conn: Connection, table: Table, row_id: Any, stage: Stage, *, owner: str, lease_s: float
) -> Claim | None:
    """Take the row for ``stage``; None when it is another worker's, ended, or at another stage."""
    values = {"row_id": row_id, "at": stage, "owner": owner, "lease": timedelta(seconds=lease_s)}
    row = conn.execute(_claim(table), values).mappings().one_or_none()
    return None if row is None else Claim(table, row_id, stage, row["token"], row)


@functools.cache
def _claim(table: Table) -> Any:
    # Built once per table: making a statement costs more than running it.
    return (
        update(table)
        .where(
            table.c.id == bindparam("row_id"),
            table.c.stage == bindparam("at"),
            table.c.status.in_(UNFINISHED),
            or_(table.c.lease_until.is_(None), table.c.lease_until < func.now()),
        )
        .values(
            status=JobStatus.RUNNING,
            token=table.c.token + 1,
            attempts=table.c.attempts + 1,
            lease_until=func.now() + bindparam("lease", type_=Interval),
            lease_owner=bindparam("owner"),
            started_at=func.coalesce(table.c.started_at, func.now()),
        )
        .returning(table)
    )


def heartbeat(conn: Connection, held: Claim, *, lease_s: float) -> bool:
    """Extend the lease; False when it is lost, so that the stage may as well stop."""
    result = conn.execute(
        update(held.table)
        .where(_held(held.table))
        .values(lease_until=func.now() + timedelta(seconds=lease_s)),
        _names(held),
    )
    return result.rowcount == 1


def hand_on(
    conn: Connection, held: Claim, stage: Stage, *, state: Mapping[str, Any] | None = None
) -> None:
    """End the held stage and make the row ready for ``stage``, whose message the caller sends next.

    Raises LeaseLostError when the claim is no longer this worker's.
    """
    values = {"following": stage, "took": _took(held)}
    if state is not None:
        values["handed_on"] = state
    _write(conn, held, _hand_on(held.table, with_state=state is not None), values)


@functools.cache
def _hand_on(table: Table, *, with_state: bool) -> Any:
    values = {
        "stage": bindparam("following"),
        "attempts": 0,
        "lease_until": None,
        "sends": table.c.sends + 1,
        "sent_at": func.now(),
        "timings": table.c.timings + bindparam("took", type_=JSONB),
    }
    if with_state:
        values["state"] = bindparam("handed_on", type_=JSONB)
    return update(table).where(_held(table)).values(values)


def finish(
    conn: Connection,
    held: Claim,
    status: JobStatus,
    *,
    keep: timedelta | None = None,
    **values: Any,
) -> dict[str, float]:
    """End the row, tell those who wait for it at the commit, and return its timings.

    ``keep`` is how long a job's answer can be fetched. Raises LeaseLostError when the claim is no
    longer this worker's.
    """
    values = {"status": status} | values
    given = {f"new_{name}": value for name, value in values.items()}
    if keep is not None:
        given["keep"] = keep
    statement = _finish(held.table, tuple(values), expires=keep is not None)
    result = _write(conn, held, statement, given | {"took": _took(held)})
    timings: dict[str, float] = result.scalar_one()
    return timings


@functools.cache
def _finish(table: Table, given: tuple[str, ...], *, expires: bool) -> Any:
    values: dict[str, Any] = {
        "timings": table.c.timings + bindparam("took", type_=JSONB),
        "lease_until": None,
        "finished_at": func.now(),
        "state": {},
    }
    for name in given:
        values[name] = bindparam(f"new_{name}", type_=table.c[name].type)
    if expires:
        values["expires_at"] = func.now() + bindparam("keep", type_=Interval)
    return (
        update(table)
        .where(_held(table))
        .values(values)
        .returning(table.c.timings, _notified(table, table.c.id))
    )


def cancel(conn: Connection, table: Table, condition: Any, **values: Any) -> None:
    """Cancel the unfinished rows that ``condition`` names, wherever they are.

    The raised token makes the write of a worker that is at one of them right now fail.
    """
    rows = conn.execute(
        update(table)
        .where(condition, table.c.status.in_(UNFINISHED))
        .values(
            status=JobStatus.CANCELLED,
            token=table.c.token + 1,
            lease_until=None,
            finished_at=func.now(),
            state={},
            **values,
        )
        .returning(table.c.id)
    )
    for row in rows:
        notify_ended(conn, table, row.id)


def notify_ended(conn: Connection, table: Table, row_id: Any) -> None:
    """Tell the listeners of ``lastro_ended`` that a row has ended."""
    conn.execute(select(_notified(table, row_id)))


def _notified(table: Table, row_id: Any) -> Any:
    return func.pg_notify(ENDED_CHANNEL, func.concat(f"{table.name}:", row_id))


def put_back(conn: Connection, held: Claim, *, pause_s: float, code: str, reason: str) -> None:
    """Give the row back after a passing failure: the sweep sends it again after ``pause_s``."""
    statement = (
        update(held.table)
        .where(_held(held.table))
        .values(
            lease_until=None,
            sent_at=None,
            not_before=func.now() + timedelta(seconds=pause_s),
            error_code=code,
            error=reason,
        )
    )
    _write(conn, held, statement, {})


def wait(conn: Connection, held: Claim) -> None:
    """Give the row back untried, until its message is sent after ``stop_waiting``."""
    statement = (
        update(held.table)
        .where(_held(held.table))
        .values(
            status=JobStatus.QUEUED,
            attempts=0,
            lease_until=None,
            started_at=None,
            not_before=WITHOUT_MESSAGE,
        )
    )
    _write(conn, held, statement, {})


def stop_waiting(table: Table, condition: Any) -> Any:
    """A statement that lets waiting rows go and returns them; the caller sends their messages."""
    return (
        update(table)
        .where(table.c.not_before == WITHOUT_MESSAGE, condition)
        .values(not_before=None, sends=table.c.sends + 1, sent_at=func.now())
        .returning(table.c.id, table.c.stage)
    )


def _took(held: Claim) -> dict[str, float]:
    return {held.stage.value: round((time.perf_counter() - held.since) * 1000, 1)}


def _held(table: Table) -> Any:
    """The row, as long as the claim of ``_names`` is good."""
    return and_(
        table.c.id == bindparam("row_id"),
        table.c.token == bindparam("held_token"),
        table.c.stage == bindparam("at"),
        table.c.status == JobStatus.RUNNING,
    )


def _names(held: Claim) -> dict[str, Any]:
    return {"row_id": held.id, "held_token": held.token, "at": held.stage}


def _write(
    conn: Connection, held: Claim, statement: Any, values: Mapping[str, Any]
) -> CursorResult[Any]:
    result = conn.execute(statement, _names(held) | dict(values))
    if result.rowcount != 1:
        raise LeaseLostError(
            f"{held.table.name} {held.id}: the lease of stage {held.stage} is lost"
        )
    return result


# --- the sweep's side


def suspects(conn: Connection, table: Table, *, grace_s: float) -> list[tuple[Any, Stage]]:
    """Unfinished rows that no worker holds and whose last message is older than ``grace_s``.

    Their message may just be waiting in the broker: the caller looks there before sending again.
    """
    rows = conn.execute(select(table.c.id, table.c.stage).where(_unattended(table, grace_s)))
    return [(row.id, Stage(row.stage)) for row in rows]


def exhausted(
    conn: Connection, table: Table, ids: Collection[Any], *, grace_s: float, max_attempts: int
) -> list[RowMapping]:
    """Of the lost rows ``ids``, those that were tried often enough; locked until the commit."""
    return list(
        conn.execute(
            select(table)
            .where(
                table.c.id.in_(ids),
                _unattended(table, grace_s),
                table.c.attempts >= max_attempts,
            )
            .with_for_update(skip_locked=True)
        ).mappings()
    )


def mark_sent_again(
    conn: Connection, table: Table, ids: Collection[Any], *, grace_s: float
) -> list[tuple[Any, Stage, int]]:
    """Record a new message for each of ``ids`` that is still lost; the caller sends them.

    A row that has moved on since the caller looked has a young message and is left alone. Returns
    (row id, stage, how often the stage was claimed) of the others.
    """
    rows = conn.execute(
        update(table)
        .where(table.c.id.in_(ids), _unattended(table, grace_s))
        .values(sends=table.c.sends + 1, sent_at=func.now(), lease_until=None)
        .returning(table.c.id, table.c.stage, table.c.attempts)
    )
    return [(row.id, Stage(row.stage), row.attempts) for row in rows]


def _unattended(table: Table, grace_s: float) -> Any:
    return and_(
        table.c.status.in_(UNFINISHED),
        or_(table.c.lease_until.is_(None), table.c.lease_until < func.now()),
        or_(
            table.c.sent_at.is_(None),
            table.c.sent_at < func.now() - timedelta(seconds=grace_s),
        ),
        or_(table.c.not_before.is_(None), table.c.not_before < func.now()),
    )


LEDGERS = (jobs, ingest_runs, ingest_items)
