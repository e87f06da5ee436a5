"""PostgreSQL and Valkey of a benchmark, and workers with stub stages, without an instance."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from pipeline.db import migrate, workers
from pipeline.db.engine import transaction
from pipeline.local import instance
from pipeline.local.ports import free_port
from pipeline.local.postgres import Postgres
from pipeline.local.processes import Child
from pipeline.local.valkey import Valkey
from pipeline.settings import Settings, environment, settings, use


@contextmanager
def servers() -> Iterator[Settings]:
    """Both servers, migrated, in this process's settings."""
    with tempfile.TemporaryDirectory(prefix="lastro-bench-") as folder:
        home = instance.make_home(settings().model_copy(update={"home": Path(folder)}))
        secrets = instance.credentials(home)
        postgres = Postgres(home, password=secrets["postgres"], port=free_port())
        valkey = Valkey(home, password=secrets["valkey"], port=free_port())
        children = []
        try:
            for server in (postgres, valkey):
                server.prepare()
                program = server.program(dict(os.environ))
                children.append(Child(program, home / "logs" / f"{program.name}.log"))
                children[-1].start()
                while not server.ready():
                    time.sleep(0.05)
            use(
                settings().model_copy(
                    update={
                        "home": home,
                        "database_url": SecretStr(postgres.url),
                        "redis_url": SecretStr(valkey.url),
                    }
                )
            )
            migrate.upgrade()
            yield settings()
        finally:
            for child in reversed(children):
                child.signal(child.program.stop_signal)
            time.sleep(0.5)
            for child in children:
                child.kill()


@contextmanager
def stub_worker() -> Iterator[None]:
    """One inference worker with the stub stages of ``tests/stub_worker.py``, once it signs."""
    argv = [sys.executable, "-m", "celery", "-A", "tests.stub_worker", "worker"]
    argv += ["-Q", "inference", "-P", "solo", "--without-gossip", "--without-mingle", "-E"]
    with tempfile.TemporaryFile() as log:
        worker = subprocess.Popen(
            argv, env=environment(settings()), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while not _alive():
                time.sleep(0.1)
            yield
        finally:
            worker.terminate()
            worker.wait()


def _alive() -> bool:
    with transaction() as conn:
        return bool(workers.alive(conn).get("inference"))
