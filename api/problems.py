"""Errors as ``application/problem+json`` (RFC 9457), whatever raised them.

``code`` is the stable reason, the same as in the pipeline's errors; ``detail`` is for people.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic_core import ErrorDetails
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ExceptionHandler

from pipeline.errors import (
    ConflictError,
    FileTooLargeError,
    ForbiddenPathError,
    GoneError,
    NoIndexError,
    NotFoundError,
    PipelineError,
    QueueFullError,
    TransientError,
    UnsupportedFormatError,
    WorkerLostError,
)

MEDIA_TYPE = "application/problem+json"

RETRY_AFTER_S = 5
"""What a client is told to wait when the database is away or the queue is full."""

STATUS: dict[type[PipelineError], int] = {
    NotFoundError: 404,
    ConflictError: 409,
    NoIndexError: 409,
    GoneError: 410,
    FileTooLargeError: 413,
    UnsupportedFormatError: 415,
    ForbiddenPathError: 422,
    QueueFullError: 429,
    TransientError: 503,
    WorkerLostError: 503,
    PipelineError: 500,
}
"""HTTP status of an error of the pipeline; a class without an entry has its base's."""

_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}

_DETAILS = {
    404: "There is nothing at this address. /openapi.json lists what there is.",
    405: "This address does not take this method; the header Allow names those that it takes.",
}


class Problem(Exception):  # noqa: N818 - RFC 9457's own name for it
    """An error that a handler raises to answer with.

    ``errors`` names the fields at fault: ``{"field", "reason"}`` each.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = dict(headers or {})
        if status in {429, 503}:
            self.headers.setdefault("Retry-After", str(RETRY_AFTER_S))

    def response(self, request_id: str | None) -> Response:
        """The answer; ``request_id`` is what the log calls the request."""
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if request_id:
            body["instance"] = f"urn:uuid:{request_id}"
        if self.errors:
            body["errors"] = list(self.errors)
        # Escaped, since a field's name may hold what UTF-8 can't.
        return Response(json.dumps(body), self.status, self.headers, MEDIA_TYPE)


def invalid(errors: Sequence[ErrorDetails]) -> Problem:
    """The problem of a body or query that does not have the shape that it must have."""
    found = [
        {"field": ".".join(map(str, error["loc"])), "reason": _reason(error)} for error in errors
    ]
    first = found[0]
    named = f"{first['field']}: {first['reason']}" if first["field"] else first["reason"]
    more = f" ({len(found) - 1} more in `errors`)" if len(found) > 1 else ""
    return Problem(422, "invalid", f"{named}{more}", errors=found)


LATER = frozenset({"callback_url", "metadata", "deadline_s"})
"""Fields that clients may know and that this version does not have: refused, never ignored."""


def _reason(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        later = error["loc"][-1] in LATER
        return "is not supported yet: leave it out" if later else "is not a known field"
    return error["msg"].removeprefix("Value error, ")


def of_pipeline(code: str, detail: str, kind: type[PipelineError]) -> Problem:
    """The problem of an error of the pipeline."""
    status = next(STATUS[base] for base in kind.__mro__ if base in STATUS)
    return Problem(status, code, detail)


def of_failed_job(code: str, detail: str) -> Problem:
    """The problem of a job that failed with ``code``."""
    return of_pipeline(code, detail, _kinds().get(code, PipelineError))


def _kinds() -> dict[str, type[PipelineError]]:
    found: dict[str, type[PipelineError]] = {}
    waiting: list[type[PipelineError]] = [PipelineError]
    while waiting:
        kind = waiting.pop()
        found[kind.code] = kind
        waiting += kind.__subclasses__()
    return found


def _id(request: Request) -> str | None:
    found: str | None = getattr(request.state, "request_id", None)
    return found


def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response(_id(request))


def _pipeline_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PipelineError)
    return of_pipeline(error.code, str(error), type(error)).response(_id(request))


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    code, detail = _CODES.get(status, "http"), _DETAILS.get(status, error.detail)
    return Problem(status, code, detail, headers=error.headers).response(_id(request))


def _database_away(request: Request, _error: Exception) -> Response:
    detail = "The database can't be reached right now. Nothing was recorded: send it again."
    return Problem(503, "database_unavailable", detail).response(_id(request))


def _unexpected(request: Request, _error: Exception) -> Response:
    detail = "Something went wrong here. The log tells what, under this problem's `instance`."
    return Problem(500, "internal", detail).response(_id(request))


HANDLERS: dict[Any, ExceptionHandler] = {
    Problem: _problem,
    PipelineError: _pipeline_error,
    HTTPException: _http_error,
    OperationalError: _database_away,
    InterfaceError: _database_away,
    PoolTimeoutError: _database_away,
    Exception: _unexpected,
}
