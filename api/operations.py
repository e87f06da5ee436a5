"""An operation: what a route does, who may call it, and what goes in and out.

Routes and the OpenAPI document are both made from these, so that neither can lie about the other.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.problems import Problem, invalid
from api.requests import Nothing
from api.security import authorise
from pipeline.db.keys import ApiKey

JSON = "application/json"
FORM = "multipart/form-data"
FORM_FIELDS = 10
"""Fields of a form beside its file, at most."""

Q = TypeVar("Q", bound=BaseModel)
B = TypeVar("B", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """A request whose key, query and body have been found good."""

    request: Request
    key: ApiKey
    query: Q
    body: B


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``answers`` has the shape of each good status, None for one without a body or with a page.

    ``problems`` are the statuses of its own; those that every operation can have are added where
    the document is made. ``scope`` None: open to all.
    """

    method: str
    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    name: str
    summary: str
    description: str
    scope: str | None
    query: type[BaseModel]
    body: type[BaseModel]
    answers: Mapping[int, type[BaseModel] | None]
    problems: Sequence[int]
    media: str = JSON

    def route(self) -> Route:
        """The operation as Starlette's router wants it."""
        return Route(self.path, self.endpoint, methods=[self.method], name=self.name)


def keyed(
    method: str,
    path: str,
    *,
    scope: str,
    query: type[Q],
    body: type[B],
    answers: Mapping[int, type[BaseModel] | None],
    problems: Sequence[int] = (),
    media: str = JSON,
) -> Callable[[Callable[[Call[Q, B]], Awaitable[Response]]], Operation]:
    """Make a handler an operation that takes a key with ``scope``, and a body of type ``media``.

    The docstring's first line is the summary in the document, the rest the description.
    """

    def make(handler: Callable[[Call[Q, B]], Awaitable[Response]]) -> Operation:
        async def endpoint(request: Request) -> Response:
            key = await authorise(request, scope)
            asked = _read_query(request, query)
            if media == FORM:
                async with request.form(max_files=1, max_fields=FORM_FIELDS) as form:
                    return await handler(Call(request, key, asked, _read_form(form, body)))
            return await handler(Call(request, key, asked, await _read_body(request, body)))

        summary, description = _told(handler)
        return Operation(
            method=method,
            path=path,
            endpoint=endpoint,
            name=handler.__name__,
            summary=summary,
            description=description,
            scope=scope,
            query=query,
            body=body,
            answers=answers,
            problems=problems,
            media=media,
        )

    return make


def unkeyed(
    path: str,
    *,
    answers: Mapping[int, type[BaseModel] | None],
    problems: Sequence[int] = (),
) -> Callable[[Callable[[Request], Awaitable[Response]]], Operation]:
    """Make a handler of GET requests an operation that is open to all."""

    def make(handler: Callable[[Request], Awaitable[Response]]) -> Operation:
        summary, description = _told(handler)
        return Operation(
            method="GET",
            path=path,
            endpoint=handler,
            name=handler.__name__,
            summary=summary,
            description=description,
            scope=None,
            query=Nothing,
            body=Nothing,
            answers=answers,
            problems=problems,
        )

    return make


def _told(handler: Callable[..., Any]) -> tuple[str, str]:
    summary, _, description = (inspect.getdoc(handler) or "").partition("\n")
    return summary.rstrip("."), description.strip()


def answer(
    model: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """The JSON answer."""
    return Response(model.model_dump_json(), status, headers, "application/json")


def _read_query(request: Request, model: type[M]) -> M:
    pairs = request.query_params.multi_items()
    _refuse_repeated(pairs)
    return validated(model, dict(pairs))


def _refuse_repeated(pairs: Iterable[tuple[str, object]]) -> None:
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            reason = "is given more than once"
            errors = [{"field": name, "reason": reason}]
            raise Problem(422, "invalid", f"{name} {reason}.", errors=errors)


def _read_form(form: FormData, model: type[M]) -> M:
    _refuse_repeated(form.multi_items())
    return validated(model, dict(form.items()))


async def _read_body(request: Request, model: type[M]) -> M:
    if model is Nothing:
        return model()
    raw = await request.body()
    if not raw.strip():
        raise Problem(400, "malformed", "The body is empty: send a JSON object.")
    try:
        value = json.loads(raw, object_pairs_hook=_without_duplicates, parse_constant=_no_number)
    except RecursionError:
        raise Problem(400, "malformed", "The JSON is nested too deeply.") from None
    except ValueError as error:
        raise Problem(400, "malformed", f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise Problem(422, "invalid", "The body must be a JSON object.")
    return validated(model, value)


def validated(model: type[M], values: Mapping[str, Any]) -> M:
    """``values`` as ``model``. Raises Problem that names the fields at fault."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_context=False)) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the name {name!r} stands twice in one object")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")
