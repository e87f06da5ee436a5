"""Index sets: which embedder made the vectors that are searched.

A query that another model embedded finds nonsense with no error, also when the dimension agrees, so
the identity is compared before each use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, text

from pipeline.db.tables import index_sets
from pipeline.errors import IndexMismatchError, NoIndexError


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes vectors comparable: only those of an equal identity are."""

    model: str
    revision: str
    dimension: int
    query_prefix: str
    passage_prefix: str

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        return f"{self.model}{revision} ({self.dimension} dimensions)"


@dataclass(frozen=True, slots=True)
class IndexSet:
    """The live index set."""

    id: int
    identity: Identity


def live(conn: Connection) -> IndexSet:
    """The index set that queries use. Raises NoIndexError when nothing was ever ingested."""
    row = conn.execute(select(index_sets).where(index_sets.c.state == "live")).one_or_none()
    if row is None:
        raise NoIndexError("Nothing has been ingested yet: run `lastro ingest`.")
    return IndexSet(
        row.id,
        Identity(row.model, row.revision, row.dimension, row.query_prefix, row.passage_prefix),
    )


def live_for(conn: Connection, identity: Identity) -> IndexSet:
    """The live index set, checked. Raises IndexMismatchError that names both embedders."""
    found = live(conn)
    if found.identity != identity:
        raise IndexMismatchError(
            f"The index was made by {found.identity}, this worker embeds with {identity}. "
            "Set the embedder back, or start on a new database and ingest again."
        )
    return found


def ensure_live(conn: Connection, identity: Identity, chunking: Mapping[str, Any]) -> IndexSet:
    """The live index set, made now if there is none. Raises IndexMismatchError."""
    # Two ingest workers that start at once must not both make the first one.
    conn.execute(select(func.pg_advisory_xact_lock(_FIRST_SET_LOCK)))
    try:
        return live_for(conn, identity)
    except NoIndexError:
        set_id = conn.execute(
            insert(index_sets)
            .values(
                state="live",
                model=identity.model,
                revision=identity.revision,
                dimension=identity.dimension,
                query_prefix=identity.query_prefix,
                passage_prefix=identity.passage_prefix,
                chunking=dict(chunking),
                activated_at=func.now(),
            )
            .returning(index_sets.c.id)
        ).scalar_one()
        _create_hnsw(conn, set_id, identity.dimension)
        return IndexSet(set_id, identity)


_FIRST_SET_LOCK = 5_270_001  # any number that no other advisory lock of this schema uses

MAX_VECTOR_DIMENSION = 2000
"""pgvector's limit for an HNSW index on ``vector``; ``halfvec`` reaches 4,000."""


def _create_hnsw(conn: Connection, set_id: int, dimension: int) -> None:
    """The set's own HNSW index: partial, over live rows only, so staged vectors never enter it."""
    kind, operators = vector_type(dimension)
    conn.execute(
        text(
            f"CREATE INDEX {hnsw_name(set_id)} ON rag.embeddings "
            f"USING hnsw ((embedding::{kind}) {operators}) "
            f"WHERE live AND index_set_id = {set_id}"
        )
    )


def hnsw_name(set_id: int) -> str:
    """The name of the set's HNSW index; Alembic leaves indexes of this form alone."""
    return f"hnsw_embeddings_{int(set_id)}"


def vector_type(dimension: int) -> tuple[str, str]:
    """The SQL type that vectors are indexed as, and its cosine operator class."""
    kind = "vector" if dimension <= MAX_VECTOR_DIMENSION else "halfvec"
    return f"{kind}({int(dimension)})", f"{kind}_cosine_ops"
