"""``lastro report``: what the trail says."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.output import AsJson, print_json, print_table


def report(
    days: Annotated[int, typer.Option(min=1, help="How far to look back.", metavar="N")] = 7,
    as_json: AsJson = False,
) -> None:
    """Count how questions ended and which sources they rested on."""
    from dataclasses import asdict

    from pipeline.cli.records import connected
    from pipeline.db.engine import transaction
    from pipeline.reports.summary import summarise

    with connected() as settings, transaction() as conn:
        found = summarise(conn, settings.workspace, days=days)
    if as_json:
        print_json(asdict(found))
        return
    typer.echo(f"{found.questions} questions in {days} days")
    print_table(("outcome", "questions"), list(found.outcomes.items()))
    typer.echo("")
    print_table(
        ("type", "source", "answers"),
        [(one["type"], one["name"], one["answers"]) for one in found.sources],
    )
