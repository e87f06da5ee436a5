"""``GET /search`` and ``/ingest`` over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from pipeline.db import ledger, runs
from pipeline.db.engine import transaction
from pipeline.db.runs import Work
from pipeline.db.tables import ingest_items, ingest_runs, jobs
from pipeline.types import JobStatus, Stage, Track
from tests.serving import SOURCE, Served, fail, finish

RESULTS = [SOURCE | {"text": f"passage {n}", "chunk": f"skills/a/SKILL.md#{n}"} for n in range(7)]


def next_search() -> UUID:
    while True:
        with transaction() as conn:
            found = conn.execute(select(jobs.c.id).where(jobs.c.kind == "search")).first()
        if found:
            return UUID(str(found.id))
        time.sleep(0.02)


def meanwhile(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_search_waits_for_the_worker_and_cuts_at_k(api: Served) -> None:
    found = {"results": RESULTS, "language": "pt", "degraded": ["dense"], "text": ""}
    worker = meanwhile(lambda: finish(next_search(), found))
    with api.client() as client:
        answer = client.get("/search", params={"q": "login  bloqueado", "k": 3})
    worker.join()
    assert answer.status_code == 200
    assert answer.json() == {
        "query": "login  bloqueado",
        "language": "pt",
        "results": RESULTS[:3],
        "degraded": ["dense"],
    }


def test_a_search_that_nobody_answers_is_503_and_cancelled(api: Served) -> None:
    with api.client() as client:
        late = client.get("/search", params={"q": "oi"})
    assert late.status_code == 503
    assert late.json()["code"] == "timeout"
    with transaction() as conn:
        assert conn.execute(select(jobs.c.status)).scalar_one() == "cancelled"


@pytest.mark.parametrize(
    ("code", "status"),
    [("no_index", 409), ("backend_unavailable", 503), ("index_mismatch", 500), ("new", 500)],
)
def test_a_search_that_fails_tells_why(api: Served, code: str, status: int) -> None:
    worker = meanwhile(lambda: fail(next_search(), code, "because"))
    with api.client() as client:
        failed = client.get("/search", params={"q": "oi"})
    worker.join()
    assert failed.status_code == status
    assert failed.json()["code"] == code
    assert failed.json()["detail"] == "because"


def test_a_searchs_job_is_no_chat(api: Served) -> None:
    with api.client("one") as client:
        client.get("/search", params={"q": "oi"})
        with transaction() as conn:
            job_id = conn.execute(select(jobs.c.id)).scalar_one()
        assert client.get(f"/chat/status/{job_id}").status_code == 404


@pytest.mark.parametrize(
    "query",
    ["", "q=", "q=%E2%80%8B", "q=oi&k=0", "q=oi&k=51", "q=oi&k=x", "q=oi&q=oi", "q=oi&kk=3"],
)
def test_bad_searches_are_refused(api: Served, query: str) -> None:
    with api.client() as client:
        refused = client.get(f"/search?{query}")
    assert refused.status_code == 422
    assert refused.json()["errors"]


def test_a_run_is_recorded_and_told(api: Served) -> None:
    with api.client() as client, api.client() as other:
        started = client.post("/ingest", json={"path": "documents/", "track": "document"})
        assert started.status_code == 202
        run_id = started.json()["run_id"]
        assert started.json() == {"run_id": run_id, "status": "queued"}
        assert started.headers["location"] == f"/ingest/{run_id}"
        with transaction() as conn:
            recorded = conn.execute(select(ingest_runs)).one()
        assert (recorded.prefix, recorded.track, recorded.force) == ("documents", "document", False)
        assert recorded.root.endswith("/content")

        with transaction() as conn:
            run = ledger.claim(
                conn, ingest_runs, UUID(run_id), Stage.PLAN, owner="test", lease_s=60
            )
            assert run is not None
            items = runs.planned(
                conn,
                run,
                [Work("documents/a.md", Track.DOCUMENT, "add")],
                unchanged=2,
                skipped=[{"path": "documents/README.md", "reason": "a README"}],
            )
        with transaction() as conn:
            item = ledger.claim(
                conn, ingest_items, items[0][1], Stage.PARSE, owner="test", lease_s=60
            )
            assert item is not None
            ledger.finish(conn, item, JobStatus.FAILED, error_code="unreadable", error="not UTF-8")
            runs.settle(conn, UUID(run_id))

        told = client.get(f"/ingest/{run_id}").json()
        assert other.get(f"/ingest/{run_id}").status_code == 404
    assert told["status"] == "partial"
    assert told["counts"] == {
        "added": 0,
        "changed": 0,
        "removed": 0,
        "unchanged": 2,
        "failed": 1,
        "total": 1,
        "finished": 1,
    }
    assert told["failures"] == [
        {"path": "documents/a.md", "stage": "parse", "code": "unreadable", "reason": "not UTF-8"}
    ]
    assert told["warnings"] == [{"path": "documents/README.md", "reason": "a README"}]


@pytest.mark.parametrize("name", [str(uuid4()), "nonsense"])
def test_an_unknown_run_is_404(api: Served, name: str) -> None:
    with api.client() as client:
        assert client.get(f"/ingest/{name}").status_code == 404


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret", "a/../../b", "..", "a\\..\\b", "a\nb", "a\x00b"]
)
def test_a_path_that_leaves_the_content_is_refused(api: Served, path: str) -> None:
    with api.client() as client:
        refused = client.post("/ingest", json={"path": path})
    assert refused.status_code == 422
    assert refused.json()["code"] == "forbidden_path"
    with transaction() as conn:
        assert path not in conn.execute(select(ingest_runs.c.prefix)).scalars().all()
