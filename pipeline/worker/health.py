"""The container health check of a worker: has this host's one signed lately?

``python -m pipeline.worker.health inference|ingest|scheduler``. A worker that is busy still signs,
so a long answer never looks like a dead worker.
"""

from __future__ import annotations

import socket
import sys

from sqlalchemy.exc import SQLAlchemyError

from pipeline.db import workers
from pipeline.db.engine import transaction


def main() -> int:
    """0 when the worker is alive, 1 with a line on stderr when not."""
    role = sys.argv[1] if len(sys.argv) == 2 else ""
    if role not in {"inference", "ingest", "scheduler"}:
        sys.stderr.write("usage: python -m pipeline.worker.health inference|ingest|scheduler\n")
        return 2
    try:
        with transaction() as conn:
            names = workers.alive(conn).get(role, [])
    except SQLAlchemyError as error:
        sys.stderr.write(f"database: {error}\n")
        return 1
    here = f"{role}@{socket.gethostname()}:"
    if any(name.startswith(here) for name in names):
        return 0
    sys.stderr.write(f"no sign of life of {role} on this host\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
