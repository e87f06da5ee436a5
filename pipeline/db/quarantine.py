"""Files that took their parser down, by the hash of their bytes: left alone until they change."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from pipeline.db.tables import quarantine


def put(conn: Connection, workspace: str, path: str, content_hash: str, reason: str) -> None:
    """Note that these bytes at ``path`` must not be parsed again, and why."""
    values = {"content_hash": content_hash, "reason": reason}
    conn.execute(
        upsert(quarantine)
        .values(workspace=workspace, path=path, **values)
        .on_conflict_do_update(index_elements=["workspace", "path"], set_=values)
    )


def held(conn: Connection, workspace: str) -> dict[str, tuple[str, str]]:
    """(content hash, reason) by path."""
    rows = conn.execute(select(quarantine).where(quarantine.c.workspace == workspace))
    return {row.path: (row.content_hash, row.reason) for row in rows}


def release(conn: Connection, workspace: str, path: str) -> None:
    """Forget ``path``: it was parsed, or is gone."""
    conn.execute(
        delete(quarantine).where(quarantine.c.workspace == workspace, quarantine.c.path == path)
    )
