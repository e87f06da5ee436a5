"""A real instance for acceptance tests: ``lastro up`` in a folder of its own, seen from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg

T = TypeVar("T")

PATIENCE_S = 60.0


def until(condition: Callable[[], T], *, limit_s: float = PATIENCE_S, what: str = "") -> T:
    """Wait for ``condition`` to be true and return its value; fail with ``what`` at the limit."""
    deadline = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {limit_s:g} s: {what or condition}"
        time.sleep(0.05)


@dataclass
class Running:
    """An instance under ``home``. The environment holds its settings."""

    home: Path
    environment: dict[str, str]

    def lastro(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a ``lastro`` command of this instance."""
        done = subprocess.run(
            [sys.executable, "-m", "pipeline.cli.main", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert not check or done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done

    def told(self) -> dict[str, Any]:
        """What the supervisor says of itself."""
        told: dict[str, Any] = json.loads((self.home / "instance.json").read_text())
        return told

    def pid(self, child: str) -> int:
        """The process id of a child, once it runs."""
        return int(until(lambda: self.told()["children"][child]["pid"], what=f"{child} runs"))

    def kill(self, child: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a child; returns the process id that it had."""
        pid = self.pid(child)
        os.kill(pid, number)
        return pid

    def restarted(self, child: str, since: int) -> None:
        """Wait until the child runs as another process than ``since``."""
        until(lambda: self.pid(child) != since, what=f"{child} is restarted")

    @property
    def client(self) -> httpx.Client:
        """A client of the API with the first key."""
        return httpx.Client(
            base_url=self.told()["api_url"],
            headers={"X-API-Key": (self.home / "api-key").read_text().strip()},
            timeout=40,
        )

    def ask(self, message: str, session: str = "s") -> str:
        """Post a question; returns the job's id."""
        with self.client as client:
            response = client.post("/chat", json={"session_id": session, "message": message})
            assert response.status_code == 202, response.text
            return str(response.json()["job_id"])

    def job(self, job_id: str, wait: int = 0) -> dict[str, Any]:
        """The job's status as the API tells it."""
        with self.client as client:
            response = client.get(f"/chat/status/{job_id}", params={"wait": wait})
            assert response.status_code == 200, response.text
            found: dict[str, Any] = response.json()
            return found

    def ended(self, job_id: str, limit_s: float = PATIENCE_S) -> dict[str, Any]:
        """Wait for the job's end, also through restarts of what is between."""

        def look() -> dict[str, Any] | None:
            try:
                found = self.job(job_id, wait=5)
            except (httpx.TransportError, AssertionError):
                return None
            return found if found["status"] in {"done", "failed", "cancelled"} else None

        return until(look, limit_s=limit_s, what=f"job {job_id} ends")

    def rows(self, query: str) -> list[Any]:
        """Rows of the instance's database."""
        with psycopg.connect(self.told()["database_url"]) as connection:
            return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]


@contextmanager
def running(home: Path, content: Path, settings: Mapping[str, str]) -> Iterator[Running]:
    """``lastro up --detach`` on a free port, ``content`` ingested; ``lastro down`` at the end."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("LASTRO_")}
    environment = own | {
        "LASTRO_HOME": str(home),
        "LASTRO_CONTENT_DIR": str(content),
        "LASTRO_PORT": "0",
        **settings,
    }
    instance = Running(home, environment)
    instance.lastro("up", "--detach")
    try:
        instance.lastro("ingest")
        yield instance
    finally:
        instance.lastro("down")
