"""Probes, documents and what the API is without its parts."""

from __future__ import annotations

import httpx
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
