"""The scheduler's work: send again what was lost, fail what was tried enough, remove the old."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import Connection, Table, func, select

from pipeline.broker import app
from pipeline.db import content, jobs, ledger, runs, sessions, workers
from pipeline.db.engine import transaction
from pipeline.db.tables import ingest_items
from pipeline.db.tables import jobs as jobs_table
from pipeline.enqueue import send
from pipeline.errors import WorkerLostError
from pipeline.settings import settings
from pipeline.types import JobStatus, Stage
from pipeline.worker.messages import in_broker

log = structlog.get_logger(__name__)

SWEEP = "lastro.sweep"
TIDY = "lastro.tidy"
GRACE_S = 1.0
"""A message younger than this may still be on its way."""

_ONE_AT_A_TIME = 5_270_002  # the advisory lock that keeps two schedulers apart


@app.task(name=SWEEP)
def sweep() -> None:
    """Find rows that no worker holds and no message announces, and send them again."""
    with transaction() as conn:
        suspects = {
            table: found
            for table in ledger.LEDGERS
            if (found := ledger.suspects(conn, table, grace_s=GRACE_S))
        }
    if suspects:
        announced = in_broker()
        for table, rows in suspects.items():
            lost = [row_id for row_id, stage in rows if (str(row_id), str(stage)) not in announced]
            if lost:
                _recover(table, lost)
    with transaction() as conn:
        due: list[tuple[Stage, Any]] = []
        for run_id in runs.unsettled(conn):
            due += runs.settle(conn, run_id)
        due += runs.next_waiting(conn)
    for stage, row_id in due:
        send(stage, row_id)


def _recover(table: Table, lost: list[Any]) -> None:
    with transaction() as conn:
        if not conn.execute(select(func.pg_try_advisory_xact_lock(_ONE_AT_A_TIME))).scalar():
            return
        limit = settings().max_attempts
        for row in ledger.exhausted(conn, table, lost, grace_s=GRACE_S, max_attempts=limit):
            _give_up(conn, table, row)
        again = ledger.mark_sent_again(conn, table, lost, grace_s=GRACE_S)
    for row_id, stage, attempts in again:
        log.warning("sent_again", table=table.name, row=str(row_id), stage=stage)
        send(stage, row_id, last=attempts > 1)


def _give_up(conn: Connection, table: Table, row: Any) -> None:
    """End a row whose worker died as often as a stage may be tried."""
    code, reason = WorkerLostError.code, f"No worker lived through stage {row['stage']}."
    if row["error_code"]:
        code, reason = row["error_code"], row["error"]
    claim = ledger.Claim(table, row["id"], Stage(row["stage"]), row["token"], row)
    fail_row(conn, claim, code, reason)


def fail_row(conn: Connection, claim: ledger.Claim, code: str, reason: str) -> None:
    """End a row of any ledger with its reason, and what hangs on it."""
    if claim.table is jobs_table:
        jobs.fail(conn, claim, code, reason)
        return
    ledger.finish(conn, claim, JobStatus.FAILED, error_code=code, error=reason)
    if claim.table is ingest_items:
        content.discard(conn, claim.row["version_id"])
        runs.settle(conn, UUID(str(claim.row["run_id"])))


@app.task(name=TIDY)
def tidy() -> None:
    """Remove idle sessions, expired answers, and rows past their retention."""
    with transaction() as conn:
        sessions.remove_idle(conn, idle_s=settings().session_idle_s)
        jobs.expire(conn, keep_days=settings().trail_days)
        runs.remove_old(conn, keep_days=settings().trail_days)
        workers.remove_dead(conn)
