"""What was lost of a document, what was odd about a file, and files in quarantine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("document_versions", _list("lost"), schema="rag")
    op.add_column("ingest_items", _list("warnings"), schema="rag")
    op.create_table(
        "quarantine",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("workspace", "path", name=op.f("pk_quarantine")),
        schema="rag",
    )


def downgrade() -> None:
    op.drop_table("quarantine", schema="rag")
    op.drop_column("ingest_items", "warnings", schema="rag")
    op.drop_column("document_versions", "lost", schema="rag")


def _list(name: str) -> sa.Column[object]:
    return sa.Column(
        name,
        postgresql.JSONB(astext_type=sa.Text()),
        server_default=sa.text("'[]'::jsonb"),
        nullable=False,
    )
