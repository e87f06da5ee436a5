"""The way from the event loop to the record: SQLAlchemy is synchronous, so it works in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from anyio import to_thread
from sqlalchemy import Connection

from pipeline import enqueue
from pipeline.db.engine import single, transaction
from pipeline.types import Stage

T = TypeVar("T")


async def look(work: Callable[[Connection], T]) -> T:
    """Run ``work``, which only reads, in a thread; each statement sees the newest state."""
    return await to_thread.run_sync(_look, work)


async def in_transaction(work: Callable[[Connection], T]) -> T:
    """Run ``work`` in a thread, in a transaction of its own."""
    return await to_thread.run_sync(_in_transaction, work)


async def record(work: Callable[[Connection], UUID], then: Stage) -> UUID:
    """Run ``work``, which makes a row, commit it, and only then tell the workers of it.

    Without a broker the row waits for the sweep: that is not an error.
    """

    def both() -> UUID:
        row_id = _in_transaction(work)
        enqueue.send(then, row_id)
        return row_id

    return await to_thread.run_sync(both)


def _look(work: Callable[[Connection], T]) -> T:
    with single() as conn:
        return work(conn)


def _in_transaction(work: Callable[[Connection], T]) -> T:
    with transaction() as conn:
        return work(conn)
