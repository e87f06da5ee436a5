"""Alembic's entry: connects, takes the migration lock, runs."""

from __future__ import annotations

from typing import Any

from alembic import context
from sqlalchemy import create_engine, text

from pipeline.db.engine import database_url
from pipeline.db.engine import engine as process_engine
from pipeline.db.tables import SCHEMA, metadata

MIGRATION_LOCK = 5_270_000


def _ours(obj: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:
    """Leave alone what the code makes at run time: an HNSW index per index set."""
    return not (kind == "index" and name is not None and name.startswith("hnsw_"))


def _schemas(name: str | None, kind: str, _parents: Any) -> bool:
    return kind != "schema" or name == SCHEMA


def run() -> None:
    """Run the migrations in one transaction."""
    url = context.config.attributes.get("url")
    engine = create_engine(database_url(url)) if url else process_engine()
    try:
        with engine.begin() as connection:
            connection.execute(
                text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK}
            )
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
            context.configure(
                connection=connection,
                target_metadata=metadata,
                include_schemas=True,
                include_name=_schemas,
                include_object=_ours,
                version_table_schema=SCHEMA,
                compare_type=True,
                compare_server_default=True,
            )
            context.run_migrations()
    finally:
        if url:
            engine.dispose()


run()
