"""``lastro index``: another embedder or chunking, built beside the live index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.output import AsJson, print_json, print_table
from pipeline.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pipeline.db.index_sets import IndexSet

app = typer.Typer(
    help="Change the embedder or the chunks: build an index beside the live one and switch.",
    no_args_is_help=True,
)

OneSet = Annotated[
    int | None,
    typer.Argument(help="Index set.", metavar="ID", show_default="the newest that is building"),
]
Force = Annotated[bool, typer.Option("--force", help="Even so.")]


@app.command("list")
def list_sets(as_json: AsJson = False) -> None:
    """Show every index set, its embedder, and how much of the content it holds."""
    from pipeline.cli.records import connected
    from pipeline.db.engine import transaction

    with connected(), transaction() as conn:
        found = _shown(conn)
    if as_json:
        print_json({"index_sets": found})
        return
    print_table(
        ("id", "state", "embedder", "dimension", "chunks", "documents", "to build"),
        [
            (
                one["id"],
                one["state"],
                one["model"] + (f"@{one['revision']}" if one["revision"] else ""),
                one["dimension"],
                "{tokens}/{overlap}".format(**one["chunking"]),
                one["documents"],
                one["to_build"],
            )
            for one in found
        ],
    )


@app.command("create")
def create(as_json: AsJson = False) -> None:
    """Make an empty index set for the embedder and the chunks that the settings name."""
    from pipeline.cli.records import connected
    from pipeline.db import index_sets
    from pipeline.db.engine import transaction
    from pipeline.worker import models

    with connected():
        recipe = models.recipe()
        with transaction() as conn:
            index_sets.lock(conn)
            for one in index_sets.all_sets(conn):
                if one.recipe.makes_the_same_as(recipe):
                    raise ConflictError(
                        f"Index set {one.id} ({one.state}) is made that way already: set "
                        "LASTRO_EMBEDDER or LASTRO_CHUNK_TOKENS to what the new one shall have."
                    )
            made = index_sets.create(conn, recipe)
            [shown] = [entry for entry in _shown(conn) if entry["id"] == made.id]
    if as_json:
        print_json(shown)
    else:
        typer.echo(f"Index set {made.id} for {made.identity}. Next: lastro index build {made.id}")


@app.command("build")
def build(index_set: OneSet = None, as_json: AsJson = False) -> None:
    """Fill an index set from the live one; a second time brings it up to date.

    The ingest workers do it; questions go on. What was built before a stop is kept.
    """
    from pipeline.cli.content import finished, follow, shape, start
    from pipeline.cli.records import connected
    from pipeline.db import builds, index_sets
    from pipeline.db.engine import transaction

    views = []
    with connected() as settings:
        with transaction() as conn:
            chosen = _chosen(conn, index_set)
            live = index_sets.live(conn)
            if chosen.id == live.id:
                raise ConflictError(f"Index set {chosen.id} is the live one: `lastro ingest`.")
            missing = builds.differences(conn, live.id, chosen.id)
        for workspace in sorted({one.workspace for one in missing}):
            own = settings.model_copy(update={"workspace": workspace})
            views.append(
                follow(own, start(workspace, root="", index_set_id=chosen.id), quiet=as_json)
            )
        with transaction() as conn:
            [shown] = [entry for entry in _shown(conn) if entry["id"] == chosen.id]
    if as_json:
        print_json({"index_set": shown, "runs": [shape(view) for view in views]})
    else:
        for view in views:
            for failure in view.failures:
                typer.echo(f"failed   {failure['path']}: {failure['reason']} ({failure['code']})")
        typer.echo(
            f"Index set {chosen.id}: {shown['documents']} documents, {shown['to_build']} to build."
        )
    if not all(map(finished, views)):
        raise typer.Exit(1)


@app.command("activate")
def activate(index_set: OneSet = None, force: Force = False) -> None:
    """Let questions use the index set from the next one on. The old one is kept, to go back to."""
    from pipeline.cli.records import connected
    from pipeline.db import builds, index_sets, runs
    from pipeline.db.engine import transaction

    with connected(), transaction() as conn:
        index_sets.lock(conn)
        chosen = _chosen(conn, index_set)
        live = index_sets.live(conn)
        missing = builds.differences(conn, live.id, chosen.id)
        if missing and not force:
            raise ConflictError(
                f"Index set {chosen.id} is not up to date: {len(missing)} documents differ, like "
                f"{missing[0].path}. Run `lastro index build {chosen.id}`, or --force."
            )
        if runs.unfinished(conn) and not force:
            raise ConflictError("An ingest run is going on: wait for its end, or --force.")
        if chosen.id != live.id:
            index_sets.activate(conn, chosen.id)
    typer.echo(f"Index set {chosen.id} is live: {chosen.identity}.")


@app.command("drop")
def drop(
    index_set: Annotated[int, typer.Argument(help="Index set.", metavar="ID")],
) -> None:
    """Remove an index set and its vectors."""
    from pipeline.cli.records import connected
    from pipeline.db import index_sets
    from pipeline.db.engine import transaction
    from pipeline.worker import models

    with connected(), transaction() as conn:
        index_sets.lock(conn)
        chosen = index_sets.get(conn, index_set)
        live = index_sets.live(conn)
        if chosen.id == live.id:
            raise ConflictError(f"Index set {chosen.id} is the live one: activate another first.")
        same = [one.id for one in index_sets.all_sets(conn) if one.identity == chosen.identity]
        if chosen.identity == models.identity() and same == [chosen.id]:
            raise ConflictError(
                f"The settings still name {chosen.identity}: workers that start with them would "
                f"find no index of theirs. Set the embedder of index set {live.id} first."
            )
        index_sets.drop(conn, chosen.id)
    typer.echo(f"Dropped index set {chosen.id}.")


def _chosen(conn: Connection, set_id: int | None) -> IndexSet:
    from pipeline.db import index_sets

    if set_id is not None:
        return index_sets.get(conn, set_id)
    building = [one for one in index_sets.all_sets(conn) if one.state == "building"]
    if not building:
        raise NotFoundError("No index set is being built: `lastro index create` makes one.")
    return building[-1]


def _shown(conn: Connection) -> list[dict[str, Any]]:
    from pipeline.db import builds, index_sets

    sets = index_sets.all_sets(conn)
    held = builds.counts(conn)
    live = [one.id for one in sets if one.state == "live"]
    return [
        {
            "id": one.id,
            "state": one.state,
            "model": one.identity.model,
            "revision": one.identity.revision,
            "dimension": one.identity.dimension,
            "chunking": dict(one.recipe.chunking),
            "documents": held.get(one.id, 0),
            "to_build": len(builds.differences(conn, live[0], one.id)) if live else 0,
        }
        for one in sets
    ]
