"""Questions over HTTP: recorded at once, waited for, cancelled, forgotten, and nobody else's."""

from __future__ import annotations

import threading
import time
from uuid import UUID, uuid4

import pytest
import redis
from sqlalchemy import func, select, update

from pipeline.db.engine import transaction
from pipeline.db.tables import jobs, messages, sessions
from tests.serving import ANSWER, SOURCE, Served, claimed, fail, finish


def row(job_id: str) -> object:
    with transaction() as conn:
        return conn.execute(select(jobs).where(jobs.c.id == UUID(job_id))).one()


def test_a_question_is_recorded_and_sent(api: Served, valkey_url: str) -> None:
    with api.client() as client:
        posted = client.post("/chat", json={"session_id": "s", "message": " como\x00 entro? \n"})
        assert posted.status_code == 202
        job = posted.json()
        assert job == {"job_id": job["job_id"], "session_id": "s", "status": "queued"}
        assert posted.headers["location"] == f"/chat/status/{job['job_id']}"
        assert int(posted.headers["retry-after"]) >= 1
        assert client.get(posted.headers["location"]).json() == {
            "job_id": job["job_id"],
            "session_id": "s",
            "status": "queued",
            "position": 0,
            "answer": None,
            "grounded": None,
            "language": None,
            "sources": [],
            "degraded": [],
            "timings": {},
        }
    assert row(job["job_id"]).question == "como entro?"  # type: ignore[attr-defined]
    with redis.Redis.from_url(valkey_url) as broker:
        queued = [broker.lrange(name, 0, -1) for name in broker.scan_iter("inference*")]
    assert sum(map(len, queued)) == 1
    assert job["job_id"] in str(queued)
    assert "entro" not in str(queued)


def test_a_session_is_made_where_none_is_named(api: Served) -> None:
    with api.client() as client:
        made = [client.post("/chat", json={"message": "oi"}).json()["session_id"] for _ in "ab"]
    assert len({UUID(name) for name in made}) == 2


def test_the_answer_as_the_worker_left_it(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"session_id": "s", "message": "oi"}).json()["job_id"]
        finish(job_id)
        seen = client.get(f"/chat/status/{job_id}").json()
        assert set(seen.pop("timings")) == {"embed_query"}
        assert seen == {
            "job_id": job_id,
            "session_id": "s",
            "status": "done",
            "answer": ANSWER["text"],
            "grounded": True,
            "language": "pt",
            "sources": [SOURCE],
            "degraded": [],
        }


