"""The API as its own process, as the supervisor and the image start it, for tests over HTTP."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx

from pipeline import settings
from pipeline.db import jobs, keys, ledger
from pipeline.db.engine import transaction
from pipeline.db.jobs import Outcome
from pipeline.db.keys import SCOPES
from pipeline.db.ledger import Claim
from pipeline.db.tables import jobs as jobs_table
from pipeline.settings import Settings
from pipeline.types import Stage
from pipeline.worker import commands

START_LIMIT_S = 60.0

SOURCE = {
    "type": "skill",
    "name": "login-bloqueado",
    "chunk": "skills/login-bloqueado/SKILL.md#0",
    "score": 0.9,
    "title": "Login bloqueado",
    "heading": "",
}

ANSWER = {
    "text": "Aguarde 30 minutos.",
    "grounded": True,
    "language": "pt",
    "sources": [SOURCE],
    "degraded": [],
}


@dataclass
class Served:
    """A running API."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def client(
        self, workspace: str | None = None, scopes: tuple[str, ...] = SCOPES
    ) -> httpx.Client:
        """A client with a new key for ``workspace``, by default one of its own."""
        with transaction() as conn:
            key = keys.create(
                conn, workspace=workspace or f"w-{uuid4()}", name=str(uuid4()), scopes=scopes
            )
        return httpx.Client(base_url=self.url, headers={"X-API-Key": key}, timeout=30)

    def logged(self) -> str:
        """What the process wrote."""
        return self.log.read_text()


@contextmanager
def served(chosen: Settings, folder: Path) -> Iterator[Served]:
    """Start the API with ``chosen`` on a free port, wait until it answers, stop it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chosen = chosen.model_copy(update={"port": port, "log_format": "json"})
    before, settings._current = settings._current, chosen
    try:
        command, environment = commands.api(), settings.environment(chosen)
    finally:
        settings._current = before
    log = folder / f"api-{port}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url, process, log)
        yield Served(url, process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        try:
            httpx.get(f"{url}/livez").raise_for_status()
        except httpx.TransportError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        else:
            return


def claimed(job_id: str | UUID) -> Claim:
    """The job as a worker takes it."""
    with transaction() as conn:
        held = ledger.claim(
            conn,
            jobs_table,
            UUID(str(job_id)),
            Stage.EMBED_QUERY,
            owner=str(os.getpid()),
            lease_s=60,
        )
    assert held is not None
    return held


def finish(job_id: str | UUID, answer: dict[str, object] = ANSWER) -> None:
    """End the job with ``answer``, as a worker does."""
    held = claimed(job_id)
    with transaction() as conn:
        jobs.complete(conn, held, answer, Outcome("grounded", "pt", [], [], {}, []))


def fail(job_id: str | UUID, code: str, reason: str) -> None:
    """End the job with a reason, as a worker does."""
    held = claimed(job_id)
    with transaction() as conn:
        jobs.fail(conn, held, code, reason)
