"""What the database needs before anything runs on it: the tables, and a key for the commands."""

from __future__ import annotations

import secrets
from pathlib import Path

import structlog

from pipeline.db import engine, keys, migrate, workers
from pipeline.local import instance
from pipeline.settings import Settings

log = structlog.get_logger(__name__)


def prepare_database(home: Path, settings: Settings, *, ours: bool) -> None:
    """Apply the migrations and keep a working key in ``api-key``. ``settings`` must be in use.

    In a database that is ``ours`` alone nobody works yet: signs of life in it are old. A key whose
    row is gone, after a restore or on another database, is replaced.
    """
    engine.forget()
    migrate.upgrade()
    with engine.transaction() as conn:
        if ours:
            workers.forget_all(conn)
        kept = instance.api_key(home)
        if kept is None or keys.find(conn, kept) is None:
            # Homes may share a database: no two keys have the same name.
            name = f"commands-{secrets.token_hex(4)}"
            key = keys.create(
                conn, workspace=settings.workspace, name=name, scopes=list(keys.SCOPES)
            )
            instance.write_private(home / "api-key", key + "\n")
            log.info("key_made", name=name)
    engine.forget()
