"""A worker's signs of life, from a thread: a solo worker that is busy answers no ping."""

from __future__ import annotations

import os
import socket
import threading
from typing import NoReturn

import structlog
from sqlalchemy.exc import SQLAlchemyError

from pipeline.db import workers
from pipeline.db.engine import transaction
from pipeline.errors import PipelineError

log = structlog.get_logger(__name__)

queue: str = "ingest"
_stop = threading.Event()


def name() -> str:
    """This worker's name: queue, host and process."""
    return f"{queue}@{socket.gethostname()}:{os.getpid()}"


def fatal(error: PipelineError) -> NoReturn:
    """End this worker: Celery would log an error raised by a signal's receiver and go on."""
    log.critical("worker_refused_to_start", code=error.code, reason=str(error))
    raise SystemExit(1)


def start() -> None:
    """Sign now and every few seconds until ``stop``."""
    _stop.clear()
    threading.Thread(target=_sign_on, name="signs-of-life", daemon=True).start()


def stop() -> None:
    """Sign off."""
    _stop.set()
    try:
        with transaction() as conn:
            workers.leave(conn, name())
    except SQLAlchemyError as error:
        log.warning("sign_off_failed", reason=str(error))


def sign() -> None:
    """One sign of life; a database that is away is logged, not raised."""
    try:
        with transaction() as conn:
            workers.sign(conn, name(), queue)
    except SQLAlchemyError as error:
        log.warning("sign_of_life_failed", reason=str(error))


def _sign_on() -> None:
    while not _stop.is_set():
        sign()
        _stop.wait(workers.SIGN_EVERY_S)
