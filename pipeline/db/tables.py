"""The tables of the record. Migrations are made from these; nothing else defines the schema.

Schema ``rag``. Times are ``timestamptz``. A row that a worker runs (a job, an ingest run, a file of
a run) carries the ledger's columns, see ``ledger.py``.
"""

from __future__ import annotations

from typing import Any

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

SCHEMA = "rag"

metadata = MetaData(
    schema=SCHEMA,
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    },
)


def _time(name: str, *, now: bool = False) -> Column[Any]:
    return Column(
        name,
        DateTime(timezone=True),
        nullable=not now,
        server_default=func.now() if now else None,
    )


def _json(name: str, default: str = "{}") -> Column[Any]:
    return Column(name, JSONB, nullable=False, server_default=text(f"'{default}'::jsonb"))


def _ledger() -> list[Column[Any]]:
    """The columns that make a row a unit of work. Their meaning is told in ``ledger.py``."""
    return [
        Column("status", Text, nullable=False, server_default="queued"),
        Column("stage", Text, nullable=False),  # the stage that runs next, or runs now
        Column("attempts", SmallInteger, nullable=False, server_default="0"),  # of this stage
        Column("token", Integer, nullable=False, server_default="0"),  # fencing token
        _time("lease_until"),  # set while a worker runs the stage
        Column("lease_owner", Text),
        _time("not_before"),  # a pause before the next try
        Column("sends", Integer, nullable=False, server_default="0"),  # messages sent, all stages
        _time("sent_at"),
        _json("state"),  # what the stages hand on
        _json("timings"),  # milliseconds per stage
        Column("error_code", Text),
        Column("error", Text),
        _time("created_at", now=True),
        _time("started_at"),
        _time("finished_at"),
    ]


def _unfinished(table: str) -> Index:
    """What the sweep reads: rows that still have work to do."""
    return Index(
        f"ix_{table}_unfinished",
        "status",
        "sent_at",
        postgresql_where=text("status IN ('queued', 'running')"),
    )


api_keys = Table(
    "api_keys",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("key_hash", Text, nullable=False, unique=True),  # SHA-256, hex
    Column("scopes", ARRAY(Text), nullable=False),
    _time("created_at", now=True),
    _time("last_used_at"),
    _time("revoked_at"),
)

