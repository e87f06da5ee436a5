"""Probes, documents and what the API is without its parts."""

from __future__ import annotations

import re

import httpx
import jsonschema
import pytest

from pipeline.db import workers
from pipeline.db.engine import transaction
from tests.serving import Served


def test_health_tells_parts_and_depth_and_no_names(api: Served) -> None:
    seen = httpx.get(f"{api.url}/health")
    assert seen.status_code == 200
    assert seen.json() == {
        "status": "degraded",
        "components": {
            "database": {"status": "ok"},
            "broker": {"status": "ok"},
            "workers": {"inference": 0, "ingest": 0, "scheduler": 0},
        },
        "queue": {"queued": 0, "running": 0},
    }
    with transaction() as conn:
        for queue in ("inference", "ingest", "scheduler"):
            workers.sign(conn, f"{queue}@host", queue)
    seen = httpx.get(f"{api.url}/health")
    assert seen.json()["status"] == "ok"
    assert "@" not in seen.text
    with transaction() as conn:
        for queue in ("inference", "ingest", "scheduler"):
            workers.leave(conn, f"{queue}@host")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes(api: Served, path: str) -> None:
    assert httpx.get(f"{api.url}{path}").json() == {"status": "ok"}


def test_the_documentation_comes_from_here_alone(api: Served) -> None:
    with httpx.Client(base_url=api.url) as client:
        assert client.get("/").headers["location"] == "docs"
        page = client.get("/docs")
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(loaded) >= 4
        for address in loaded:
            assert "//" not in address
            assert client.get(f"/{address}").status_code == 200
        assert "<script>" not in page.text
        assert client.get("/openapi.json").json()["openapi"] == "3.1.0"


def test_every_answer_brings_safe_headers(api: Served) -> None:
    for path in ("/health", "/docs", "/openapi.json", "/nothing"):
        headers = httpx.get(f"{api.url}{path}").headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_the_running_api_answers_as_its_document_says(api: Served) -> None:
    """Each shape that comes back fits the schema that the document names for it."""
    with api.client() as client:
        document = client.get("/openapi.json").json()
        job = client.post("/chat", json={"message": "oi"})
        run = client.post("/ingest", json={})
        answers = [
            ("/chat", "post", job),
            ("/chat/status/{job_id}", "get", client.get(job.headers["location"])),
            ("/ask", "post", client.post("/ask", json={"message": "oi", "wait": 0})),
            ("/search", "get", client.get("/search", params={"q": "oi"})),
            ("/ingest", "post", run),
            ("/ingest/{run_id}", "get", client.get(run.headers["location"])),
            ("/health", "get", client.get("/health")),
            ("/livez", "get", client.get("/livez")),
            ("/readyz", "get", client.get("/readyz")),
            ("/chat", "post", client.post("/chat", json={"message": ""})),
            ("/chat/status/{job_id}", "get", client.get("/chat/status/4d5e")),
            ("/ingest", "post", httpx.post(f"{api.url}/ingest")),
        ]
    for path, method, answer in answers:
        told = document["paths"][path][method]["responses"][str(answer.status_code)]
        media = answer.headers["content-type"]
        schema = told["content"][media]["schema"] | {"components": document["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())
        for name in told.get("headers", {}):
            assert name in answer.headers
