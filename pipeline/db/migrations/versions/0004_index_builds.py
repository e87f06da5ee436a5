"""An index set knows its embedder's settings, and a run may fill one beside the live one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "index_sets",
        sa.Column(
            "embedder",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        schema="rag",
    )
    op.add_column("ingest_runs", sa.Column("index_set_id", sa.Integer()), schema="rag")
    op.create_foreign_key(
        op.f("fk_ingest_runs_index_set_id"),
        "ingest_runs",
        "index_sets",
        ["index_set_id"],
        ["id"],
        source_schema="rag",
        referent_schema="rag",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.drop_column("ingest_runs", "index_set_id", schema="rag")
    op.drop_column("index_sets", "embedder", schema="rag")
