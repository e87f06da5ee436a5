"""The only sender of tasks. A message carries an id, never content.

Call it after the commit that made the row ready. A message that can't be sent is not an error of
the caller: the row is the record and the sweep sends it as soon as the broker is back.
"""

from __future__ import annotations

import secrets
from typing import Any

import structlog
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from pipeline.broker import LAST, PRIORITY, QUEUE_OF, app, task_name
from pipeline.types import Stage

log = structlog.get_logger(__name__)


def send(stage: Stage, row_id: Any, *, last: bool = False) -> bool:
    """Tell a worker that the row ``row_id`` is ready for ``stage``, ``last`` behind all others.

    Returns False, and logs, when the broker can't be reached.
    """
    try:
        app.send_task(
            task_name(stage),
            args=[str(row_id)],
            task_id=task_id(stage, row_id),
            queue=QUEUE_OF[stage].value,
            priority=LAST if last else PRIORITY[stage],
            retry=False,
        )
    except (OperationalError, RedisError, OSError) as error:
        log.warning("message_not_sent", stage=stage, row=str(row_id), reason=str(error))
        return False
    return True


def task_id(stage: Stage, row_id: Any) -> str:
    """A message's id: it names the row and the stage, so that Flower and the sweep can tell."""
    return f"{row_id}.{stage}.{secrets.token_hex(4)}"


def named_in(message_id: str) -> tuple[str, str] | None:
    """The row's id and the stage that ``task_id`` put into a message's id; None for others."""
    row_id, _, rest = message_id.partition(".")
    stage, _, nonce = rest.partition(".")
    return (row_id, stage) if nonce else None
