"""The OpenAPI 3.1 document, made from the operations and the schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.operations import Operation
from api.problems import MEDIA_TYPE
from api.requests import Nothing
from api.schemas import ProblemDetails
from api.security import HEADER

Json = dict[str, Any]

REF = "#/components/schemas/{model}"

_HEADERS: dict[int, dict[str, str]] = {
    202: {
        "Location": "Where to look for the outcome.",
        "Retry-After": "Seconds after which to look.",
    },
    401: {"WWW-Authenticate": "The header that carries the key."},
    429: {"Retry-After": "Seconds after which to try again."},
    503: {"Retry-After": "Seconds after which to try again."},
}

_ABOUT = """\
Answers questions from a knowledge base that its operators own, and shows what stands behind each
answer. Errors are problem details (RFC 9457) with a stable `code`. Unknown fields and query
parameters are refused."""


def document(operations: Iterable[Operation]) -> Json:
    """The document of ``operations``, ready for JSON."""
    operations = list(operations)
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(_shown(operation.path), {})[operation.method.lower()] = _operation(
            operation
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lastro",
            "version": version("lastro"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(operations),
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": HEADER,
                    "description": "Made with `lastro keys`. A key has a workspace and scopes.",
                }
            },
        },
    }


def _schemas(operations: Iterable[Operation]) -> Json:
    requests = {operation.body for operation in operations} - {Nothing}
    answers = {model for operation in operations for model in operation.answers.values() if model}
    _, found = models_json_schema(
        [
            *((model, "validation") for model in _by_name(requests)),
            *((model, "serialization") for model in _by_name(answers | {ProblemDetails})),
        ],
        ref_template=REF,
    )
    schemas: Json = found["$defs"]
    return schemas


def _by_name(models: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    return sorted(models, key=lambda model: model.__name__)


def _operation(operation: Operation) -> Json:
    made: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.path.split("/")[1] if operation.scope else "health"],
        "responses": {str(status): shape for status, shape in sorted(_responses(operation))},
        "security": [{"ApiKey": [operation.scope]}] if operation.scope else [],
    }
    if operation.description:
        made["description"] = operation.description
    parameters = [*_path_parameters(operation), *_query_parameters(operation)]
    if parameters:
        made["parameters"] = parameters
    if operation.body is not Nothing:
        made["requestBody"] = {
            "required": True,
            "content": {operation.media: {"schema": _ref(operation.body)}},
        }
    return made


def _shown(path: str) -> str:
    """A route's path without what only the router reads, as in ``{path:path}``."""
    return re.sub(r"{(\w+):\w+}", r"{\1}", path)


def _path_parameters(operation: Operation) -> Iterator[Json]:
    for name in re.findall(r"{(\w+)}", _shown(operation.path)):
        schema: Json = {"type": "string"}
        if name in ("job_id", "run_id"):
            schema["format"] = "uuid"
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(operation: Operation) -> Iterator[Json]:
    schema = operation.query.model_json_schema()
    for name, field in schema.get("properties", {}).items():
        described = {key: value for key, value in field.items() if key != "title"}
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": described.pop("description", ""),
            "schema": described,
        }


def _responses(operation: Operation) -> Iterator[tuple[int, Json]]:
    for status, model in operation.answers.items():
        content = {"application/json": {"schema": _ref(model)}} if model else None
        yield status, _response(status, content)
    for status in set(_problems(operation)) - set(operation.answers):
        yield status, _response(status, {MEDIA_TYPE: {"schema": _ref(ProblemDetails)}})


def _problems(operation: Operation) -> Iterator[int]:
    yield from operation.problems
    yield 500
    if operation.scope:
        yield from (401, 403, 422, 503)
    if operation.body is not Nothing:
        yield from (400, 413)


def _response(status: int, content: Json | None) -> Json:
    made: Json = {"description": HTTPStatus(status).phrase}
    if content:
        made["content"] = content
    if status in _HEADERS:
        made["headers"] = {
            name: {"description": told, "schema": {"type": "string"}}
            for name, told in _HEADERS[status].items()
        }
    return made


def _ref(model: type[BaseModel]) -> Json:
    return {"$ref": REF.format(model=model.__name__)}
