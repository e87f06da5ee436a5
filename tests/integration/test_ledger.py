"""The rules of the ledger: one worker per stage, late writes refused, nothing forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy import update

from pipeline.db import jobs, ledger
from pipeline.db.engine import transaction
from pipeline.db.ledger import Claim
from pipeline.db.tables import jobs as table
from pipeline.errors import LeaseLostError, QueueFullError
from pipeline.settings import settings, use
from pipeline.types import JobStatus, Stage


def submit(question: str = "?") -> UUID:
    with transaction() as conn:
        return jobs.submit(conn, workspace="default", session_id="s", question=question)


def claim(job_id: UUID, stage: Stage = Stage.EMBED_QUERY, lease_s: float = 60) -> Claim | None:
    with transaction() as conn:
        return ledger.claim(conn, table, job_id, stage, owner="test", lease_s=lease_s)


def end_lease(job_id: UUID) -> None:
    with transaction() as conn:
        conn.execute(
            update(table).where(table.c.id == job_id).values(lease_until=table.c.created_at)
        )


def status(job_id: UUID) -> JobStatus:
    with transaction() as conn:
        return jobs.view(conn, "default", job_id).status


def test_of_many_messages_for_one_stage_one_gets_the_row(database: str) -> None:
    job_id = submit()
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: claim(job_id), range(8)))
    assert sum(held is not None for held in claims) == 1


def test_a_message_for_another_stage_finds_no_work(database: str) -> None:
    job_id = submit()
    assert claim(job_id, Stage.RETRIEVE) is None
    held = claim(job_id)
    assert held is not None
    with transaction() as conn:
        ledger.hand_on(conn, held, Stage.RETRIEVE, state={"a": 1})
    assert claim(job_id, Stage.EMBED_QUERY) is None
    following = claim(job_id, Stage.RETRIEVE)
    assert following is not None
    assert following.row["state"] == {"a": 1}


def test_a_late_worker_writes_nothing(database: str) -> None:
    job_id = submit()
    late = claim(job_id)
    assert late is not None
    end_lease(job_id)
    with transaction() as conn:
        assert ledger.heartbeat(conn, late, lease_s=60), "nobody else has it: it may go on"
    end_lease(job_id)
    current = claim(job_id)
    assert current is not None
    with transaction() as conn:
        assert not ledger.heartbeat(conn, late, lease_s=60)
    with pytest.raises(LeaseLostError), transaction() as conn:
        ledger.hand_on(conn, late, Stage.RETRIEVE, state={"by": "late"})
    with pytest.raises(LeaseLostError), transaction() as conn:
        jobs.fail(conn, late, "code", "reason")
    with transaction() as conn:
        ledger.hand_on(conn, current, Stage.RETRIEVE, state={"by": "current"})
    assert status(job_id) is JobStatus.RUNNING


def test_a_cancelled_job_stays_cancelled(database: str) -> None:
    job_id = submit()
    held = claim(job_id)
    assert held is not None
    with transaction() as conn:
        jobs.cancel(conn, "default", job_id)
    with pytest.raises(LeaseLostError), transaction() as conn:
        jobs.fail(conn, held, "code", "reason")
    assert claim(job_id) is None
    assert status(job_id) is JobStatus.CANCELLED


def test_suspects_are_rows_that_nobody_holds(database: str) -> None:
    waiting, held, lost = submit(), submit(), submit()
    assert claim(held)
    assert claim(lost)
    end_lease(lost)
    with transaction() as conn:
        assert {row for row, _ in ledger.suspects(conn, table, grace_s=0)} == {waiting, lost}
        assert not ledger.suspects(conn, table, grace_s=60)


def test_a_row_that_moved_on_is_not_sent_again(database: str) -> None:
    job_id = submit()
    with transaction() as conn:
        conn.execute(update(table).values(sent_at=None))
        assert ledger.suspects(conn, table, grace_s=1)
    held = claim(job_id)
    assert held is not None
    with transaction() as conn:
        ledger.hand_on(conn, held, Stage.RETRIEVE)
        assert ledger.mark_sent_again(conn, table, [job_id], grace_s=1) == []


def test_put_back_waits_for_its_pause(database: str) -> None:
    job_id = submit()
    held = claim(job_id)
    assert held is not None
    with transaction() as conn:
        ledger.put_back(conn, held, pause_s=60, code="timeout", reason="late")
        assert ledger.suspects(conn, table, grace_s=0) == []
        conn.execute(update(table).values(not_before=table.c.created_at))
        assert ledger.suspects(conn, table, grace_s=0) == [(job_id, Stage.EMBED_QUERY)]


def test_a_full_queue_refuses_and_records_nothing(database: str) -> None:
    use(settings().model_copy(update={"queue_limit": 2}))
    submit()
    submit()
    with pytest.raises(QueueFullError):
        submit()
    with transaction() as conn:
        assert jobs.waiting(conn) == {"queued": 2, "running": 0}
