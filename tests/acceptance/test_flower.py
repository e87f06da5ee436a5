"""The queue dashboard beside a real instance: who gets in, what it shows, what it forgets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.local.ports import free_port
from tests.running import Running, running, until

LOGIN = ("ops", "right")
MEMORY = 10
PAGES = ("/", "/tasks", "/broker", "/api/tasks", "/api/workers")
PRIVATE = "jabuticaba"


@pytest.fixture(scope="module")
def instance(new_home: Callable[[], Path], small_pack: Path) -> Iterator[Running]:
    with running(new_home(), small_pack, {}) as found:
        yield found


@contextmanager
def flower(instance: Running, **environment: str) -> Iterator[httpx.Client]:
    """Flower on the instance's broker, and a client of it with the right login."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline.worker.commands", "flower"],
        env=instance.environment
        | {
            "LASTRO_DATABASE_URL": instance.told()["database_url"],
            "LASTRO_REDIS_URL": instance.told()["redis_url"],
            "LASTRO_FLOWER_LOGIN": ":".join(LOGIN),
            "LASTRO_FLOWER_PORT": str(port),
        }
        | environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", auth=LOGIN, timeout=20) as client:
            until(lambda: answers(client), what="Flower answers")
            yield client
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def dashboard(instance: Running) -> Iterator[httpx.Client]:
    with flower(instance) as client:
        yield client


def answers(client: httpx.Client) -> bool:
    try:
        # It sees the workers once their heartbeat comes by: then it hears of tasks as well.
        return bool(client.get("/api/workers").json())
    except (httpx.TransportError, ValueError):
        return False


def tasks(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/tasks").raise_for_status().json()
    return found


def of_job(client: httpx.Client, job_id: str) -> list[str]:
    """The numbers of a job's tasks that Flower remembers."""
    return [number for number, task in tasks(client).items() if job_id in task["args"]]


def test_it_never_starts_without_a_login(instance: Running) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.worker.commands", "flower"],
        env=instance.environment | {"LASTRO_REDIS_URL": instance.told()["redis_url"]},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "set LASTRO_FLOWER_LOGIN=name:password" in done.stderr


def test_pages_and_api_ask_for_the_login(dashboard: httpx.Client) -> None:
    for page in PAGES:
        with httpx.Client(base_url=dashboard.base_url) as stranger:
            assert stranger.get(page).status_code == 401
            assert stranger.get(page, auth=(LOGIN[0], "wrong")).status_code == 401
        assert dashboard.get(page).status_code == 200


def test_nothing_of_a_question_is_shown(instance: Running, dashboard: httpx.Client) -> None:
    job_id = instance.ask(f"my PIN is {PRIVATE}, is my login locked?")
    instance.ended(job_id)
    shown = until(lambda: of_job(dashboard, job_id), what="Flower heard of the job")
    details = [f"/task/{one}" for one in shown] + [f"/api/task/info/{one}" for one in shown]
    for page in (*PAGES, *details):
        response = dashboard.get(page)
        assert response.status_code == 200
        assert PRIVATE not in response.text


def test_the_newest_tasks_are_shown_and_the_api_forgets_none(instance: Running) -> None:
    with flower(instance, FLOWER_MAX_TASKS=str(MEMORY)) as client:
        jobs = [instance.ask("is my login locked?", session=f"s{n}") for n in range(MEMORY)]
        assert {instance.ended(job_id)["status"] for job_id in jobs} == {"done"}
        last = instance.ask("how do I unlock my login?", session="last")
        instance.ended(last)
        until(lambda: of_job(client, last), what="the newest job is shown")
        assert len(tasks(client)) <= MEMORY
    with flower(instance) as client:
        assert of_job(client, last) == []
        assert {instance.job(job_id)["status"] for job_id in [*jobs, last]} == {"done"}
