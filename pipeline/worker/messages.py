"""Which messages the broker still has, so that the sweep sends only what is really gone."""

from __future__ import annotations

import functools
import json
import time
from typing import Any

from redis import Redis

from pipeline.broker import app
from pipeline.enqueue import named_in
from pipeline.settings import settings
from pipeline.types import Queue


@functools.cache
def client() -> Redis:
    """A plain client of the broker, with short limits."""
    return Redis.from_url(app.conf.broker_url, socket_connect_timeout=2, socket_timeout=5)


def in_broker() -> set[tuple[str, str]]:
    """(row id, stage) of every message that waits or has just been taken by a worker.

    A message is in the transport's ``unacked`` hash from the moment that a worker takes it. A
    worker claims its row within milliseconds, so a message that was taken longer ago than a lease
    lasts, while its row has no lease, was taken by a worker that is dead: it doesn't count.
    Raises RedisError when the broker can't be asked.
    """
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        keys = [
            channel._q_for_pri(queue.value, step)
            for queue in Queue
            for step in channel.priority_steps
        ]
        unacked, unacked_index = channel.unacked_key, channel.unacked_index_key
    pipe = client().pipeline(transaction=True)
    for key in keys:
        pipe.lrange(key, 0, -1)
    pipe.hgetall(unacked)
    pipe.zrange(unacked_index, 0, -1, withscores=True)
    *queues, taken, taken_at = pipe.execute()
    found = {_row(json.loads(raw)) for queue in queues for raw in queue}
    since = time.time() - settings().lease_s
    recent = {tag for tag, at in taken_at if at > since}
    found |= {_row(json.loads(raw)[0]) for tag, raw in taken.items() if tag in recent}
    return {row for row in found if row is not None}


def depth() -> dict[str, int]:
    """Waiting messages by queue. Raises RedisError when the broker can't be asked."""
    return {queue.value: _length(queue) for queue in Queue}


def _length(queue: Queue) -> int:
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        return int(channel._size(queue.value))


def _row(message: dict[str, Any]) -> tuple[str, str] | None:
    return named_in(str(message.get("headers", {}).get("id", "")))
