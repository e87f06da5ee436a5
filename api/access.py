"""The outermost layer: an id, a line in the log and safe headers for every request."""

from __future__ import annotations

import time
from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Put on every answer that does not bring its own."""

PROBES = frozenset({"/health", "/livez", "/readyz"})
"""Asked every few seconds by machines: their lines are for debugging only."""


class AccessLog:
    """Logs method, route, status and duration. Never the query string: it holds the question."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = str(uuid4())
        scope.setdefault("state", {})["request_id"] = request_id
        status = 500
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, noted)
            finally:
                # The route and not the path, which may name a session.
                route = getattr(scope.get("route"), "path", None)
                (log.debug if route in PROBES else log.info)(
                    "request",
                    method=scope["method"],
                    route=route,
                    status=status,
                    ms=round((time.perf_counter() - began) * 1000, 1),
                )