def test_a_failure_has_its_reason(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        fail(job_id, "timeout", "The model server did not answer.")
        seen = client.get(f"/chat/status/{job_id}").json()
    assert seen["status"] == "failed"
    assert seen["error"] == {"code": "timeout", "detail": "The model server did not answer."}
    assert seen["answer"] is None


def test_positions_count_those_before(api: Served) -> None:
    with api.client() as client:
        ids = [client.post("/chat", json={"message": "oi"}).json()["job_id"] for _ in range(3)]
        claimed(ids[0])
        running, *waiting = [client.get(f"/chat/status/{job_id}").json() for job_id in ids]
    assert running["status"] == "running"
    assert "position" not in running
    assert [job["position"] for job in waiting] == [0, 1]


def test_many_wait_for_one_end_and_learn_of_it_at_once(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        seen: list[tuple[str, float]] = []

        def wait() -> None:
            status = client.get(f"/chat/status/{job_id}", params={"wait": 25}).json()["status"]
            seen.append((status, time.monotonic()))

        waiters = [threading.Thread(target=wait) for _ in range(20)]
        for waiter in waiters:
            waiter.start()
        finish(job_id)
        for waiter in waiters:
            waiter.join()
    assert [status for status, _ in seen] == ["done"] * 20


def test_a_wait_ends_with_its_time(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        seen = client.get(f"/chat/status/{job_id}", params={"wait": 0.2})
    assert seen.status_code == 200
    assert seen.json()["status"] == "queued"


def test_an_end_without_a_notification_is_seen_too(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        seen: list[str] = []

        def wait() -> None:
            found = client.get(f"/chat/status/{job_id}", params={"wait": 25})
            seen.append(found.json()["status"])

        waiter = threading.Thread(target=wait)
        waiter.start()
        with transaction() as conn:
            conn.execute(
                update(jobs).where(jobs.c.id == UUID(job_id)).values(status="done", answer=ANSWER)
            )
        waiter.join()
    assert seen == ["done"]


@pytest.mark.parametrize("path", ["/chat/status/{}", "/chat/jobs/{}"], ids=["status", "cancel"])
def test_unknown_and_foreign_jobs_are_the_same_404(api: Served, path: str) -> None:
    with api.client() as owner, api.client() as other:
        job_id = owner.post("/chat", json={"message": "oi"}).json()["job_id"]
        method = "DELETE" if "jobs" in path else "GET"
        answers = [
            other.request(method, path.format(name)) for name in (job_id, str(uuid4()), "nonsense")
        ]
        assert [answer.status_code for answer in answers] == [404] * 3
        assert {answer.json()["code"] for answer in answers} == {"not_found"}
        assert owner.get(f"/chat/status/{job_id}").json()["status"] == "queued"


def test_an_expired_answer_is_gone(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        with transaction() as conn:
            conn.execute(update(jobs).values(status="expired", question=None))
        gone = client.get(f"/chat/status/{job_id}")
    assert gone.status_code == 410
    assert gone.json()["code"] == "gone"


def test_a_cancelled_job_ends_for_those_who_wait(api: Served) -> None:
    with api.client() as client:
        job_id = client.post("/chat", json={"message": "oi"}).json()["job_id"]
        seen: list[str] = []

        def wait() -> None:
            found = client.get(f"/chat/status/{job_id}", params={"wait": 25})
            seen.append(found.json()["status"])

        waiter = threading.Thread(target=wait)
        waiter.start()
        cancelled = client.delete(f"/chat/jobs/{job_id}")
        waiter.join()
        assert cancelled.status_code == 204
        assert seen == ["cancelled"]
        assert client.delete(f"/chat/jobs/{job_id}").status_code == 204


def test_a_forgotten_session_leaves_nothing_and_cancels(api: Served) -> None:
    with api.client("shared") as client, api.client() as other:
        job_id = client.post("/chat", json={"session_id": "a b", "message": "oi"}).json()["job_id"]
        assert other.delete("/chat/a b").status_code == 204
        assert client.get(f"/chat/status/{job_id}").json()["status"] == "queued"
        assert client.delete("/chat/a b").status_code == 204
        assert client.get(f"/chat/status/{job_id}").json()["status"] == "cancelled"
        assert client.delete("/chat/a b").status_code == 204
    with transaction() as conn:
        for table in (sessions, messages):
            kept = select(func.count()).select_from(table).where(table.c.workspace == "shared")
            assert conn.execute(kept).scalar_one() == 0


def test_a_full_queue_refuses_and_says_when_to_come_back(api: Served) -> None:
    with api.client() as client:
        for _ in range(20):
            assert client.post("/chat", json={"message": "oi"}).status_code == 202
        refused = client.post("/chat", json={"message": "oi"})
    assert refused.status_code == 429
    assert refused.json()["code"] == "queue_full"
    assert int(refused.headers["retry-after"]) > 0


def answer_next(jobs_seen: int = 0) -> None:
    """Be the worker of the next question."""
    while True:
        with transaction() as conn:
            found = conn.execute(select(jobs.c.id).where(jobs.c.status == "queued")).first()
        if found:
            finish(found.id)
            return
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("path", "body"), [("/ask", {"wait": 25}), ("/ask?wait=25", {}), ("/ask?wait=0", {"wait": 25})]
)
def test_ask_answers_in_one_call(api: Served, path: str, body: dict[str, float]) -> None:
    worker = threading.Thread(target=answer_next)
    worker.start()
    with api.client() as client:
        answered = client.post(path, json={"session_id": "s", "message": "oi"} | body)
    worker.join()
    assert answered.status_code == 200
    assert answered.json()["status"] == "done"
    assert answered.json()["answer"] == ANSWER["text"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ask", {"wait": 0}),
        ("/ask", {"wait": 0.2}),
        ("/ask", {}),
        ("/ask?wait=0.2", {}),
        ("/ask?wait=60", {"wait": 0}),
    ],
)
def test_ask_becomes_chat_when_it_takes_longer(
    api: Served, path: str, body: dict[str, float]
) -> None:
    with api.client() as client:
        late = client.post(path, json={"message": "oi"} | body, timeout=20)
        assert late.status_code == 202
        assert set(late.json()) == {"job_id", "session_id", "status"}
        finish(late.json()["job_id"])
        assert client.get(late.headers["location"]).json()["status"] == "done"
