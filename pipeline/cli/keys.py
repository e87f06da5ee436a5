"""``lastro keys``: who may call the API of this workspace."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from pipeline.cli.output import AsJson, print_json, print_table
from pipeline.errors import NotFoundError

app = typer.Typer(help="Make, list and revoke API keys of this workspace.", no_args_is_help=True)


class Scope(StrEnum):
    """What a key may do."""

    CHAT = "chat"
    SEARCH = "search"
    INGEST = "ingest"
    REPORTS = "reports"


Name = Annotated[str, typer.Argument(help="What the key is for.", metavar="NAME")]


@app.command("create")
def create(
    name: Name,
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="What it may do; repeat for more.", show_default="chat and search"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it; it can't be shown again."""
    from pipeline.cli.records import connected
    from pipeline.db import keys
    from pipeline.db.engine import transaction

    scopes = sorted(scope or [Scope.CHAT, Scope.SEARCH])
    with connected() as settings, transaction() as conn:
        key = keys.create(conn, workspace=settings.workspace, name=name, scopes=scopes)
    if as_json:
        print_json({"name": name, "scopes": scopes, "key": key})
    else:
        typer.echo(key)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """Show the keys, never their text."""
    from pipeline.cli.records import connected
    from pipeline.db import keys
    from pipeline.db.engine import transaction

    with connected() as settings, transaction() as conn:
        found: list[dict[str, Any]] = [
            {
                "name": row["name"],
                "scopes": row["scopes"],
                "created_at": row["created_at"].isoformat(),
                "revoked_at": row["revoked_at"].isoformat() if row["revoked_at"] else None,
            }
            for row in keys.list_all(conn, settings.workspace)
        ]
    if as_json:
        print_json({"keys": found})
    else:
        print_table(
            ("name", "scopes", "made", "revoked"),
            [
                (key["name"], " ".join(key["scopes"]), key["created_at"], key["revoked_at"] or "")
                for key in found
            ],
        )


@app.command("revoke")
def revoke(name: Name) -> None:
    """End a key: the next request with it is refused."""
    from pipeline.cli.records import connected
    from pipeline.db import keys
    from pipeline.db.engine import transaction

    with connected() as settings, transaction() as conn:
        if not keys.revoke(conn, settings.workspace, name):
            raise NotFoundError(f"Workspace {settings.workspace!r} has no live key {name!r}.")
    typer.echo(f"Revoked {name}.")
