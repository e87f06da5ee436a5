"""The document: valid, complete, and its examples fit its schemas."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app import OPERATIONS
from api.openapi import document
from pipeline.settings import settings

DOCUMENT = document(OPERATIONS)

CALLS = {
    ("post", "/chat"),
    ("get", "/chat/status/{job_id}"),
    ("delete", "/chat/jobs/{job_id}"),
    ("delete", "/chat/{session_id}"),
    ("post", "/ask"),
    ("get", "/search"),
    ("post", "/documents"),
    ("delete", "/documents/{path}"),
    ("post", "/ingest"),
    ("get", "/ingest/{run_id}"),
    ("get", "/health"),
    ("get", "/livez"),
    ("get", "/readyz"),
}


def operations() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method, path): operation
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    }


def test_it_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_it_lists_every_call() -> None:
    assert set(operations()) == CALLS


@pytest.mark.parametrize("call", sorted(CALLS))
def test_a_call_is_described(call: tuple[str, str]) -> None:
    operation = operations()[call]
    assert operation["summary"]
    assert {"500"} < set(operation["responses"])
    if call[1] not in {"/health", "/livez", "/readyz"}:
        assert operation["security"][0]["ApiKey"]
        assert {"401", "403", "422", "503"} < set(operation["responses"])
    for status, response in operation["responses"].items():
        if int(status) >= 400 and call[1] != "/health":
            assert set(response["content"]) == {"application/problem+json"}


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_examples_fit_their_schema(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    validator = jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    )
    for example in schema.get("examples", ()):
        validator.validate(example)


def test_the_limit_of_a_message_is_the_setting() -> None:
    message = DOCUMENT["components"]["schemas"]["ChatRequest"]["properties"]["message"]
    assert message["maxLength"] == settings().max_message_chars
