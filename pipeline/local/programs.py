"""The product's own processes under the supervisor."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from pipeline.local.processes import Program
from pipeline.settings import Settings
from pipeline.worker import commands


def programs(settings: Settings, environment: Mapping[str, str]) -> list[Program]:
    """Workers, scheduler and API; the servers below them have rank 0.

    ``settings`` must be this process's, since the command lines read them.
    """
    here = Path.cwd()
    # Each worker computes on one core: a pool of threads per process makes all of them slower.
    worker = {**environment, "OMP_NUM_THREADS": "1"}
    # SIGQUIT is Celery's cold shutdown: pool and all end at once, and the leases do the rest.
    orphaned = signal.SIGQUIT
    return [
        Program(
            name="ingest",
            command=commands.ingest(),
            environment=worker,
            folder=here,
            rank=1,
            orphan_signal=orphaned,
            grace_s=settings.shutdown_s,
        ),
        Program(
            name="inference",
            command=commands.inference(),
            environment=worker,
            folder=here,
            rank=1,
            orphan_signal=orphaned,
            grace_s=settings.shutdown_s,
        ),
        Program(
            name="scheduler",
            command=commands.scheduler(),
            environment=environment,
            folder=here,
            rank=2,
        ),
        Program(
            name="api",
            command=commands.api(),
            environment=environment,
            folder=here,
            rank=2,
            grace_s=15,  # uvicorn ends open requests after 10
        ),
    ]
