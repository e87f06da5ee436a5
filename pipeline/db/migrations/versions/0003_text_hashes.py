"""Vectors are found by the text that they were made of, so that none is made twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _fill("embeddings", "c.search_text")
    op.drop_index(op.f("ix_embeddings_index_set_id_content_hash"), "embeddings", schema="rag")
    op.create_index(
        op.f("ix_embeddings_index_set_id_text_hash"),
        "embeddings",
        ["index_set_id", "text_hash"],
        schema="rag",
    )
    _fill("sentence_embeddings", "c.sentences[v.ordinal + 1]")
    op.create_index(
        op.f("ix_sentence_embeddings_text_hash"), "sentence_embeddings", ["text_hash"], schema="rag"
    )


def downgrade() -> None:
    op.drop_column("sentence_embeddings", "text_hash", schema="rag")
    op.drop_column("embeddings", "text_hash", schema="rag")
    op.create_index(
        op.f("ix_embeddings_index_set_id_content_hash"),
        "embeddings",
        ["index_set_id", "content_hash"],
        schema="rag",
    )


def _fill(table: str, text: str) -> None:
    op.add_column(table, sa.Column("text_hash", sa.LargeBinary()), schema="rag")
    op.execute(
        f"UPDATE rag.{table} v SET text_hash = substring(sha256(convert_to({text}, 'UTF8')), 1, 16)"
        " FROM rag.chunks c WHERE c.id = v.chunk_id"
    )
    op.alter_column(table, "text_hash", nullable=False, schema="rag")
