"""Index sets: which embedder made the vectors that are searched.

A query that another model embedded finds nonsense with no error, also when the dimension agrees, so
the identity is compared before each use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from pipeline.db.tables import SCHEMA, index_sets
from pipeline.errors import IndexMismatchError, NoIndexError, NotFoundError


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
class Recipe:
    """How the vectors of a set are made.

    ``chunking`` is {"tokens", "overlap"}; ``embedder`` holds the settings, without secrets, that
    any worker can build the embedder by.
    """

    identity: Identity
    chunking: Mapping[str, int]
    embedder: Mapping[str, Any]

    def makes_the_same_as(self, other: Recipe) -> bool:
        """Whether vectors and chunks come out alike, on whatever server and however fast."""
        return (self.identity, self.chunking) == (other.identity, other.chunking)


@dataclass(frozen=True, slots=True)
class IndexSet:
    """A stored index set. ``state`` is building, live or retired."""

    id: int
    state: str
    recipe: Recipe

    @property
    def identity(self) -> Identity:
        """What its vectors are comparable with."""
        return self.recipe.identity


def live(conn: Connection) -> IndexSet:
    """The index set that queries use. Raises NoIndexError when nothing was ever ingested."""
    row = conn.execute(select(index_sets).where(index_sets.c.state == "live")).one_or_none()
    if row is None:
        raise NoIndexError("Nothing has been ingested yet: run `lastro ingest`.")
    return _set(row)


def get(conn: Connection, set_id: int) -> IndexSet:
    """The index set ``set_id``, whatever its state. Raises NotFoundError."""
    row = conn.execute(select(index_sets).where(index_sets.c.id == set_id)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no index set {set_id}: `lastro index list` shows them.")
    return _set(row)


def all_sets(conn: Connection) -> list[IndexSet]:
    """Every index set, oldest first."""
    return [_set(row) for row in conn.execute(select(index_sets).order_by(index_sets.c.id))]


def live_for(conn: Connection, identity: Identity) -> IndexSet:
    """The live index set, for a worker that is configured for ``identity``.

    A worker may be configured for any set that there is: so it goes on when another becomes live.
    Raises IndexMismatchError that names both embedders when there is none for its own.
    """
    found = live(conn)
    if found.identity != identity and identity not in [one.identity for one in all_sets(conn)]:
        raise IndexMismatchError(
            f"The index was made by {found.identity}, this worker is set to {identity}. Set the "
            "embedder back, or make an index for the new one beside the live one: `lastro index "
            "create`, `build`, `activate`."
        )
    return found


def ensure_live(conn: Connection, recipe: Recipe) -> IndexSet:
    """The live index set, made now if there is none. Raises IndexMismatchError."""
    # Two ingest workers that start at once must not both make the first one.
    lock(conn)
    try:
        return live_for(conn, recipe.identity)
    except NoIndexError:
        return create(conn, recipe, state="live")


def create(conn: Connection, recipe: Recipe, *, state: str = "building") -> IndexSet:
    """Make an empty index set with an HNSW index of its own."""
    identity = recipe.identity
    row = conn.execute(
        insert(index_sets)
        .values(
            state=state,
            model=identity.model,
            revision=identity.revision,
            dimension=identity.dimension,
            query_prefix=identity.query_prefix,
            passage_prefix=identity.passage_prefix,
            chunking=dict(recipe.chunking),
            embedder=dict(recipe.embedder),
            activated_at=func.now() if state == "live" else None,
        )
        .returning(*index_sets.c)
    ).one()
    _create_hnsw(conn, row.id, identity.dimension)
    return _set(row)


def activate(conn: Connection, set_id: int) -> None:
    """Make the set the live one and retire the one that was, in the caller's transaction."""
    conn.execute(update(index_sets).where(index_sets.c.state == "live").values(state="retired"))
    conn.execute(
        update(index_sets)
        .where(index_sets.c.id == set_id)
        .values(state="live", activated_at=func.now())
    )


def drop(conn: Connection, set_id: int) -> None:
    """Remove the set with its versions, chunks and vectors."""
    conn.execute(text(f"DROP INDEX IF EXISTS {SCHEMA}.{hnsw_name(set_id)}"))
    conn.execute(delete(index_sets).where(index_sets.c.id == set_id))


def lock(conn: Connection) -> None:
    """Wait for whoever makes, activates or drops a set; held until the transaction ends."""
    conn.execute(select(func.pg_advisory_xact_lock(_SETS_LOCK)))


def _set(row: Any) -> IndexSet:
    identity = Identity(
        row.model, row.revision, row.dimension, row.query_prefix, row.passage_prefix
    )
    return IndexSet(row.id, row.state, Recipe(identity, row.chunking, row.embedder))


_SETS_LOCK = 5_270_001  # any number that no other advisory lock of this schema uses

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
