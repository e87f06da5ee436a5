"""What a person gets: grounded or refused, nothing invented, one question after another."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.model_server import ModelServer, Reply
from tests.running import Running, running, until

UNLOCK = "My login is locked, what can I do?"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def instance(
    new_home: Callable[[], Path], small_pack: Path, model: ModelServer
) -> Iterator[Running]:
    settings = {
        "LASTRO_GENERATOR": "openai",
        "LASTRO_GENERATOR_URL": model.url,
        "LASTRO_GENERATOR_MODEL": "test",
    }
    with running(new_home(), small_pack, settings) as found:
        yield found


def test_an_answer_names_what_stands_behind_it(instance: Running, model: ModelServer) -> None:
    before = model.generations
    job = instance.ended(instance.ask(UNLOCK, "named"))
    assert job["status"] == "done"
    assert job["grounded"] is True
    assert job["language"] == "en"
    assert "60 minutes" in job["answer"]
    first = job["sources"][0]
    assert (first["type"], first["name"]) == ("skill", "unlock-login")
    assert first["chunk"] == "skills/unlock-login/SKILL.md#0"
    assert 0 < first["score"] <= 1
    assert model.generations == before + 1
    assert set(job["timings"]) == {"embed_query", "retrieve", "rerank", "generate"}


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("What is the capital of Brazil?", "en", "I could not find that"),
        ("Qual é a capital do Brasil?", "pt", "Não encontrei isso"),
        ("¿Cuál es la capital de Brasil?", "es", "No encontré eso"),
        ("Thủ đô của Brazil là thành phố nào?", "vi", "Tôi không tìm thấy"),
    ],
)
def test_off_topic_is_refused_and_no_model_is_called(
    instance: Running, model: ModelServer, question: str, language: str, text: str
) -> None:
    before = len(model.requests)
    job = instance.ended(instance.ask(question, f"off-topic-{language}"))
    assert (job["status"], job["grounded"], job["sources"]) == ("done", False, [])
    assert job["answer"].startswith(text)
    assert job["language"] == language
    assert len(model.requests) == before


def test_an_invented_number_does_not_reach_the_user(instance: Running, model: ModelServer) -> None:
    before = model.generations
    model.script.extend([Reply("Wait 45 minutes."), Reply("It takes 45 minutes, call 555-0199.")])
    job = instance.ended(instance.ask(UNLOCK, "invented"))
    assert model.generations == before + 2, "one retry"
    assert "45" not in job["answer"]
    assert "555" not in job["answer"]
    assert "60 minutes" in job["answer"], "the procedure itself"
    assert "unverified_answer" in job["degraded"]


def test_a_follow_up_finds_its_page_and_a_change_of_topic_leaves_it(instance: Running) -> None:
    instance.ended(instance.ask("When are my points credited after a purchase?", "turns"))
    follow_up = instance.ended(instance.ask("and if they don't?", "turns"))
    assert follow_up["sources"][0]["name"] == "missing-points"
    change = instance.ended(instance.ask("What is the capital of Brazil?", "turns"))
    assert change["grounded"] is False


def test_a_message_without_words_is_asked_for_again(instance: Running, model: ModelServer) -> None:
    before = len(model.requests)
    job = instance.ended(instance.ask("👍👍", "emoji"))
    assert job["answer"] == "Could you write your question in other words?"
    assert (job["grounded"], job["sources"]) == (False, [])
    assert len(model.requests) == before


def test_a_job_that_has_begun_is_finished_before_the_next_begins(instance: Running) -> None:
    os.kill(instance.pid("inference"), signal.SIGSTOP)
    try:
        job_ids = [instance.ask(UNLOCK, f"order-{number}") for number in range(6)]
    finally:
        os.kill(instance.pid("inference"), signal.SIGCONT)
    for job_id in job_ids:
        assert instance.ended(job_id)["status"] == "done"
    ids = ", ".join(f"'{job_id}'" for job_id in job_ids)
    times = instance.rows(
        f"SELECT started_at, finished_at FROM rag.jobs WHERE id IN ({ids}) ORDER BY number"
    )
    # The first may have been begun with the message that the worker held before it was stopped.
    for (_, finished), (started, _) in pairwise(times[1:]):
        assert finished <= started


def test_what_is_cancelled_while_no_worker_is_there_never_runs(instance: Running) -> None:
    os.kill(instance.pid("inference"), signal.SIGSTOP)
    try:
        instance.ask(UNLOCK, "held")  # the stopped worker may hold one message already
        job_id = instance.ask(UNLOCK, "cancelled")
        with instance.client as client:
            assert client.delete(f"/chat/jobs/{job_id}").status_code == 204
    finally:
        os.kill(instance.pid("inference"), signal.SIGCONT)
    after = instance.ask(UNLOCK, "after")
    assert instance.ended(after)["status"] == "done"
    assert instance.job(job_id)["status"] == "cancelled"
    assert instance.rows(f"SELECT token FROM rag.jobs WHERE id = '{job_id}' AND started_at IS NULL")


def test_the_trail_tells_every_candidate(instance: Running) -> None:
    job_id = instance.ask(UNLOCK, "trail")
    instance.ended(job_id)
    [(outcome, candidates, sources, models)] = until(
        lambda: instance.rows(
            f"SELECT outcome, candidates, sources, models FROM rag.trail WHERE job_id = '{job_id}'"
        )
    )
    assert outcome == "grounded"
    assert len(candidates) >= len(sources) >= 1
    assert {"chunk", "type", "score", "passed"} <= set(candidates[0])
    assert {candidate["passed"] for candidate in candidates} == {True, False}
    assert set(models) == {"embedder", "reranker", "generator"}


def test_nothing_private_is_in_the_broker(instance: Running) -> None:
    """Messages carry ids: a question is in no key of the broker, also while it waits."""
    from redis import Redis

    os.kill(instance.pid("inference"), signal.SIGSTOP)
    try:
        job_ids = [instance.ask("my PIN is 4321", f"private-{number}") for number in range(3)]
        broker = Redis.from_url(instance.told()["redis_url"])
        values = [
            value
            for key in broker.scan_iter()
            if broker.type(key) == b"list"
            for value in broker.lrange(key, 0, -1)  # type: ignore[union-attr]
        ]
        assert any(job_ids[-1].encode() in value for value in values)
        assert not any(b"4321" in value or b"NDMyMQ" in value for value in values)
    finally:
        os.kill(instance.pid("inference"), signal.SIGCONT)
