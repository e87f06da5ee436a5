"""An index set that is filled from the live one: what it lacks, and copies of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, insert, literal, select

from pipeline.db.tables import document_versions, documents
from pipeline.types import Track

COPIED = [
    column
    for column in document_versions.c
    if column.name not in ("id", "index_set_id", "live", "created_at")
]


@dataclass(frozen=True, slots=True)
class Difference:
    """A document that a set has not as the live one has it; ``action`` is what brings it there."""

    workspace: str
    path: str
    track: Track
    action: str


def differences(conn: Connection, live_id: int, set_id: int) -> list[Difference]:
    """What to add to, change in and remove from the set so that it holds what the live one does."""
    ours, theirs = document_versions.alias("ours"), document_versions.alias("theirs")
    rows = conn.execute(
        select(
            documents.c.workspace,
            documents.c.path,
            documents.c.track,
            ours.c.id.label("ours"),
            theirs.c.id.label("theirs"),
        )
        .outerjoin(ours, _live(ours, live_id))
        .outerjoin(theirs, _live(theirs, set_id))
        .where(func.coalesce(ours.c.content_hash, "") != func.coalesce(theirs.c.content_hash, ""))
        .order_by(documents.c.workspace, documents.c.path)
    )
    return [
        Difference(
            row.workspace,
            row.path,
            Track(row.track),
            "remove" if row.ours is None else "add" if row.theirs is None else "change",
        )
        for row in rows
    ]


def counts(conn: Connection) -> dict[int, int]:
    """Live documents of each index set."""
    rows = conn.execute(
        select(document_versions.c.index_set_id, func.count().label("documents"))
        .where(document_versions.c.live)
        .group_by(document_versions.c.index_set_id)
    )
    return {row.index_set_id: row.documents for row in rows}


def copy_version(
    conn: Connection, workspace: str, path: str, live_id: int, set_id: int
) -> int | None:
    """Stage in the set what the live one shows of a document; its version's id, None if gone."""
    values = [
        literal(set_id) if column.name == "index_set_id" else column
        for column in (*COPIED, document_versions.c.index_set_id)
    ]
    source = (
        select(*values)
        .join(documents, documents.c.id == document_versions.c.document_id)
        .where(
            documents.c.workspace == workspace,
            documents.c.path == path,
            document_versions.c.index_set_id == live_id,
            document_versions.c.live,
        )
    )
    names = [*(column.name for column in COPIED), "index_set_id"]
    made: int | None = conn.execute(
        insert(document_versions).from_select(names, source).returning(document_versions.c.id)
    ).scalar_one_or_none()
    return made


def _live(version: Any, set_id: int) -> Any:
    return and_(
        version.c.document_id == documents.c.id, version.c.index_set_id == set_id, version.c.live
    )
