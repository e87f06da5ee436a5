"""The limit on request bodies, by the bytes that arrive and not by what a header promises."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import Problem


class BodyLimit:
    """Answers 413 as soon as a body is longer than ``limit`` bytes, or ``larger`` by its path.

    A declared length is believed only where it is too large. A chunked body is counted as it comes
    in, so that no more than ``limit`` bytes of it are ever kept.
    """

    def __init__(self, app: ASGIApp, limit: int, larger: Mapping[str, int]) -> None:
        self.app = app
        self.limit = limit
        self.larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.larger.get(scope["path"], self.limit)
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            request_id = scope.get("state", {}).get("request_id")
            await _too_large(limit).response(request_id)(scope, receive, send)
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                raise _too_large(limit)
            return message

        await self.app(scope, counted, send)


def _too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"The body may have at most {limit} bytes.")
