"""Signs of life of the workers."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from pipeline.db.tables import workers

SIGN_EVERY_S = 5.0
ALIVE_S = 30.0
"""A worker whose last sign is older than this counts as dead."""


def sign(conn: Connection, name: str, queue: str) -> None:
    """Note that worker ``name`` is alive."""
    conn.execute(
        insert(workers)
        .values(name=name, queue=queue)
        .on_conflict_do_update(
            index_elements=[workers.c.name], set_={"seen_at": func.now(), "queue": queue}
        )
    )


def leave(conn: Connection, name: str) -> None:
    """Note that worker ``name`` has stopped."""
    conn.execute(delete(workers).where(workers.c.name == name))


def alive(conn: Connection) -> dict[str, list[str]]:
    """Names of the living workers by queue; the scheduler's queue is ``scheduler``."""
    rows = conn.execute(
        select(workers.c.queue, workers.c.name)
        .where(workers.c.seen_at > func.now() - timedelta(seconds=ALIVE_S))
        .order_by(workers.c.name)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row.queue].append(row.name)
    return dict(found)


def forget_all(conn: Connection) -> None:
    """Forget every worker: of a database whose workers have all been ended."""
    conn.execute(delete(workers))


def remove_dead(conn: Connection) -> None:
    """Forget workers that have been silent for a day."""
    conn.execute(delete(workers).where(workers.c.seen_at < func.now() - timedelta(days=1)))
