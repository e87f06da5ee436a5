"""How every stage runs: claim, heartbeat, work, save, hand on.

A stage's function gets a ``Held``, works outside any transaction, and saves in one that also hands
the row on or ends it. It names what comes next in ``held.next``; those messages go out after the
commit. Whatever goes wrong ends in the row: a lost lease is thrown away, a transient
error puts the row back for another try, a permanent one fails it with its reason.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy import Connection, Table
from sqlalchemy.exc import SQLAlchemyError

from pipeline.broker import app, task_name
from pipeline.db import ledger
from pipeline.db.engine import single, transaction
from pipeline.enqueue import send
from pipeline.errors import LeaseLostError, PermanentError, TransientError
from pipeline.settings import settings
from pipeline.types import Stage
from pipeline.worker import life

log = structlog.get_logger(__name__)

stopping = threading.Event()
"""Set when this worker was told to stop: it then finishes the job that it has begun."""

BACKOFF_S = (1.0, 5.0, 15.0)
"""Pause before the next try of a stage, by tries so far."""

Body = Callable[["Held"], None]
OnFailure = Callable[[Connection, ledger.Claim, str, str], None]
_bodies: dict[Stage, tuple[Table, Body, OnFailure]] = {}


@dataclass
class Held:
    """A claimed row while its stage runs."""

    claim: ledger.Claim
    next: list[tuple[Stage, Any]] = field(default_factory=list)

    @property
    def row(self) -> Any:
        """The row as claimed."""
        return self.claim.row


def stage_task(table: Table, stage: Stage, on_failure: OnFailure) -> Callable[[Body], Body]:
    """Register a stage's function as the task that runs it.

    ``on_failure`` ends the row with a code and a reason, in the transaction that it is given.
    """

    def register(body: Body) -> Body:
        _bodies[stage] = (table, body, on_failure)

        @app.task(name=task_name(stage))
        @functools.wraps(body)
        def task(row_id: str) -> None:
            run(stage, row_id)

        return body

    return register


def run(stage: Stage, row_id: Any) -> None:
    """Run ``stage`` of a row, if it is this stage's turn and no other worker has it."""
    table, body, on_failure = _bodies[stage]
    key = table.c.id.type.python_type(row_id)
    with single() as conn:
        claim = ledger.claim(conn, table, key, stage, owner=life.name(), lease_s=settings().lease_s)
    if claim is None:
        log.info("message_without_work", stage=stage, row=row_id)
        return
    held = Held(claim)
    try:
        with _heart.beats_for(claim):
            body(held)
    except LeaseLostError as error:
        log.warning("lease_lost", stage=stage, row=row_id, reason=str(error))
        return
    except TransientError as error:
        held.next = _try_again(claim, error, on_failure)
    except PermanentError as error:
        held.next = _end(claim, error.code, str(error), on_failure)
    except SQLAlchemyError:
        # Nothing can be recorded without the database: the lease runs out and the sweep comes.
        raise
    except Exception as error:
        # The edge: a bug must not look like a lost worker. The queue sees it too.
        _end(claim, "internal_error", f"{type(error).__name__}: {error}", on_failure)
        raise
    for following, following_id in held.next:
        if stopping.is_set() and following_id == claim.id:
            run(following, following_id)
        else:
            send(following, following_id)


def _try_again(
    claim: ledger.Claim, error: TransientError, on_failure: OnFailure
) -> list[tuple[Stage, Any]]:
    tries = claim.row["attempts"]
    if tries >= settings().max_attempts:
        return _end(claim, error.code, f"{error} (tried {tries} times)", on_failure)
    pause = BACKOFF_S[min(tries, len(BACKOFF_S)) - 1]
    log.warning("stage_put_back", stage=claim.stage, row=str(claim.id), reason=str(error))
    with transaction() as conn:
        ledger.put_back(conn, claim, pause_s=pause, code=error.code, reason=str(error))
    return []


def _end(
    claim: ledger.Claim, code: str, reason: str, on_failure: OnFailure
) -> list[tuple[Stage, Any]]:
    log.warning("stage_failed", stage=claim.stage, row=str(claim.id), code=code, reason=reason)
    try:
        with transaction() as conn:
            on_failure(conn, claim, code, reason)
    except LeaseLostError as error:
        log.warning("lease_lost", stage=claim.stage, row=str(claim.id), reason=str(error))
    return []


class _Heart:
    """Extends the leases of what this process holds, from one thread for all stages."""

    def __init__(self) -> None:
        self._held: dict[Any, ledger.Claim] = {}
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def beats_for(self, claim: ledger.Claim) -> Iterator[None]:
        """Keep the lease of ``claim`` alive meanwhile."""
        self._held[claim.id] = claim
        with self._starting:
            # At first use and not earlier: a thread doesn't live through a fork.
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            del self._held[claim.id]

    def _run(self) -> None:
        while True:
            time.sleep(settings().lease_s / 3)
            for claim in list(self._held.values()):
                try:
                    with transaction() as conn:
                        ledger.heartbeat(conn, claim, lease_s=settings().lease_s)
                except Exception as error:  # noqa: BLE001 - the thread keeps later leases too
                    log.warning("heartbeat_failed", row=str(claim.id), reason=str(error))


_heart = _Heart()
