"""The Celery application with its tasks, and what a worker process does as it starts and stops.

``celery -A pipeline.worker.app worker|beat``; the full command lines are in ``commands.py``.
"""

from __future__ import annotations

from typing import Any

import structlog
from celery import signals

from pipeline.broker import app
from pipeline.db import engine
from pipeline.errors import SettingsError
from pipeline.logs import configure
from pipeline.settings import settings
from pipeline.types import Queue
from pipeline.worker import broker_check, life, stages
from pipeline.worker.life import fatal
from pipeline.worker.sweep import SWEEP, TIDY

log = structlog.get_logger(__name__)


def _configuration() -> dict[str, Any]:
    return {
        "imports": (
            "pipeline.worker.inference",
            "pipeline.worker.ingestion",
            "pipeline.worker.sweep",
        ),
        "beat_scheduler": "pipeline.worker.scheduler:LocalScheduler",
        "beat_max_loop_interval": 1,
        "beat_schedule": {
            "sweep": {"task": SWEEP, "schedule": settings().sweep_s},
            "tidy": {"task": TIDY, "schedule": 60},
        },
    }


app.add_defaults(_configuration)


@signals.setup_logging.connect
def _logs(**_: Any) -> None:
    configure()


@signals.worker_init.connect
def _check(**_: Any) -> None:
    try:
        broker_check.refuse_evicting_broker()
    except SettingsError as error:
        fatal(error)


@signals.celeryd_after_setup.connect
def _served(instance: Any, **_: Any) -> None:
    names = set(instance.app.amqp.queues.consume_from)
    life.queue = Queue.INFERENCE if Queue.INFERENCE in names else Queue.INGEST


@signals.worker_process_init.connect
def _forked(**_: Any) -> None:
    engine.forget()


@signals.worker_ready.connect
def _ready(**_: Any) -> None:
    life.start()
    log.info("worker_ready", queue=life.queue)


@signals.worker_shutting_down.connect
def _stopping(**_: Any) -> None:
    stages.stopping.set()


@signals.worker_shutdown.connect
def _stopped(**_: Any) -> None:
    life.stop()
    log.info("worker_stopped", queue=life.queue)
