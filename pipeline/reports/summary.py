"""The shortest report: how questions ended, and which sources fire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Text, column, func, select, true

from pipeline.db.tables import trail

TOP_SOURCES = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over ``days`` days. ``sources`` has ``type``, ``name`` and ``answers``, most first."""

    workspace: str
    days: int
    questions: int
    outcomes: dict[str, int]
    sources: list[dict[str, Any]]


def summarise(conn: Connection, workspace: str, *, days: int) -> Summary:
    """Count the trail of one workspace. A source counts once per answer."""
    recent = (
        trail.c.workspace == workspace,
        trail.c.created_at > func.now() - timedelta(days=days),
    )
    outcomes = conn.execute(
        select(trail.c.outcome, func.count())
        .where(*recent)
        .group_by(trail.c.outcome)
        .order_by(func.count().desc(), trail.c.outcome)
    )
    by_outcome = {row[0]: row[1] for row in outcomes}
    source = (
        func.jsonb_to_recordset(trail.c.sources)
        .table_valued(column("type", Text), column("name", Text))
        .render_derived(with_types=True)
    )
    answers = func.count(trail.c.job_id.distinct())
    sources = conn.execute(
        select(source.c.type, source.c.name, answers.label("answers"))
        .select_from(trail.join(source, onclause=true()))
        .where(*recent)
        .group_by(source.c.type, source.c.name)
        .order_by(answers.desc(), source.c.type, source.c.name)
        .limit(TOP_SOURCES)
    )
    return Summary(
        workspace=workspace,
        days=days,
        questions=sum(by_outcome.values()),
        outcomes=by_outcome,
        sources=[dict(row) for row in sources.mappings()],
    )
