"""The ASGI application. ``uvicorn api.app:create_app --factory`` serves it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from api.access import AccessLog
from api.limits import BodyLimit
from api.problems import HANDLERS
from api.routes import ask, chat, docs, documents, health, ingest, search
from api.waiting import Endings
from pipeline import logs
from pipeline.broker import app as celery
from pipeline.db.engine import engine
from pipeline.settings import settings

OPERATIONS = (
    *chat.OPERATIONS,
    *ask.OPERATIONS,
    *search.OPERATIONS,
    *ingest.OPERATIONS,
    *documents.OPERATIONS,
    *health.OPERATIONS,
)


def create_app() -> Starlette:
    """The application with this process's settings.

    Raises SettingsError when it is not told where database and broker are. They need not be there
    yet: requests are answered with 503 until they are, and again whenever they are away.
    """
    logs.configure()
    # Uvicorn's own lines would repeat ours, with paths that name sessions.
    logging.getLogger("uvicorn.access").propagate = False
    database = engine()
    _ = celery.conf.broker_url
    endings = Endings(database.url.render_as_string(hide_password=False))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with endings.listening():
            yield {"endings": endings}
        database.dispose()

    app = Starlette(
        routes=[
            *(operation.route() for operation in OPERATIONS),
            *docs.routes(OPERATIONS),
        ],
        middleware=[
            Middleware(AccessLog),
            Middleware(
                BodyLimit,
                limit=settings().max_body_bytes,
                larger={documents.UPLOADS: settings().max_file_bytes + documents.AROUND_BYTES},
            ),
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    # A redirect to the path with or without a slash would trust the Host header.
    app.router.redirect_slashes = False
    return app
