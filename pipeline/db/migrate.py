"""Applies the migrations that are shipped inside the package."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pipeline.db.tables import SCHEMA


def config(url: str | None = None) -> Config:
    """Alembic's configuration; ``url`` of the database, default the settings'."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    made.attributes["url"] = url
    return made


def upgrade(url: str | None = None) -> None:
    """Bring the database to the newest version. Two at once are serialised by a lock."""
    command.upgrade(config(url), "head")


def downgrade(url: str | None = None, revision: str = "base") -> None:
    """Take the database back to ``revision``."""
    command.downgrade(config(url), revision)


def is_current(conn: Connection) -> bool:
    """Whether the database is at the version that this code needs."""
    context = MigrationContext.configure(conn, opts={"version_table_schema": SCHEMA})
    return (
        context.get_current_revision() == ScriptDirectory.from_config(config()).get_current_head()
    )


if __name__ == "__main__":
    upgrade()
