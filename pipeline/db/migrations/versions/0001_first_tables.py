"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import VECTOR
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "api_keys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_hash", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_api_keys_key_hash")),
        schema="rag",
    )
    op.create_table(
        "assistants",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column(
            "assistant",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("workspace", name=op.f("pk_assistants")),
        schema="rag",
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "track IN ('skill', 'document', 'project')", name=op.f("ck_documents_track")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("workspace", "path", name=op.f("uq_documents_workspace_path")),
        schema="rag",
    )
    op.create_table(
        "index_sets",
        sa.Column("id", sa.Integer(), sa.Identity(always=False), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("query_prefix", sa.Text(), nullable=False),
        sa.Column("passage_prefix", sa.Text(), nullable=False),
        sa.Column(
            "chunking",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('building', 'live', 'retired')", name=op.f("ck_index_sets_state")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_sets")),
        schema="rag",
    )
    op.create_index(
        "uq_index_sets_live",
        "index_sets",
        ["state"],
        unique=True,
        schema="rag",
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_table(
        "ingest_runs",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=True),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), server_default="", nullable=False),
        sa.Column("force", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("token", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sends", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "state",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "timings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("unchanged", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "skipped",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ingest_runs")),
        schema="rag",
    )
    op.create_index(
        "ix_ingest_runs_unfinished",
        "ingest_runs",
        ["status", "sent_at"],
        unique=False,
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        op.f("ix_ingest_runs_workspace_created_at"),
        "ingest_runs",
        ["workspace", "created_at"],
        unique=False,
        schema="rag",
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("number", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), server_default="chat", nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("token", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sends", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "state",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "timings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('chat', 'search')", name=op.f("ck_jobs_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("number", name=op.f("uq_jobs_number")),
        schema="rag",
    )
    op.create_index("ix_jobs_expires_at", "jobs", ["expires_at"], unique=False, schema="rag")
    op.create_index(
        "ix_jobs_unfinished",
        "jobs",
        ["status", "sent_at"],
        unique=False,
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        op.f("ix_jobs_workspace_session_id"),
        "jobs",
        ["workspace", "session_id"],
        unique=False,
        schema="rag",
    )
    op.create_table(
        "sessions",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "last_seen_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("workspace", "id", name=op.f("pk_sessions")),
        schema="rag",
    )
    op.create_index(
        op.f("ix_sessions_last_seen_at"), "sessions", ["last_seen_at"], unique=False, schema="rag"
    )
    op.create_table(
        "trail",
        sa.Column("job_id", sa.UUID(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("question_hash", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column(
            "candidates",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "sources",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "timings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "models",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "degraded",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_trail")),
        schema="rag",
    )
    op.create_index(
        op.f("ix_trail_created_at"), "trail", ["created_at"], unique=False, schema="rag"
    )
    op.create_index(
        op.f("ix_trail_workspace_created_at"),
        "trail",
        ["workspace", "created_at"],
        unique=False,
        schema="rag",
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
        schema="rag",
    )
    op.create_table(
        "document_versions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=False),
        sa.Column("index_set_id", sa.Integer(), nullable=False),
        sa.Column("live", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), server_default="", nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("triggers", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column(
            "metadata",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.Column("parser", sa.Text(), nullable=False),
        sa.Column(
            "warnings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["rag.documents.id"],
            name=op.f("fk_document_versions_document_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["index_set_id"],
            ["rag.index_sets.id"],
            name=op.f("fk_document_versions_index_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_versions")),
        schema="rag",
    )
    op.create_index(
        op.f("ix_document_versions_index_set_id"),
        "document_versions",
        ["index_set_id"],
        unique=False,
        schema="rag",
    )
    op.create_index(
        "uq_document_versions_live",
        "document_versions",
        ["document_id", "index_set_id"],
        unique=True,
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.UUID(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["rag.jobs.id"], name=op.f("fk_messages_job_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "session_id"],
            ["rag.sessions.workspace", "rag.sessions.id"],
            name=op.f("fk_messages_workspace_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("job_id", "role", name=op.f("uq_messages_job_id_role")),
        schema="rag",
    )
    op.create_index(
        op.f("ix_messages_workspace_session_id_id"),
        "messages",
        ["workspace", "session_id", "id"],
        unique=False,
        schema="rag",
    )
    op.create_table(
        "track_statistics",
        sa.Column("index_set_id", sa.Integer(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("terms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["index_set_id"],
            ["rag.index_sets.id"],
            name=op.f("fk_track_statistics_index_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "index_set_id", "workspace", "track", name=op.f("pk_track_statistics")
        ),
        schema="rag",
    )
    op.create_table(
        "chunks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("sentences", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("term_count", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["rag.document_versions.id"],
            name=op.f("fk_chunks_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("version_id", "ordinal", name=op.f("uq_chunks_version_id_ordinal")),
        schema="rag",
    )
    op.create_table(
        "ingest_items",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("run_id", sa.UUID(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), server_default="queued", nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("token", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sends", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "state",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "timings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "action IN ('add', 'change', 'remove')", name=op.f("ck_ingest_items_action")
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["rag.ingest_runs.id"],
            name=op.f("fk_ingest_items_run_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["rag.document_versions.id"],
            name=op.f("fk_ingest_items_version_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ingest_items")),
        sa.UniqueConstraint("run_id", "path", name=op.f("uq_ingest_items_run_id_path")),
        schema="rag",
    )
    op.create_index(
        "ix_ingest_items_unfinished",
        "ingest_items",
        ["status", "sent_at"],
        unique=False,
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index(
        op.f("ix_ingest_items_version_id"),
        "ingest_items",
        ["version_id"],
        unique=False,
        schema="rag",
    )
    op.create_table(
        "embeddings",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("index_set_id", sa.Integer(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("sample_key", sa.BigInteger(), nullable=False),
        sa.Column("embedding", VECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["rag.chunks.id"], name=op.f("fk_embeddings_chunk_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["index_set_id"],
            ["rag.index_sets.id"],
            name=op.f("fk_embeddings_index_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chunk_id", name=op.f("pk_embeddings")),
        schema="rag",
    )
    op.create_index(
        op.f("ix_embeddings_index_set_id_content_hash"),
        "embeddings",
        ["index_set_id", "content_hash"],
        unique=False,
        schema="rag",
    )
    op.create_index(
        "ix_embeddings_sample",
        "embeddings",
        ["index_set_id", "workspace", "sample_key"],
        unique=False,
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.create_index(
        "ix_embeddings_scope",
        "embeddings",
        ["index_set_id", "workspace", "track"],
        unique=False,
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.create_table(
        "postings",
        sa.Column("index_set_id", sa.Integer(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("frequency", sa.SmallInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["rag.chunks.id"], name=op.f("fk_postings_chunk_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["index_set_id"],
            ["rag.index_sets.id"],
            name=op.f("fk_postings_index_set_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "index_set_id", "workspace", "track", "term", "chunk_id", name=op.f("pk_postings")
        ),
        schema="rag",
    )
    op.create_index(
        op.f("ix_postings_chunk_id"), "postings", ["chunk_id"], unique=False, schema="rag"
    )
    op.create_table(
        "sentence_embeddings",
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.SmallInteger(), nullable=False),
        sa.Column("embedding", VECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"],
            ["rag.embeddings.chunk_id"],
            name=op.f("fk_sentence_embeddings_chunk_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chunk_id", "ordinal", name=op.f("pk_sentence_embeddings")),
        schema="rag",
    )


def downgrade() -> None:
    op.drop_table("sentence_embeddings", schema="rag")
    op.drop_index(op.f("ix_postings_chunk_id"), table_name="postings", schema="rag")
    op.drop_table("postings", schema="rag")
    op.drop_index(
        "ix_embeddings_scope",
        table_name="embeddings",
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.drop_index(
        "ix_embeddings_sample",
        table_name="embeddings",
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.drop_index(
        op.f("ix_embeddings_index_set_id_content_hash"), table_name="embeddings", schema="rag"
    )
    op.drop_table("embeddings", schema="rag")
    op.drop_index(op.f("ix_ingest_items_version_id"), table_name="ingest_items", schema="rag")
    op.drop_index(
        "ix_ingest_items_unfinished",
        table_name="ingest_items",
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.drop_table("ingest_items", schema="rag")
    op.drop_table("chunks", schema="rag")
    op.drop_table("track_statistics", schema="rag")
    op.drop_index(op.f("ix_messages_workspace_session_id_id"), table_name="messages", schema="rag")
    op.drop_table("messages", schema="rag")
    op.drop_index(
        "uq_document_versions_live",
        table_name="document_versions",
        schema="rag",
        postgresql_where=sa.text("live"),
    )
    op.drop_index(
        op.f("ix_document_versions_index_set_id"), table_name="document_versions", schema="rag"
    )
    op.drop_table("document_versions", schema="rag")
    op.drop_table("workers", schema="rag")
    op.drop_index(op.f("ix_trail_workspace_created_at"), table_name="trail", schema="rag")
    op.drop_index(op.f("ix_trail_created_at"), table_name="trail", schema="rag")
    op.drop_table("trail", schema="rag")
    op.drop_index(op.f("ix_sessions_last_seen_at"), table_name="sessions", schema="rag")
    op.drop_table("sessions", schema="rag")
    op.drop_index(op.f("ix_jobs_workspace_session_id"), table_name="jobs", schema="rag")
    op.drop_index(
        "ix_jobs_unfinished",
        table_name="jobs",
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.drop_index("ix_jobs_expires_at", table_name="jobs", schema="rag")
    op.drop_table("jobs", schema="rag")
    op.drop_index(
        op.f("ix_ingest_runs_workspace_created_at"), table_name="ingest_runs", schema="rag"
    )
    op.drop_index(
        "ix_ingest_runs_unfinished",
        table_name="ingest_runs",
        schema="rag",
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.drop_table("ingest_runs", schema="rag")
    op.drop_index(
        "uq_index_sets_live",
        table_name="index_sets",
        schema="rag",
        postgresql_where=sa.text("state = 'live'"),
    )
    op.drop_table("index_sets", schema="rag")
    op.drop_table("documents", schema="rag")
    op.drop_table("assistants", schema="rag")
    op.drop_table("api_keys", schema="rag")
