"""Waits for the end of jobs, any number of them, with one connection and no thread.

A worker that ends a job notifies the channel ``lastro_ended`` in the same transaction. Whoever
waits has an event here. Notifications of a lost connection are lost with it, so the rows that are
waited for are also looked at every second, all with one query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID

import anyio
import psycopg
import structlog
from psycopg import AsyncConnection, sql
from sqlalchemy.engine import make_url

from pipeline.db.engine import CONNECT_TIMEOUT_S
from pipeline.db.ledger import ENDED_CHANNEL
from pipeline.db.tables import SCHEMA, jobs
from pipeline.types import ENDED

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0
"""Also the pause before the next try to connect."""

_LOOK = sql.SQL("SELECT id FROM {} WHERE id = ANY(%s::uuid[]) AND status = ANY(%s)").format(
    sql.Identifier(SCHEMA, jobs.name)
)


class Endings:
    """The jobs that somebody waits for."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql").render_as_string(False)
        self._waiters: defaultdict[str, set[anyio.Event]] = defaultdict(set)
        self._lost = False

    @contextmanager
    def watch(self, job_id: UUID) -> Iterator[anyio.Event]:
        """An event that is set when the job ends from now on.

        Look at the job after entering and before waiting: it may have ended already.
        """
        event, key = anyio.Event(), str(job_id)
        self._waiters[key].add(event)
        try:
            yield event
        finally:
            self._waiters[key].discard(event)
            if not self._waiters[key]:
                del self._waiters[key]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen in the background, through restarts of PostgreSQL, until the block is left."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_listening)
            yield
            tasks.cancel_scope.cancel()

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                if not self._lost:
                    log.warning("listener_lost", reason=str(error))
                self._lost = True
            await anyio.sleep(LOOK_EVERY_S)

    async def _listen(self) -> None:
        connection = await AsyncConnection.connect(
            self._url,
            autocommit=True,
            connect_timeout=CONNECT_TIMEOUT_S,
            application_name="lastro-api",
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
        )
        async with connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(ENDED_CHANNEL)))
            if self._lost:
                log.info("listener_back")
            self._lost = False
            while True:
                await self._look(connection)
                async for notice in connection.notifies(timeout=LOOK_EVERY_S):
                    table, _, row_id = notice.payload.partition(":")
                    if table == jobs.name:
                        self._wake(row_id)

    async def _look(self, connection: AsyncConnection) -> None:
        if not self._waiters:
            return
        found = await connection.execute(_LOOK, (list(self._waiters), sorted(ENDED)))
        for (job_id,) in await found.fetchall():
            self._wake(str(job_id))

    def _wake(self, job_id: str) -> None:
        for event in self._waiters.get(job_id, ()):
            event.set()
