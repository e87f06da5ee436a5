"""Documents, their versions and chunks, as the ingest stages write and read them.

A document has at most one live version per index set. Everything of a new version is staged beside
it with ``live = false``, seen by no query, until ``publishing.publish`` switches to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, delete, insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from pipeline.db.engine import single
from pipeline.db.tables import (
    chunks,
    document_versions,
    documents,
    embeddings,
    sentence_embeddings,
)
from pipeline.errors import NotFoundError
from pipeline.ports import Vectors
from pipeline.text.normalise import text_hash
from pipeline.types import CatalogueEntry, Chunk, Document, Track


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was last ingested."""

    content_hash: str
    track: Track


@dataclass(frozen=True, slots=True)
class Version:
    """A stored version of a document, staged or live."""

    id: int
    document_id: int
    index_set_id: int
    workspace: str
    document: Document


@dataclass(frozen=True, slots=True)
class StagedVectors:
    """The vectors of one chunk: (dimension,) of its text, (n, dimension) of its sentences."""

    chunk_id: int
    chunk: Chunk
    vector: Vectors
    sentences: Vectors


@dataclass(frozen=True, slots=True)
class Terms:
    """The keyword side of one chunk: how often each term stands in it, and terms in all."""

    frequencies: Mapping[str, int]
    length: int


def known(conn: Connection, workspace: str, index_set_id: int | None) -> dict[str, KnownFile]:
    """The live files of a workspace by path."""
    rows = conn.execute(
        select(documents.c.path, documents.c.track, document_versions.c.content_hash)
        .join(document_versions, document_versions.c.document_id == documents.c.id)
        .where(
            documents.c.workspace == workspace,
            document_versions.c.index_set_id == index_set_id,
            document_versions.c.live,
        )
    )
    return {row.path: KnownFile(row.content_hash, Track(row.track)) for row in rows}


def exists(conn: Connection, workspace: str, path: str) -> bool:
    """Whether any index set holds a document of this path."""
    found = select(documents.c.id).where(
        documents.c.workspace == workspace, documents.c.path == path
    )
    return conn.execute(found).first() is not None


def stage_version(
    conn: Connection,
    *,
    workspace: str,
    index_set_id: int,
    document: Document,
    content_hash: str,
) -> int:
    """Store a parsed document as a new version that nobody sees; returns the version's id."""
    document_id = conn.execute(
        upsert(documents)
        .values(workspace=workspace, path=document.path, track=document.track)
        .on_conflict_do_update(
            index_elements=[documents.c.workspace, documents.c.path],
            set_={"track": document.track},
        )
        .returning(documents.c.id)
    ).scalar_one()
    made: int = conn.execute(
        insert(document_versions)
        .values(
            document_id=document_id,
            index_set_id=index_set_id,
            content_hash=content_hash,
            title=document.title,
            summary=document.summary,
            text=document.text,
            triggers=list(document.triggers),
            metadata=dict(document.metadata),
            language=document.language,
            parser=document.parser,
            lost=list(document.lost),
            warnings=list(document.warnings),
        )
        .returning(document_versions.c.id)
    ).scalar_one()
    return made


def version(conn: Connection, version_id: int | None) -> Version:
    """Load a version. Raises NotFoundError when it is gone."""
    row = conn.execute(
        select(document_versions, documents.c.workspace, documents.c.track, documents.c.path)
        .join(documents, documents.c.id == document_versions.c.document_id)
        .where(document_versions.c.id == version_id)
    ).one_or_none()
    if row is None:
        raise NotFoundError("The staged version of this file is gone: ingest it again.")
    return Version(
        id=row.id,
        document_id=row.document_id,
        index_set_id=row.index_set_id,
        workspace=row.workspace,
        document=Document(
            path=row.path,
            track=Track(row.track),
            title=row.title,
            text=row.text,
            summary=row.summary,
            triggers=tuple(row.triggers),
            metadata=row.metadata,
            language=row.language,
            parser=row.parser,
            lost=tuple(row.lost),
            warnings=tuple(row.warnings),
        ),
    )


def discard(conn: Connection, version_id: int | None) -> None:
    """Remove a version that was staged and never published, and all that hangs on it."""
    conn.execute(
        delete(document_versions).where(
            document_versions.c.id == version_id, ~document_versions.c.live
        )
    )


def stage_chunks(
    conn: Connection, version_id: int, pieces: Sequence[Chunk], terms: Sequence[Terms]
) -> None:
    """Store the chunks of a staged version, in place of those of an earlier try."""
    conn.execute(delete(chunks).where(chunks.c.version_id == version_id))
    conn.execute(
        insert(chunks),
        [
            {
                "version_id": version_id,
                "ordinal": piece.ordinal,
                "heading": piece.heading,
                "text": piece.text,
                "search_text": piece.search_text,
                "sentences": list(piece.sentences),
                "language": piece.language,
                "token_count": piece.token_count,
                "term_count": keywords.length,
                "content_hash": piece.content_hash,
            }
            for piece, keywords in zip(pieces, terms, strict=True)
        ],
    )


