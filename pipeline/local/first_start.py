"""What the database needs before anything runs on it: the tables, and a key for the commands.

A process of its own, ``python -m pipeline.local.first_start [ours]``: Alembic and SQLAlchemy would
otherwise stay in the supervisor's memory, 60 MB for as long as the instance runs. With ``ours`` the
database is this instance's alone.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError

from pipeline import logs
from pipeline.db import engine, keys, migrate, workers
from pipeline.errors import PipelineError
from pipeline.local import instance
from pipeline.settings import Settings, settings

log = structlog.get_logger(__name__)


def prepare_database(home: Path, chosen: Settings, *, ours: bool) -> None:
    """Apply the migrations and keep a working key in ``api-key``.

    In a database that is ``ours`` alone nobody works yet: signs of life in it are old. A key whose
    row is gone, after a restore or on another database, is replaced.
    """
    migrate.upgrade()
    with engine.transaction() as conn:
        if ours:
            workers.forget_all(conn)
        kept = instance.api_key(home)
        if kept is None or keys.find(conn, kept) is None:
            # Homes may share a database: no two keys have the same name.
            name = f"commands-{secrets.token_hex(4)}"
            key = keys.create(conn, workspace=chosen.workspace, name=name, scopes=keys.SCOPES)
            instance.write_private(home / "api-key", key + "\n")
            log.info("key_made", name=name)


def main() -> int:
    """Prepare the database of this process's settings; 1 with the reason as the last line."""
    logs.configure()
    try:
        prepare_database(instance.home_of(settings()), settings(), ours="ours" in sys.argv)
    except (PipelineError, SQLAlchemyError) as error:
        sys.stderr.write(str(error).partition("\n")[0] + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
