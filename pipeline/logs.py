"""Logs: one line per event on stderr, readable on a terminal and JSON everywhere else.

The standard library's loggers, and with them Celery's and uvicorn's, go through the same door.
What people ask and what they are answered never stands in a log: see ``_hide_private``.
"""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from pipeline.settings import settings

PRIVATE = frozenset({"question", "answer", "message", "text", "content", "prompt", "query", "key"})
"""Names of values that are replaced by their length: a safety net, not an invitation."""

_REDIRECTED = ("celery", "celery.task", "celery.redirected", "uvicorn", "uvicorn.access")
_QUIET = (
    "alembic.runtime.plugins",
    "amqp",
    "celery.app.trace",  # a line per task received, and one per task done: Flower shows them,
    "celery.worker.strategy",  # and each costs as much as a query
    "httpcore",
    "httpx",
    "kombu",
    "markdown_it",
    "uvicorn.access",  # the API has lines of its own, without what was asked in the address
)


def configure() -> None:
    """Send the logs of this process to stderr, by ``LASTRO_LOG_LEVEL`` and ``LASTRO_LOG_FORMAT``.

    May be called again, and after Celery or uvicorn have set up theirs.
    """
    chosen = settings()
    for_people = chosen.log_format == "console" or (
        chosen.log_format == "auto" and sys.stderr.isatty()
    )
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        _hide_private,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    # Plain tracebacks: the richer ones print local variables, and those hold questions.
    after: list[Processor] = (
        [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
        if for_people
        else [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *after],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(chosen.log_level)
    for name in _REDIRECTED:
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = True
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _hide_private(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name in PRIVATE & event.keys():
        event[name] = f"<{len(str(event[name]))} characters>"
    return event