def load_chunks(
    conn: Connection, version_id: int, *, without_vectors: bool = False, limit: int | None = None
) -> dict[int, Chunk]:
    """The chunks of a version by id, in order; only those still to embed if asked."""
    query = (
        select(chunks)
        .where(chunks.c.version_id == version_id)
        .order_by(chunks.c.ordinal)
        .limit(limit)
    )
    if without_vectors:
        query = query.where(
            ~select(embeddings.c.chunk_id).where(embeddings.c.chunk_id == chunks.c.id).exists()
        )
    return {
        row.id: Chunk(
            ordinal=row.ordinal,
            heading=row.heading,
            text=row.text,
            search_text=row.search_text,
            sentences=tuple(row.sentences),
            language=row.language,
            token_count=row.token_count,
            content_hash=row.content_hash,
        )
        for row in conn.execute(query)
    }


def vectors_of(conn: Connection, index_set_id: int, texts: Sequence[str]) -> dict[str, Vectors]:
    """The vectors that are already there for ``texts``, of whatever document they were made."""
    by_hash = {text_hash(one): one for one in texts}
    of_chunks = select(embeddings.c.text_hash, embeddings.c.embedding).where(
        embeddings.c.index_set_id == index_set_id, embeddings.c.text_hash.in_(by_hash)
    )
    of_sentences = (
        select(sentence_embeddings.c.text_hash, sentence_embeddings.c.embedding)
        .join(embeddings, embeddings.c.chunk_id == sentence_embeddings.c.chunk_id)
        .where(
            embeddings.c.index_set_id == index_set_id,
            sentence_embeddings.c.text_hash.in_(by_hash),
        )
    )
    found = (row for query in (of_sentences, of_chunks) for row in conn.execute(query))
    return {by_hash[row.text_hash]: np.asarray(row.embedding, np.float32) for row in found}


@contextmanager
def alone_with(index_set_id: int, texts: Sequence[str]) -> Iterator[None]:
    """Wait until no other worker embeds any of ``texts``, and let none begin meanwhile.

    Advisory locks on a connection of their own, taken in one order by all: they end with it, also
    when this worker is killed.
    """
    if not texts:
        yield
        return
    keys = sorted(
        int.from_bytes(text_hash(f"{index_set_id} {one}")[:8], "big", signed=True) for one in texts
    )
    with single() as conn:
        conn.execute(
            text("SELECT pg_advisory_lock(key) FROM unnest(CAST(:keys AS bigint[])) AS key"),
            {"keys": keys},
        )
        try:
            yield
        finally:
            conn.execute(text("SELECT pg_advisory_unlock_all()"))


def stage_vectors(conn: Connection, staged: Version, vectors: Sequence[StagedVectors]) -> None:
    """Store vectors of a staged version; those that a second try brings again are kept once."""
    if not vectors:
        return
    conn.execute(
        upsert(embeddings).on_conflict_do_nothing(),
        [
            {
                "chunk_id": item.chunk_id,
                "index_set_id": staged.index_set_id,
                "workspace": staged.workspace,
                "track": staged.document.track,
                "content_hash": item.chunk.content_hash,
                "text_hash": text_hash(item.chunk.search_text),
                "sample_key": _sample_key(item.chunk.content_hash),
                "embedding": item.vector,
            }
            for item in vectors
        ],
    )
    sentences = [
        {
            "chunk_id": item.chunk_id,
            "ordinal": ordinal,
            "text_hash": text_hash(sentence),
            "embedding": row,
        }
        for item in vectors
        for ordinal, (sentence, row) in enumerate(
            zip(item.chunk.sentences, item.sentences, strict=True)
        )
    ]
    if sentences:
        conn.execute(upsert(sentence_embeddings).on_conflict_do_nothing(), sentences)


def _sample_key(content_hash: str) -> int:
    """A number spread evenly by a hash. The rows with the lowest ones are a random sample that

    stays the same while others come and go (bottom-k sampling), and one index range reads it.
    """
    digest = hashlib.blake2b(content_hash.encode(), digest_size=8, person=b"sample").digest()
    return int.from_bytes(digest, "big", signed=True)


def catalogue(conn: Connection, workspace: str, index_set_id: int) -> list[CatalogueEntry]:
    """Title and one-line summary of every live project, by title."""
    rows = conn.execute(
        select(document_versions.c.title, document_versions.c.summary)
        .join(documents, documents.c.id == document_versions.c.document_id)
        .where(
            documents.c.workspace == workspace,
            documents.c.track == Track.PROJECT,
            document_versions.c.index_set_id == index_set_id,
            document_versions.c.live,
        )
        .order_by(document_versions.c.title)
    )
    return [CatalogueEntry(row.title, row.summary) for row in rows]
