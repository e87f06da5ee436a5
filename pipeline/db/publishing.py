"""The switch from one version of a document to the next, and its removal.

All in the caller's one transaction: a reader sees the whole old text or the whole new one, in the
vectors, in the keyword index and in the statistics of the track.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from pipeline.db.content import Terms, Version, discard
from pipeline.db.tables import (
    chunks,
    document_versions,
    documents,
    embeddings,
    postings,
    track_statistics,
)
from pipeline.errors import ConflictError


def publish(conn: Connection, staged: Version, terms: Mapping[int, Terms]) -> None:
    """Make the staged version the document's live one and remove the one before.

    ``terms`` holds the keyword side by chunk id. A version older than the live one is discarded: a
    later run has overtaken it. Raises ConflictError when a chunk has no vector.
    """
    # Writers of the same document wait here for each other; readers don't.
    conn.execute(
        select(documents.c.id).where(documents.c.id == staged.document_id).with_for_update()
    )
    current = conn.execute(
        select(document_versions.c.id).where(
            document_versions.c.document_id == staged.document_id,
            document_versions.c.index_set_id == staged.index_set_id,
            document_versions.c.live,
        )
    ).scalar_one_or_none()
    if current is not None and current >= staged.id:
        discard(conn, staged.id)
        return
    if current is not None:
        _withdraw(conn, current)
        conn.execute(delete(document_versions).where(document_versions.c.id == current))
    conn.execute(
        update(document_versions).where(document_versions.c.id == staged.id).values(live=True)
    )
    _put_live(conn, staged, terms)


def _put_live(conn: Connection, shown: Version, terms: Mapping[int, Terms]) -> None:
    own = select(chunks.c.id).where(chunks.c.version_id == shown.id)
    live = conn.execute(
        update(embeddings)
        .where(
            embeddings.c.chunk_id.in_(own),
            embeddings.c.content_hash
            == select(chunks.c.content_hash)
            .where(chunks.c.id == embeddings.c.chunk_id)
            .scalar_subquery(),
        )
        .values(live=True, track=shown.document.track)
    ).rowcount
    if live != len(terms):
        raise ConflictError(
            f"{shown.document.path}: {live} of {len(terms)} chunks have a vector. Ingest it again."
        )
    scope = {
        "index_set_id": shown.index_set_id,
        "workspace": shown.workspace,
        "track": shown.document.track,
    }
    rows = [
        scope | {"term": term, "chunk_id": chunk_id, "frequency": count, "length": keywords.length}
        for chunk_id, keywords in terms.items()
        for term, count in keywords.frequencies.items()
    ]
    if rows:
        conn.execute(insert(postings), rows)
    _count(conn, scope, len(terms), sum(keywords.length for keywords in terms.values()))


def _withdraw(conn: Connection, version_id: int) -> None:
    """Take a live version out of every search."""
    row = conn.execute(
        select(document_versions.c.index_set_id, documents.c.workspace, embeddings.c.track)
        .join(documents, documents.c.id == document_versions.c.document_id)
        .join(chunks, chunks.c.version_id == document_versions.c.id)
        .join(embeddings, embeddings.c.chunk_id == chunks.c.id)
        .where(document_versions.c.id == version_id)
        .limit(1)
    ).one_or_none()
    if row is None:
        return
    own = select(chunks.c.id).where(chunks.c.version_id == version_id)
    sizes = conn.execute(
        select(func.count(), func.coalesce(func.sum(chunks.c.term_count), 0)).where(
            chunks.c.version_id == version_id
        )
    ).one()
    conn.execute(update(embeddings).where(embeddings.c.chunk_id.in_(own)).values(live=False))
    conn.execute(delete(postings).where(postings.c.chunk_id.in_(own)))
    scope = {
        "index_set_id": row.index_set_id,
        "workspace": row.workspace,
        "track": row.track,
    }
    _count(conn, scope, -sizes[0], -sizes[1])


def _count(conn: Connection, scope: Mapping[str, object], pieces: int, terms: int) -> None:
    statement = upsert(track_statistics).values(**scope, chunks=pieces, terms=terms, version=1)
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=list(track_statistics.primary_key.columns),
            set_={
                "chunks": track_statistics.c.chunks + statement.excluded.chunks,
                "terms": track_statistics.c.terms + statement.excluded.terms,
                "version": track_statistics.c.version + literal(1),
            },
        )
    )


def remove(conn: Connection, workspace: str, path: str, *, index_set_id: int | None = None) -> None:
    """Remove a document from every index set, or from one; nothing if it is gone already."""
    document_id = conn.execute(
        select(documents.c.id)
        .where(documents.c.workspace == workspace, documents.c.path == path)
        .with_for_update()
    ).scalar_one_or_none()
    if document_id is None:
        return
    versions = select(document_versions.c.id).where(document_versions.c.document_id == document_id)
    meant = versions
    if index_set_id is not None:
        meant = versions.where(document_versions.c.index_set_id == index_set_id)
    for version_id in conn.execute(meant.where(document_versions.c.live)).scalars():
        _withdraw(conn, version_id)
    conn.execute(delete(document_versions).where(document_versions.c.id.in_(meant)))
    conn.execute(delete(documents).where(documents.c.id == document_id, ~versions.exists()))
