"""The assistant of a workspace, as its content pack last described it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from pipeline.db.tables import assistants


def save(conn: Connection, workspace: str, assistant: Mapping[str, Any]) -> None:
    """Store the pack's assistant in place of the one before."""
    values = {"assistant": dict(assistant)}
    conn.execute(
        insert(assistants)
        .values(workspace=workspace, **values)
        .on_conflict_do_update(
            index_elements=[assistants.c.workspace], set_=values | {"updated_at": func.now()}
        )
    )


def remove(conn: Connection, workspace: str) -> None:
    """Forget the assistant: the pack has none any more."""
    conn.execute(delete(assistants).where(assistants.c.workspace == workspace))


def load(conn: Connection, workspace: str) -> dict[str, Any] | None:
    """The stored assistant, None when the pack has none."""
    return conn.execute(
        select(assistants.c.assistant).where(assistants.c.workspace == workspace)
    ).scalar_one_or_none()
