"""A run may remove what it finds missing without asking, and may be another one's second try."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "ingest_runs",
        sa.Column("allow_removals", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        schema="rag",
    )
    op.add_column("ingest_runs", sa.Column("retry_of", sa.UUID()), schema="rag")


def downgrade() -> None:
    op.drop_column("ingest_runs", "retry_of", schema="rag")
    op.drop_column("ingest_runs", "allow_removals", schema="rag")
