"""Ingest runs and their files: what a sync found to do, and how each file ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection, case, delete, func, insert, select, tuple_, update

from pipeline.db import ledger
from pipeline.db.ledger import UNFINISHED, WITHOUT_MESSAGE, Claim
from pipeline.db.tables import document_versions, ingest_items, ingest_runs
from pipeline.errors import NotFoundError
from pipeline.types import JobStatus, Stage, Track

FIRST_STAGE = {"add": Stage.PARSE, "change": Stage.PARSE, "remove": Stage.PUBLISH}


@dataclass(frozen=True, slots=True)
class Work:
    """One file that a run has to add, change or remove."""

    path: str
    track: Track
    action: str


@dataclass(frozen=True, slots=True)
class RunView:
    """What an operator sees of a run.

    ``counts`` has added, changed, removed, unchanged, failed, total and finished (files).
    ``skipped`` were not touched, ``partial`` are indexed without a part that they lost, ``notes``
    are indexed and were odd; each is {"path", "reason"}.
    """

    id: UUID
    status: JobStatus
    track: Track | None
    counts: dict[str, int]
    failures: list[dict[str, str]]
    skipped: list[dict[str, str]]
    partial: list[dict[str, str]]
    notes: list[dict[str, str]]
    error_code: str | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None


def start(
    conn: Connection,
    *,
    workspace: str,
    root: str,
    prefix: str = "",
    track: Track | None = None,
    force: bool = False,
    allow_removals: bool = False,
    retry_of: UUID | None = None,
    index_set_id: int | None = None,
) -> UUID:
    """Record a run; after the commit the caller sends stage ``plan`` for it.

    ``root`` is the content folder as the ingest worker sees it, ``prefix`` a folder or file of it.
    With ``retry_of`` only the files that failed in that run are meant, and tried whatever is known
    of them. With ``index_set_id`` the run fills that set from the live one and reads no file.
    """
    run_id = uuid4()
    conn.execute(
        insert(ingest_runs).values(
            id=run_id,
            workspace=workspace,
            root=root,
            prefix=prefix,
            track=track,
            force=force,
            allow_removals=allow_removals,
            retry_of=retry_of,
            index_set_id=index_set_id,
            stage=Stage.PLAN,
            sends=1,
            sent_at=func.now(),
        )
    )
    return run_id


def view(conn: Connection, workspace: str, run_id: UUID) -> RunView:
    """The run as its owner sees it. Raises NotFoundError: unknown, or another workspace's."""
    run = conn.execute(
        select(ingest_runs).where(ingest_runs.c.id == run_id, ingest_runs.c.workspace == workspace)
    ).one_or_none()
    if run is None:
        raise NotFoundError(f"There is no ingest run {run_id}.")
    counts = {"added": 0, "changed": 0, "removed": 0, "unchanged": run.unchanged, "failed": 0}
    total = finished = 0
    verb = {"add": "added", "change": "changed", "remove": "removed"}
    for action, status, count in conn.execute(
        select(ingest_items.c.action, ingest_items.c.status, func.count())
        .where(ingest_items.c.run_id == run_id)
        .group_by(ingest_items.c.action, ingest_items.c.status)
    ):
        total += count
        if status not in UNFINISHED:
            finished += count
        if status in (JobStatus.DONE, JobStatus.PARTIAL):
            counts[verb[action]] += count
        elif status == JobStatus.FAILED:
            counts["failed"] += count
    told = conn.execute(
        select(
            ingest_items.c.path,
            ingest_items.c.status,
            ingest_items.c.stage,
            ingest_items.c.error_code,
            ingest_items.c.error,
            ingest_items.c.warnings,
        )
        .where(
            ingest_items.c.run_id == run_id,
            ingest_items.c.status.in_((JobStatus.FAILED, JobStatus.PARTIAL))
            | (ingest_items.c.warnings != []),
        )
        .order_by(ingest_items.c.path)
    ).all()
    return RunView(
        id=run.id,
        status=JobStatus(run.status),
        track=Track(run.track) if run.track else None,
        counts=counts | {"total": total, "finished": finished},
        failures=[
            {
                "path": row.path,
                "stage": row.stage,
                "code": row.error_code or "",
                "reason": row.error or "",
            }
            for row in told
            if row.status == JobStatus.FAILED
        ],
        skipped=run.skipped,
        partial=[
            {"path": row.path, "reason": row.error or ""}
            for row in told
            if row.status == JobStatus.PARTIAL
        ],
        notes=[{"path": row.path, "reason": note} for row in told for note in row.warnings],
        error_code=run.error_code,
        error=run.error,
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def planned(
    conn: Connection,
    held: Claim,
    work: Sequence[Work],
    *,
    unchanged: int,
    skipped: Sequence[dict[str, str]],
) -> list[tuple[Stage, int]]:
    """Turn a plan into items; returns the messages to send after the commit.

    Removals wait until all else has ended: a renamed document is never missing meanwhile, and its
    texts keep their vectors. The run has no message of its own from here on: it ends with its last
    item. Raises LeaseLostError when another worker has planned it meanwhile.
    """
    ledger.hand_on(conn, held, Stage.PUBLISH)
    conn.execute(
        update(ingest_runs)
        .where(ingest_runs.c.id == held.id)
        .values(
            unchanged=unchanged,
            skipped=list(skipped),
            not_before=WITHOUT_MESSAGE,
        )
    )
    if work:
        conn.execute(
            insert(ingest_items).values(not_before=WITHOUT_MESSAGE),
            [
                {
                    "run_id": held.id,
                    "workspace": held.row["workspace"],
                    "path": item.path,
                    "track": item.track,
                    "action": item.action,
                    "stage": FIRST_STAGE[item.action],
                }
                for item in work
            ],
        )
    return settle(conn, held.id)


@dataclass(frozen=True, slots=True)
class Order:
    """What a run was asked for, as its items need it."""

    root: str
    index_set_id: int | None


def order(conn: Connection, run_id: UUID) -> Order:
    """What run ``run_id`` was asked for. Raises NotFoundError when the run is gone."""
    row = conn.execute(
        select(ingest_runs.c.root, ingest_runs.c.index_set_id).where(ingest_runs.c.id == run_id)
    ).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no ingest run {run_id}.")
    return Order(row.root, row.index_set_id)


def failed_files(conn: Connection, workspace: str, run_id: UUID) -> list[str]:
    """The paths that failed in a run. Raises NotFoundError: unknown, or another workspace's."""
    return [failure["path"] for failure in view(conn, workspace, run_id).failures]


def must_wait(conn: Connection, run: Any) -> bool:
    """Whether an earlier run of the workspace goes on: two at once would undo each other's work."""
    earlier = _earlier(run["workspace"], run["created_at"], run["id"])
    return bool(conn.execute(select(earlier)).scalar())


def next_waiting(conn: Connection) -> list[tuple[Stage, UUID]]:
    """Let the runs go that waited for one that has ended; returns the messages to send."""
    ours = ingest_runs.alias("ours")
    free = select(ours.c.id).where(
        ours.c.status == JobStatus.QUEUED,
        ~_earlier(ours.c.workspace, ours.c.created_at, ours.c.id),
    )
    rows = conn.execute(ledger.stop_waiting(ingest_runs, ingest_runs.c.id.in_(free)))
    return [(Stage(row.stage), row.id) for row in rows]


def _earlier(workspace: Any, created_at: Any, run_id: Any) -> Any:
    other = ingest_runs.alias("other")
    return (
        select(other.c.id)
        .where(
            other.c.workspace == workspace,
            other.c.status.in_(UNFINISHED),
            tuple_(other.c.created_at, other.c.id) < tuple_(created_at, run_id),
        )
        .exists()
    )


def unfinished(conn: Connection) -> list[UUID]:
    """The runs of all workspaces that have not ended."""
    return list(
        conn.execute(select(ingest_runs.c.id).where(ingest_runs.c.status.in_(UNFINISHED))).scalars()
    )


def set_version(conn: Connection, held: Claim, version_id: int | None) -> None:
    """Note which staged version an item works on."""
    conn.execute(
        update(ingest_items).where(ingest_items.c.id == held.id).values(version_id=version_id)
    )


def settle(conn: Connection, run_id: UUID) -> list[tuple[Stage, int]]:
    """Let the run's next items go, or end it if all have ended.

    Returns the messages to send after the commit; those that get lost are the sweep's to find.
    """
    items = select(ingest_items.c.id).where(ingest_items.c.run_id == run_id)
    unfinished = items.where(ingest_items.c.status.in_(UNFINISHED))
    own = ingest_items.c.run_id == run_id
    for which in (
        own & (ingest_items.c.action != "remove"),
        own & ~unfinished.where(ingest_items.c.action != "remove").exists(),
    ):
        rows = conn.execute(ledger.stop_waiting(ingest_items, which)).all()
        if rows:
            return [(Stage(row.stage), row.id) for row in rows]
    indexed = (JobStatus.DONE, JobStatus.PARTIAL)
    failed = items.where(ingest_items.c.status == JobStatus.FAILED).exists()
    done = items.where(ingest_items.c.status.in_(indexed)).exists()
    ended = conn.execute(
        update(ingest_runs)
        .where(
            ingest_runs.c.id == run_id,
            ingest_runs.c.status == JobStatus.RUNNING,
            ingest_runs.c.stage == Stage.PUBLISH,
            ~unfinished.exists(),
        )
        .values(
            status=case(
                (failed & (done | (ingest_runs.c.unchanged > 0)), JobStatus.PARTIAL.value),
                (failed, JobStatus.FAILED.value),
                else_=JobStatus.DONE.value,
            ),
            finished_at=func.now(),
        )
    ).rowcount
    if ended:
        ledger.notify_ended(conn, ingest_runs, run_id)
    return []


def unsettled(conn: Connection) -> list[UUID]:
    """Runs that may be over without having noticed: the worker of the last item died there."""
    return list(
        conn.execute(
            select(ingest_runs.c.id).where(
                ingest_runs.c.status == JobStatus.RUNNING, ingest_runs.c.stage == Stage.PUBLISH
            )
        ).scalars()
    )


def remove_old(conn: Connection, *, keep_days: int) -> None:
    """Remove ended runs past ``keep_days`` and staged versions that no unfinished item needs."""
    conn.execute(
        delete(ingest_runs).where(
            ingest_runs.c.finished_at < func.now() - timedelta(days=keep_days)
        )
    )
    needed: Any = (
        select(ingest_items.c.id)
        .where(
            ingest_items.c.version_id == document_versions.c.id,
            ingest_items.c.status.in_(UNFINISHED),
        )
        .exists()
    )
    conn.execute(
        delete(document_versions).where(
            ~document_versions.c.live,
            ~needed,
            document_versions.c.created_at < func.now() - timedelta(hours=1),
        )
    )
