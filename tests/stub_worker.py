"""A worker whose inference stages only take the time that the question asks for.

``celery -A tests.stub_worker worker ...`` runs the product's application, queues, leases and ledger
with four stub stages, so that tests and benchmarks of the orchestration need no model. A question
reads ``10,10,10,200``: milliseconds per stage.
"""

from __future__ import annotations

import time

from pipeline.db import jobs, ledger
from pipeline.db.engine import single, transaction
from pipeline.db.jobs import Outcome
from pipeline.db.tables import jobs as jobs_table
from pipeline.types import Stage
from pipeline.worker.app import app
from pipeline.worker.stages import Held, stage_task
from pipeline.worker.sweep import fail_row

CHAIN = (Stage.EMBED_QUERY, Stage.RETRIEVE, Stage.RERANK, Stage.GENERATE)


def work(question: str, stage: Stage) -> str:
    """The stub's work: sleep, and return some state to hand on."""
    time.sleep(float(question.split(",")[CHAIN.index(stage)]) / 1000)
    return f"{stage} of {question}"


def _register(stage: Stage) -> None:
    @stage_task(jobs_table, stage, fail_row)
    def body(held: Held) -> None:
        did = work(held.row["question"], stage)
        if stage is CHAIN[-1]:
            with transaction() as conn:
                answer = {
                    "text": did,
                    "grounded": False,
                    "language": "en",
                    "sources": [],
                    "degraded": [],
                }
                jobs.complete(conn, held.claim, answer, Outcome("stub", "en", [], [], {}, []))
        else:
            following = CHAIN[CHAIN.index(stage) + 1]
            with single() as conn:
                ledger.hand_on(conn, held.claim, following, state={"did": did})
            held.next = [(following, held.claim.id)]


for _stage in CHAIN:
    _register(_stage)

app.conf.imports = ("pipeline.worker.sweep",)
