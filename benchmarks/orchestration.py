"""What broker and database cost per job, and how fairly a queue of jobs is served.

Stub stages only sleep, so all the rest is orchestration. The reference is the same four functions
called directly.
"""

from __future__ import annotations

import argparse
import statistics
import time
from uuid import UUID

import psycopg

from benchmarks.servers import servers, stub_worker
from pipeline.db import jobs
from pipeline.db.engine import single
from pipeline.db.ledger import ENDED_CHANNEL
from pipeline.enqueue import send
from pipeline.settings import settings
from pipeline.types import Stage
from tests import stub_worker as stub


class Ends:
    """When jobs ended, as PostgreSQL tells it."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute(f"LISTEN {ENDED_CHANNEL}")
        self._seen: dict[str, float] = {}

    def of(self, job_ids: list[UUID]) -> list[float]:
        """Wait for all and return the times, in the order of ``job_ids``."""
        while not all(str(job_id) in self._seen for job_id in job_ids):
            for notice in self._connection.notifies(timeout=30, stop_after=1):
                self._seen[notice.payload.partition(":")[2]] = time.perf_counter()
        return [self._seen[str(job_id)] for job_id in job_ids]


def submit(question: str) -> UUID:
    """A job, as the API records and sends it."""
    with single(durable=True) as conn:
        job_id = jobs.submit(conn, workspace="default", session_id="bench", question=question)
    send(Stage.EMBED_QUERY, job_id)
    return job_id


def overhead(ends: Ends, count: int) -> None:
    """Job after job against the plain calls, pair by pair."""
    question = "10,10,10,10"
    through, direct = [], []
    for _ in range(count):
        begun = time.perf_counter()
        through.append((ends.of([submit(question)])[0] - begun) * 1000)
        begun = time.perf_counter()
        for stage in stub.CHAIN:
            stub.work(question, stage)
        direct.append((time.perf_counter() - begun) * 1000)
    job, plain = statistics.median(through), statistics.median(direct)
    print(f"job {job:.1f} ms, the same functions called directly {plain:.1f} ms (medians)")
    print(f"orchestration costs {job - plain:.1f} ms per job, {job / plain:.2f} times the calls")


def fairness(ends: Ends) -> None:
    """Ten jobs at once against one job alone."""
    question = "10,10,10,200"
    begun = time.perf_counter()
    alone = ends.of([submit(question)])[0] - begun
    begun = time.perf_counter()
    job_ids = [submit(question) for _ in range(10)]
    took = sorted(end - begun for end in ends.of(job_ids))
    print(f"one job alone {alone:.2f} s; of ten at once the first after {took[0]:.2f} s")
    print(f"first over alone: {took[0] / alone:.2f}")
    print(f"mean completion over the last one's: {statistics.fmean(took) / took[-1]:.2f}")


def main() -> None:
    """Start servers and a worker, measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100, help="jobs of the overhead")
    count = parser.parse_args().jobs
    with servers(), stub_worker():
        url = settings().database_url
        assert url is not None
        ends = Ends(url.get_secret_value())
        overhead(ends, 5)
        overhead(ends, count)
        fairness(ends)


if __name__ == "__main__":
    main()
