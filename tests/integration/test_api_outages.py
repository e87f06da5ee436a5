"""PostgreSQL or the broker goes away and comes back: the API says so, and needs no restart."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from pydantic import SecretStr

from pipeline.db import migrate
from pipeline.settings import Settings
from tests.serving import Served, finish, served

DEAD_BROKER = "redis://127.0.0.1:1/0"


@contextmanager
def _api(database_url: str, redis_url: str, folder: Path) -> Iterator[Served]:
    chosen = Settings(
        home=folder / "home",
        database_url=SecretStr(database_url),
        redis_url=SecretStr(redis_url),
    )
    with served(chosen, folder) as running:
        yield running


def until(client: httpx.Client, path: str, status: int) -> httpx.Response:
    """Ask until the answer has ``status``."""
    deadline = time.monotonic() + 60
    while True:
        answer = client.get(path)
        if answer.status_code == status:
            return answer
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)


def until_it_waits(url: str) -> None:
    """Until the API has looked twice at a job that somebody waits for."""
    looked: set[Any] = set()
    with psycopg.connect(url, autocommit=True) as connection:
        while len(looked) < 2:
            looked |= set(
                connection.execute(
                    "SELECT query_start FROM pg_stat_activity"
                    " WHERE application_name = 'lastro-api' AND query LIKE 'SELECT id%'"
                )
            )
            time.sleep(0.05)


def test_postgresql_restarts_under_requests_and_waiters(
    own_postgres: Any,
    valkey_url: str,
    use_database: Callable[[str], None],
    tmp_path: Path,
) -> None:
    url = own_postgres.get_uri()
    migrate.upgrade(url)
    use_database(url)
    with _api(url, valkey_url, tmp_path) as api, api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        seen: list[dict[str, Any]] = []

        def wait() -> None:
            seen.append(client.get(f"/chat/status/{job_id}", params={"wait": 60}).json())

        client.timeout = httpx.Timeout(90)
        waiter = threading.Thread(target=wait)
        waiter.start()
        until_it_waits(url)
        own_postgres.stop()

        refused = client.post("/chat", json={"message": "oi"})
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["code"] == "database_unavailable"
        assert int(refused.headers["retry-after"]) > 0
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 503
        health = client.get("/health")
        assert health.status_code == 503
        assert health.json() == {
            "status": "down",
            "components": {
                "database": {"status": "down"},
                "broker": {"status": "ok"},
                "workers": None,
            },
            "queue": None,
        }

        own_postgres.start()
        until(client, "/readyz", 200)
        assert client.post("/chat", json={"message": "oi"}).status_code == 202
        finish(job_id)
        waiter.join()
        assert seen[0]["status"] == "done"


def test_without_a_broker_questions_are_kept(
    database: str, tmp_path: Path, change_settings: Callable[..., None]
) -> None:
    with _api(database, DEAD_BROKER, tmp_path) as api, api.client() as client:
        taken = client.post("/chat", json={"message": "oi"})
        assert taken.status_code == 202
        assert client.get(taken.headers["location"]).json()["status"] == "queued"
        assert client.post("/ingest", json={}).status_code == 202
        assert client.get("/readyz").status_code == 503
        health = client.get("/health")
        assert health.status_code == 200
        assert health.json()["status"] == "degraded"
        assert health.json()["components"]["broker"] == {"status": "down"}


def test_a_database_without_tables_is_not_ready(
    database: str, valkey_url: str, tmp_path: Path
) -> None:
    migrate.downgrade(database)
    with _api(database, valkey_url, tmp_path) as api:
        waiting = httpx.get(f"{api.url}/readyz")
        assert waiting.status_code == 503
        assert "migrations" in waiting.json()["detail"]
        migrate.upgrade(database)
        with httpx.Client(base_url=api.url) as client:
            until(client, "/readyz", 200)


def test_many_waiters_are_no_threads(database: str, valkey_url: str, tmp_path: Path) -> None:
    """300 clients wait for one job; the process has the threads of its pool and no more."""
    with ExitStack() as stack:
        api = stack.enter_context(_api(database, valkey_url, tmp_path))
        client = stack.enter_context(api.client())
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        address = ("127.0.0.1", int(api.url.rpartition(":")[2]))
        waiters = [HTTPConnection(*address, timeout=90) for _ in range(300)]
        for waiter in waiters:
            stack.callback(waiter.close)
            headers = {"X-API-Key": client.headers["X-API-Key"]}
            waiter.request("GET", f"/chat/status/{job_id}?wait=60", headers=headers)
        # A question that comes later is served at once.
        assert client.post("/chat", json={"message": "oi"}).status_code == 202
        assert psutil.Process(api.process.pid).num_threads() < 60
        finish(job_id)
        for waiter in waiters:
            assert json.load(waiter.getresponse())["status"] == "done"


@pytest.mark.parametrize("missing", ["database_url", "redis_url"])
def test_it_does_not_start_without_an_address(missing: str, tmp_path: Path) -> None:
    given = {"database_url": SecretStr("postgresql://h/d"), "redis_url": SecretStr(DEAD_BROKER)}
    chosen = Settings(home=tmp_path / "home", **(given | {missing: None}))
    with (
        pytest.raises(AssertionError, match=f"LASTRO_{missing.upper()}"),
        served(chosen, tmp_path),
    ):
        pass


def test_it_ends_in_order(database: str, valkey_url: str, tmp_path: Path) -> None:
    with _api(database, valkey_url, tmp_path) as api:
        api.process.send_signal(signal.SIGTERM)
        assert api.process.wait(30) in {0, -signal.SIGTERM}
    assert "Traceback" not in api.logged()
