"""The Celery application: queues, priorities and delivery. Imports no task and no backend.

Redis only carries. There is no result backend, no retry by Celery and no countdown: whether a row
has work to do stands in PostgreSQL, see ``db/ledger.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from celery import Celery
from kombu.entity import Queue as KombuQueue
from kombu.transport import TRANSPORT_ALIASES, redis

from pipeline.errors import SettingsError
from pipeline.settings import settings
from pipeline.types import Queue, Stage

PRIORITY: dict[Stage, int] = {
    Stage.GENERATE: 0,
    Stage.RERANK: 2,
    Stage.RETRIEVE: 4,
    Stage.EMBED_QUERY: 6,
    Stage.PUBLISH: 0,
    Stage.EMBED: 2,
    Stage.CHUNK: 4,
    Stage.PARSE: 6,
    Stage.PLAN: 3,
}
"""On the Redis transport 0 is the most urgent. Later stages outrank earlier ones, so that a job
that has begun is finished before the next one begins."""

LAST = 8
"""Behind every stage: for a row at which workers have died, so that it holds up no other row."""

QUEUE_OF: dict[Stage, Queue] = {
    stage: Queue.INFERENCE
    if stage in {Stage.EMBED_QUERY, Stage.RETRIEVE, Stage.RERANK, Stage.GENERATE}
    else Queue.INGEST
    for stage in Stage
}

VISIBILITY_TIMEOUT_S = 6 * 3600
"""After this long the transport delivers an unacknowledged message again. It is far above any
stage's limit, since the lease, not the transport, decides that a worker is dead."""


class _Channel(redis.Channel):
    """One client per channel: kombu makes one per command, which costs more than the command."""

    @cached_property
    def _commands(self) -> Any:
        return self._create_client()  # type: ignore[no-untyped-call]

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """The client that a group of commands goes through."""
        yield client or self._commands


class Transport(redis.Transport):
    """The Redis transport, under kombu's own names for it: Flower goes by the name in the URL."""

    Channel = _Channel


TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = f"{__name__}:{Transport.__name__}"


def task_name(stage: Stage) -> str:
    """The name under which a stage's task is registered and shown in Flower."""
    return f"lastro.{QUEUE_OF[stage]}.{stage}"


def _configuration() -> dict[str, Any]:
    url = settings().redis_url
    if url is None:
        raise SettingsError(
            "No broker: set LASTRO_REDIS_URL, or start an embedded instance with `lastro up`."
        )
    return {
        "broker_url": url.get_secret_value(),
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "priority_steps": sorted({*PRIORITY.values(), LAST}),
            "queue_order_strategy": "priority",
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_connect_timeout": 2,
            "socket_timeout": 10,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        "task_queues": [KombuQueue(queue.value) for queue in Queue],
        "task_default_queue": Queue.INGEST.value,
        "task_create_missing_queues": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        "worker_send_task_events": True,
        "worker_hijack_root_logger": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "timezone": "UTC",
    }


app = Celery("lastro")
app.add_defaults(_configuration)  # read at first use, not at import
