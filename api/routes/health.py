"""Health: open to all, so it tells counts and states, never names or addresses."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from anyio import to_thread
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response

from api.operations import answer, unkeyed
from api.problems import Problem
from api.schemas import Alive, Component, Components, Health, QueueDepth, Workers
from pipeline.broker import app as celery
from pipeline.db import jobs, migrate, workers
from pipeline.db.engine import transaction

BROKER_LIMIT_S = 2.0


@unkeyed("/health", answers={200: Health, 503: Health})
async def get_health(_request: Request) -> Response:
    """The parts of the installation and the depth of the queue.

    503 when the database is away. Without broker or workers it is 200 and `degraded`: questions
    are accepted and wait.
    """
    seen = await to_thread.run_sync(_look)
    if seen.workers is None:
        status = "down"
    elif seen.broker and seen.workers.inference and seen.workers.ingest and seen.workers.scheduler:
        status = "ok"
    else:
        status = "degraded"
    health = Health.model_validate(
        {
            "status": status,
            "components": Components(
                database=_component(seen.workers is not None),
                broker=_component(seen.broker),
                workers=seen.workers,
            ),
            "queue": seen.queue,
        }
    )
    return answer(health, 503 if status == "down" else 200)


@unkeyed("/livez", answers={200: Alive})
async def get_livez(_request: Request) -> Response:
    """Whether the process answers; asks nothing of others."""
    return answer(Alive(status="ok"))


@unkeyed("/readyz", answers={200: Alive}, problems=(503,))
async def get_readyz(_request: Request) -> Response:
    """Whether questions can be taken: database, broker and migrations are there."""
    missing = await to_thread.run_sync(_missing)
    if missing:
        raise Problem(503, "not_ready", f"Not ready: {missing}.")
    return answer(Alive(status="ok"))


@dataclass(frozen=True, slots=True)
class _Seen:
    broker: bool
    workers: Workers | None
    queue: QueueDepth | None


def _look() -> _Seen:
    broker = _broker_answers()
    try:
        with transaction() as conn:
            alive = workers.alive(conn)
            waiting = jobs.waiting(conn)
    except SQLAlchemyError:
        return _Seen(broker, None, None)
    counts = {queue: len(alive.get(queue, ())) for queue in Workers.model_fields}
    return _Seen(broker, Workers(**counts), QueueDepth(**waiting))


def _missing() -> str:
    try:
        with transaction() as conn:
            current = migrate.is_current(conn)
    except SQLAlchemyError:
        return "the database can't be reached"
    if not current:
        return "the database is not at the version of this code: run the migrations"
    return "" if _broker_answers() else "the broker can't be reached"


def _broker_answers() -> bool:
    try:
        return bool(_broker().ping())
    except RedisError:
        return False


@functools.cache
def _broker() -> Redis:
    return Redis.from_url(
        celery.conf.broker_url,
        socket_connect_timeout=BROKER_LIMIT_S,
        socket_timeout=BROKER_LIMIT_S,
    )


def _component(there: bool) -> Component:
    return Component(status="ok" if there else "down")


OPERATIONS = (get_health, get_livez, get_readyz)
