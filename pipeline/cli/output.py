"""What the commands print: one JSON document, or text for people, on stdout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def print_json(document: Any) -> None:
    """Print ``document``; dates and ids as text."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print ``rows`` under ``headings``, as wide as the terminal; a row a line elsewhere."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 1000
    console.print(table)


def print_sources(sources: Sequence[dict[str, Any]]) -> None:
    """Print what stands behind an answer, best first."""
    print_table(
        ("score", "type", "source", "title", "heading"),
        [
            (
                f"{source['score']:.2f}",
                source["type"],
                source["chunk"],
                source["title"],
                source["heading"],
            )
            for source in sources
        ],
    )