index_sets = Table(
    "index_sets",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("state", Text, nullable=False),  # building, live or retired
    Column("model", Text, nullable=False),
    Column("revision", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("query_prefix", Text, nullable=False),
    Column("passage_prefix", Text, nullable=False),
    _json("chunking"),  # {"tokens", "overlap"}
    _json("embedder"),  # the settings that workers build its embedder by
    _time("created_at", now=True),
    _time("activated_at"),
    CheckConstraint("state IN ('building', 'live', 'retired')", name="state"),
    Index("uq_index_sets_live", "state", unique=True, postgresql_where=text("state = 'live'")),
)

documents = Table(
    "documents",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("track", Text, nullable=False),
    Column("path", Text, nullable=False),  # inside the content folder, with forward slashes
    _time("created_at", now=True),
    UniqueConstraint("workspace", "path"),
    CheckConstraint("track IN ('skill', 'document', 'project')", name="track"),
)

assistants = Table(
    "assistants",
    metadata,
    Column("workspace", Text, primary_key=True),
    _json("assistant"),
    _time("updated_at", now=True),
)
"""``assistant.yaml`` as last ingested, so that answering needs no content folder."""

document_versions = Table(
    "document_versions",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("document_id", ForeignKey(documents.c.id, ondelete="CASCADE"), nullable=False),
    Column("index_set_id", ForeignKey(index_sets.c.id, ondelete="CASCADE"), nullable=False),
    Column("live", Boolean, nullable=False, server_default="false"),
    Column("content_hash", Text, nullable=False),  # SHA-256 of the file's bytes
    Column("title", Text, nullable=False),
    Column("summary", Text, nullable=False, server_default=""),
    Column("text", Text, nullable=False),
    Column("triggers", ARRAY(Text), nullable=False, server_default="{}"),
    _json("metadata"),
    Column("language", Text, nullable=False, server_default=""),
    Column("parser", Text, nullable=False),
    _json("lost", "[]"),  # parts of the file that are not in the text
    _json("warnings", "[]"),
    _time("created_at", now=True),
    Index(
        "uq_document_versions_live",
        "document_id",
        "index_set_id",
        unique=True,
        postgresql_where=text("live"),
    ),
    Index(None, "index_set_id"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("version_id", ForeignKey(document_versions.c.id, ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("search_text", Text, nullable=False),
    Column("sentences", ARRAY(Text), nullable=False, server_default="{}"),
    Column("language", Text, nullable=False),
    Column("token_count", Integer, nullable=False),  # by the embedder
    Column("term_count", Integer, nullable=False),  # by the keyword index
    Column("content_hash", Text, nullable=False),
    UniqueConstraint("version_id", "ordinal"),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("chunk_id", ForeignKey(chunks.c.id, ondelete="CASCADE"), primary_key=True),
    Column("index_set_id", ForeignKey(index_sets.c.id, ondelete="CASCADE"), nullable=False),
    Column("workspace", Text, nullable=False),
    Column("track", Text, nullable=False),
    Column("live", Boolean, nullable=False, server_default="false"),
    Column("content_hash", Text, nullable=False),  # of the chunk that the vector was made from
    Column("text_hash", LargeBinary, nullable=False),  # of the very text that was embedded
    Column("sample_key", BigInteger, nullable=False),  # a hash: the lowest ones are the sample
    Column("embedding", VECTOR, nullable=False),
    Index(
        "ix_embeddings_scope",
        "index_set_id",
        "workspace",
        "track",
        postgresql_where=text("live"),
    ),
    Index(
        "ix_embeddings_sample",
        "index_set_id",
        "workspace",
        "sample_key",
        postgresql_where=text("live"),
    ),
    Index(None, "index_set_id", "text_hash"),
)
"""One HNSW index per index set is made when the set is made, see ``index_sets.py``."""

sentence_embeddings = Table(
    "sentence_embeddings",
    metadata,
    Column("chunk_id", ForeignKey(embeddings.c.chunk_id, ondelete="CASCADE"), primary_key=True),
    Column("ordinal", SmallInteger, primary_key=True),
    Column("text_hash", LargeBinary, nullable=False),
    Column("embedding", VECTOR, nullable=False),
    Index(None, "text_hash"),
)

postings = Table(
    "postings",
    metadata,
    Column("index_set_id", ForeignKey(index_sets.c.id, ondelete="CASCADE"), primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("track", Text, primary_key=True),
    Column("term", Text, primary_key=True),
    Column("chunk_id", ForeignKey(chunks.c.id, ondelete="CASCADE"), primary_key=True),
    Column("frequency", SmallInteger, nullable=False),  # of the term in the chunk
    Column("length", Integer, nullable=False),  # terms in the chunk
    Index(None, "chunk_id"),
)
"""The keyword index: live chunks only, written by ``publish``."""

track_statistics = Table(
    "track_statistics",
    metadata,
    Column("index_set_id", ForeignKey(index_sets.c.id, ondelete="CASCADE"), primary_key=True),
    Column("workspace", Text, primary_key=True),
    Column("track", Text, primary_key=True),
    Column("chunks", BigInteger, nullable=False, server_default="0"),
    Column("terms", BigInteger, nullable=False, server_default="0"),
    Column("version", BigInteger, nullable=False, server_default="0"),  # raised by each publish
)

sessions = Table(
    "sessions",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("language", Text),
    _time("created_at", now=True),
    _time("last_seen_at", now=True),
    Index(None, "last_seen_at"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", UUID(as_uuid=True), primary_key=True),
    Column("number", BigInteger, Identity(), nullable=False, unique=True),  # order of arrival
    Column("workspace", Text, nullable=False),
    Column("session_id", Text),  # absent for a search
    Column("kind", Text, nullable=False, server_default="chat"),  # chat, or search: no generation
    Column("question", Text),  # removed when the job expires
    *_ledger(),
    Column("answer", JSONB),
    _time("expires_at"),
    _unfinished("jobs"),
    Index("ix_jobs_expires_at", "expires_at"),
    Index(None, "workspace", "session_id"),
    CheckConstraint("kind IN ('chat', 'search')", name="kind"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("job_id", ForeignKey(jobs.c.id, ondelete="CASCADE"), nullable=False),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False),
    _time("created_at", now=True),
    ForeignKeyConstraint(
        ["workspace", "session_id"], [sessions.c.workspace, sessions.c.id], ondelete="CASCADE"
    ),
    UniqueConstraint("job_id", "role"),
    Index(None, "workspace", "session_id", "id"),
)

trail = Table(
    "trail",
    metadata,
    Column("job_id", UUID(as_uuid=True), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("session_id", Text),
    Column("question", Text),  # absent when the setting keeps only the hash
    Column("question_hash", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("outcome", Text, nullable=False),  # grounded, refused, clarified or failed
    _json("candidates", "[]"),
    _json("sources", "[]"),
    _json("timings"),
    _json("models"),
    _json("degraded", "[]"),
    Column("error_code", Text),
    _time("created_at", now=True),
    Index(None, "workspace", "created_at"),
    Index(None, "created_at"),
)

ingest_runs = Table(
    "ingest_runs",
    metadata,
    Column("id", UUID(as_uuid=True), primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("track", Text),  # one track only
    Column("root", Text, nullable=False),  # the content folder as the workers see it
    Column("prefix", Text, nullable=False, server_default=""),  # one folder or file of it
    Column("force", Boolean, nullable=False, server_default="false"),  # unchanged files too
    # However many documents it removes.
    Column("allow_removals", Boolean, nullable=False, server_default="false"),
    Column("retry_of", UUID(as_uuid=True)),  # only the files that failed in that run
    # The index set that a build fills from the live one; absent when the folder is ingested.
    Column("index_set_id", ForeignKey(index_sets.c.id, ondelete="CASCADE")),
    *_ledger(),
    Column("unchanged", Integer, nullable=False, server_default="0"),
    _json("skipped", "[]"),  # [{"path", "reason"}]
    _unfinished("ingest_runs"),
    Index(None, "workspace", "created_at"),
)

ingest_items = Table(
    "ingest_items",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("run_id", ForeignKey(ingest_runs.c.id, ondelete="CASCADE"), nullable=False),
    Column("workspace", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("track", Text, nullable=False),
    Column("action", Text, nullable=False),  # add, change or remove
    Column(
        "version_id", ForeignKey(document_versions.c.id, ondelete="SET NULL")
    ),  # the staged version
    *_ledger(),
    _json("warnings", "[]"),  # what was odd about the file, though it was ingested
    UniqueConstraint("run_id", "path"),
    CheckConstraint("action IN ('add', 'change', 'remove')", name="action"),
    Index(None, "version_id"),
    _unfinished("ingest_items"),
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("content_hash", Text, nullable=False),  # SHA-256 of the file's bytes
    Column("reason", Text, nullable=False),
    _time("created_at", now=True),
)
"""Files that took their parser down: not tried again until their bytes change."""

workers = Table(
    "workers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("queue", Text, nullable=False),
    _time("started_at", now=True),
    _time("seen_at", now=True),
)
"""Who is alive. A worker that is busy answers no ping, so each one signs here from a thread."""
