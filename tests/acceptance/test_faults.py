"""Nothing is lost: workers, broker and database are really killed under load.

Each test asks through the API of a real instance whose model server takes its time, so that the
faults hit jobs in every stage.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from tests.model_server import Body, ModelServer, Reply, quoting
from tests.running import Running, running, until

LEASE_S = 3
QUESTION = "How do I unlock my login?"


class Model:
    """A model server whose pace a test sets. ``waiting`` counts the generations under way."""

    def __init__(self) -> None:
        self.pace_s = 0.15
        self.waiting = 0
        self.url = ""

    def reply(self, body: Body) -> Reply:
        """The passage, after a while; a change of pace holds at once."""
        self.waiting += 1
        begun = time.monotonic()
        while time.monotonic() - begun < self.pace_s:
            time.sleep(0.01)
        self.waiting -= 1
        return quoting(body)

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Answer after ``seconds`` meanwhile."""
        usual, self.pace_s = self.pace_s, seconds
        try:
            yield
        finally:
            self.pace_s = usual


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    paced = Model()
    with ModelServer(reply=paced.reply) as server:
        paced.url = server.url
        yield paced


@pytest.fixture(scope="module")
def instance(new_home: Callable[[], Path], small_pack: Path, model: Model) -> Iterator[Running]:
    settings = {
        "LASTRO_LEASE_S": str(LEASE_S),
        "LASTRO_SWEEP_S": "1",
        "LASTRO_GENERATOR": "openai",
        "LASTRO_GENERATOR_URL": model.url,
        "LASTRO_GENERATOR_MODEL": "test",
    }
    with running(new_home(), small_pack, settings) as found:
        yield found


def assert_each_ended_once(instance: Running, job_ids: list[str], *, resent: float) -> None:
    """Every job is done, with one answer and one trail, and few messages were sent twice."""
    ended = [instance.ended(job_id, limit_s=120) for job_id in job_ids]
    assert [job["status"] for job in ended] == ["done"] * len(job_ids), [
        job for job in ended if job["status"] != "done"
    ]
    ids = ", ".join(f"'{job_id}'" for job_id in job_ids)
    answers = instance.rows(
        f"SELECT count(*) FROM rag.messages WHERE role = 'assistant' AND job_id IN ({ids})"
    )
    trails = instance.rows(f"SELECT count(*) FROM rag.trail WHERE job_id IN ({ids})")
    assert answers == trails == [(len(job_ids),)]
    # Four stages, so four messages, where nothing was sent again.
    [(sends,)] = instance.rows(f"SELECT avg(sends) / 4.0 FROM rag.jobs WHERE id IN ({ids})")
    assert float(sends) <= resent


def has_claimed(instance: Running, pid: int) -> bool:
    """Whether the worker with this process id is or was the last at some job."""
    found = instance.rows(f"SELECT 1 FROM rag.jobs WHERE lease_owner LIKE '%:{pid}' LIMIT 1")
    return bool(found)


def test_a_killed_inference_worker_loses_nothing(instance: Running) -> None:
    """kill -9 at 20 random moments while a worker is at one of 60 jobs."""
    moments = random.Random(5)
    job_ids = [instance.ask(QUESTION, f"kill-{number}") for number in range(60)]
    for _ in range(20):
        until(lambda: has_claimed(instance, instance.pid("inference")), what="a job is at work")
        time.sleep(moments.uniform(0.0, 0.6))  # the moment of the fault, not a wait for anything
        instance.restarted("inference", instance.kill("inference"))
    assert_each_ended_once(instance, job_ids, resent=1.1)


def test_recovery_takes_a_lease_and_a_sweep(instance: Running, model: Model) -> None:
    with model.slow(60):
        job_id = instance.ask(QUESTION, "recovery")
        until(lambda: instance.job(job_id)["status"] == "running" and model.waiting)
        instance.kill("inference")
    begun = time.monotonic()
    assert instance.ended(job_id)["status"] == "done"
    assert time.monotonic() - begun < LEASE_S + 5 + 10, "a lease, a sweep, and a worker's start"


def test_an_emptied_broker_loses_nothing(instance: Running) -> None:
    job_ids = [instance.ask(QUESTION, f"flush-{number}") for number in range(20)]
    Redis.from_url(instance.told()["redis_url"]).flushall()
    assert_each_ended_once(instance, job_ids, resent=1.5)


def test_a_killed_broker_loses_nothing(instance: Running) -> None:
    job_ids = [instance.ask(QUESTION, f"broker-{number}") for number in range(20)]
    pid = instance.kill("valkey")
    job_ids.append(instance.ask(QUESTION, "while the broker is away"))
    instance.restarted("valkey", pid)
    assert_each_ended_once(instance, job_ids, resent=1.5)


def test_a_killed_database_loses_nothing(instance: Running) -> None:
    job_ids = [instance.ask(QUESTION, f"database-{number}") for number in range(20)]
    pid = instance.kill("postgres")
    instance.restarted("postgres", pid)
    assert_each_ended_once(instance, job_ids, resent=1.5)


def test_a_worker_that_is_told_to_stop_ends_its_job_first(instance: Running, model: Model) -> None:
    with model.slow(3):
        job_id = instance.ask(QUESTION, "stop")
        until(lambda: instance.job(job_id)["status"] == "running")
        pid = instance.kill("inference", signal.SIGTERM)
        assert instance.ended(job_id)["status"] == "done"
    instance.restarted("inference", pid)
    [(tokens,)] = instance.rows(f"SELECT token FROM rag.jobs WHERE id = '{job_id}'")
    assert tokens == 4, "each stage was claimed once"


def test_a_job_that_kills_its_worker_fails_with_a_reason(instance: Running, model: Model) -> None:
    with model.slow(60):
        job_id = instance.ask(QUESTION, "deadly")
        for attempt in range(1, 4):
            until(
                lambda attempt=attempt: instance.rows(  # type: ignore[misc]
                    f"SELECT 1 FROM rag.jobs WHERE id = '{job_id}'"
                    f" AND stage = 'generate' AND attempts = {attempt}"
                ),
                what=f"attempt {attempt}",
            )
            until(lambda: model.waiting)
            instance.restarted("inference", instance.kill("inference"))
        job = instance.ended(job_id)
    assert job["status"] == "failed"
    assert job["error"]["code"] == "worker_lost"
