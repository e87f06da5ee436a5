"""Beat's scheduler, which runs its entries itself.

A sweep that had to travel through the broker to a worker could not repair a lost broker or a dead
worker. So the scheduler process calls it, and the schedule needs no file.
"""

from __future__ import annotations

from typing import Any

import structlog
from celery.beat import ScheduleEntry, Scheduler
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from pipeline.worker import life

log = structlog.get_logger(__name__)


class LocalScheduler(Scheduler):  # type: ignore[misc]  # Celery has no types
    """Runs each entry's task in this process when it is due."""

    producer = None  # the base class would connect to the broker for one

    def setup_schedule(self) -> None:
        """Take the schedule from the configuration and begin to sign."""
        self.merge_inplace(self.app.conf.beat_schedule)
        life.queue = "scheduler"
        life.start()

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Run the entry; a database or broker that is away is logged and tried again next time."""
        try:
            self.app.tasks[entry.task]()
        except (SQLAlchemyError, RedisError, OSError) as error:
            log.warning("scheduled_task_failed", task=entry.task, reason=str(error))
