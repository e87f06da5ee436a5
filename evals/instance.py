"""An instance of Lastro that lives for one evaluation, with its own servers and workers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.db import engine, runs
from pipeline.db.engine import transaction
from pipeline.db.runs import RunView
from pipeline.enqueue import send
from pipeline.errors import PermanentError
from pipeline.local import detach, instance
from pipeline.settings import Settings, settings, use
from pipeline.types import JobStatus, Stage

POLL_S = 0.2


@contextmanager
def own_instance(content: Path) -> Iterator[Settings]:
    """Start an instance over the folder ``content``; its settings are this process's meanwhile."""
    before = settings()
    with tempfile.TemporaryDirectory(prefix="lastro-eval-") as home:
        chosen = before.model_copy(
            update={
                "home": Path(home),
                "content_dir": content,
                "port": 0,
                "database_url": None,
                "redis_url": None,
            }
        )
        detach.start(chosen)
        try:
            use(instance.connect(chosen))
            engine.forget()
            yield settings()
        finally:
            engine.forget()
            use(before)
            detach.stop(chosen)


def ingest(content: Path, progress: Callable[[int, int], None]) -> RunView:
    """Ingest the folder through the instance's workers.

    ``progress`` gets the files finished and in all. Raises PermanentError when a file failed.
    """
    workspace = settings().workspace
    with transaction() as conn:
        run_id = runs.start(conn, workspace=workspace, root=str(content.resolve()))
    send(Stage.PLAN, run_id)
    while True:
        with transaction() as conn:
            view = runs.view(conn, workspace, run_id)
        progress(view.counts["finished"], view.counts["total"])
        if view.status not in (JobStatus.QUEUED, JobStatus.RUNNING):
            break
        time.sleep(POLL_S)
    if view.status is not JobStatus.DONE:
        raise PermanentError(f"The corpus could not be ingested: {view.error or view.failures}")
    return view
