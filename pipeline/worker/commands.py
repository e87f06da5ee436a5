"""The command lines of the processes, the same for the supervisor, the images and the tests.

``python -m pipeline.worker.commands ROLE`` becomes that process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.settings import settings

_CELERY = [sys.executable, "-m", "celery", "-A", "pipeline.worker.app"]


def inference() -> list[str]:
    """One question at a time, in the process itself: models and CUDA never see a fork."""
    return [
        *_CELERY,
        "worker",
        *("-Q", "inference", "-P", "solo", "-n", "inference@%h"),
        *("--without-gossip", "--without-mingle", "-E"),
    ]


def ingest() -> list[str]:
    """Child processes that are replaced now and then, so that a parser's leaks end with them."""
    return [
        *_CELERY,
        "worker",
        *("-Q", "ingest", "-P", "prefork", "-c", str(settings().ingest_processes)),
        *("-n", "ingest@%h", "--max-tasks-per-child", "500"),
        *("--without-gossip", "--without-mingle", "-E"),
    ]


def scheduler() -> list[str]:
    """Celery beat, which sweeps."""
    return [*_CELERY, "beat", "--pidfile="]


def api() -> list[str]:
    """The HTTP front door."""
    return [
        *(sys.executable, "-m", "uvicorn", "api.app:create_app", "--factory"),
        *("--host", settings().host, "--port", str(settings().port)),
        *("--no-access-log", "--timeout-graceful-shutdown", "10"),
        # Longer than clients and proxies keep an idle connection: who closes it first never loses
        # a request that is on its way.
        *("--timeout-keep-alive", "75"),
    ]


def flower() -> list[str]:
    """The queue dashboard, behind the login of LASTRO_FLOWER_LOGIN."""
    options = Path(__file__).with_name("flower_options.py")
    return [*_CELERY, "flower", f"--conf={options}"]


ROLES: dict[str, Callable[[], list[str]]] = {
    "inference": inference,
    "ingest": ingest,
    "scheduler": scheduler,
    "api": api,
    "flower": flower,
}


def main() -> None:
    """Become the process that the first argument names."""
    if len(sys.argv) != 2 or sys.argv[1] not in ROLES:
        sys.exit(f"usage: python -m pipeline.worker.commands {'|'.join(ROLES)}")
    argv = ROLES[sys.argv[1]]()
    os.execv(argv[0], argv)  # noqa: S606 - the arguments are ours


if __name__ == "__main__":
    main()
