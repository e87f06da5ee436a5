"""``lastro ingest`` and ``reindex``: operators' commands, straight to database and broker."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pipeline.cli.output import AsJson, print_json
from pipeline.errors import InstanceError, SettingsError

if TYPE_CHECKING:
    from uuid import UUID

    from pipeline.db.runs import RunView
    from pipeline.settings import Settings

POLL_S = 0.2
LINE_EVERY_S = 5.0
PATIENCE_S = 60.0
"""How long a run may wait without any ingest worker alive."""

ContentPath = Annotated[
    Path | None,
    typer.Argument(
        help="A folder or file of the content pack; a folder elsewhere is taken as the pack.",
        show_default="the whole content pack",
    ),
]
OneTrack = Annotated[
    Literal["skill", "document", "project"] | None, typer.Option(help="This kind of content only.")
]


def ingest(path: ContentPath = None, track: OneTrack = None, as_json: AsJson = False) -> None:
    """Bring the index up to date with the content.

    What is new or changed is read, what is gone is removed, what is unchanged is left alone.
    """
    _run(path, track, force=False, as_json=as_json)


def reindex(path: ContentPath = None, track: OneTrack = None, as_json: AsJson = False) -> None:
    """Ingest all of the content again, unchanged files too."""
    _run(path, track, force=True, as_json=as_json)


def _run(path: Path | None, track: str | None, *, force: bool, as_json: bool) -> None:
    from pipeline.cli.records import connected
    from pipeline.settings import settings

    root, prefix = _place(settings(), path)
    with connected() as chosen:
        view = follow(chosen, _start(chosen, root, prefix, track, force=force), quiet=as_json)
    if as_json:
        print_json(shape(view))
    else:
        _tell(view)
    if not finished(view):
        raise typer.Exit(1)


def _place(settings: Settings, path: Path | None) -> tuple[Path, str]:
    """Content folder of the run, and the part of it that is meant."""
    pack = settings.content_dir.expanduser().resolve()
    if path is None:
        if not pack.is_dir():
            raise SettingsError(
                f"There is no folder {pack}: name one, or set LASTRO_CONTENT_DIR to yours."
            )
        return pack, ""
    place = path.expanduser().resolve()
    if place.is_relative_to(pack):  # it may be gone: then its index entries go too
        return pack, "" if place == pack else place.relative_to(pack).as_posix()
    if not place.is_dir():
        raise typer.BadParameter(f"{path} is neither in {pack} nor a folder.")
    return place, ""


def _start(settings: Settings, root: Path, prefix: str, track: str | None, *, force: bool) -> UUID:
    from pipeline import enqueue
    from pipeline.db import runs
    from pipeline.db.engine import transaction
    from pipeline.types import Stage, Track

    with transaction() as conn:
        run_id = runs.start(
            conn,
            workspace=settings.workspace,
            root=str(root),
            prefix=prefix,
            track=Track(track) if track else None,
            force=force,
        )
    enqueue.send(Stage.PLAN, run_id)
    return run_id


def follow(settings: Settings, run_id: UUID, *, quiet: bool) -> RunView:
    """Wait for the end of the run, with a bar on a terminal and lines elsewhere, on stderr."""
    from rich.console import Console
    from rich.progress import Progress

    from pipeline.types import ENDED

    console = Console(stderr=True, quiet=quiet)
    bar = console.is_terminal
    began = line_at = time.monotonic()
    with Progress(console=console, transient=True, disable=not bar) as progress:
        task = progress.add_task("ingest", total=None)
        while True:
            view = _view(settings, run_id)
            if view.status in ENDED:
                return view
            finished, total = view.counts["finished"], view.counts["total"]
            progress.update(task, completed=finished, total=total or None)
            now = time.monotonic()
            if not bar and now - line_at >= LINE_EVERY_S:
                console.print(f"{finished} of {total} files", highlight=False)
                line_at = now
            if view.status == "queued" and now - began > PATIENCE_S:
                _refuse_to_wait_alone(run_id)
            time.sleep(POLL_S)


def _view(settings: Settings, run_id: UUID) -> RunView:
    from pipeline.db import runs
    from pipeline.db.engine import transaction

    with transaction() as conn:
        return runs.view(conn, settings.workspace, run_id)


def finished(view: RunView) -> bool:
    """Whether the run ended with all that it was to do."""
    return view.status == "done"


def _refuse_to_wait_alone(run_id: UUID) -> None:
    from pipeline.db import workers
    from pipeline.db.engine import transaction

    with transaction() as conn:
        if "ingest" not in workers.alive(conn):
            raise InstanceError(
                f"No ingest worker is alive. Run {run_id} stays queued and begins when one starts."
            )


def shape(view: RunView) -> dict[str, Any]:
    """The document of ``GET /ingest/{run_id}``."""
    from api.schemas import IngestRun

    return IngestRun.of(view).model_dump(mode="json")


def _tell(view: RunView) -> None:
    counts = view.counts
    for word, entries in (
        ("skipped", view.skipped),
        ("note", view.notes),
        ("partial", view.partial),
    ):
        for entry in entries:
            typer.echo(f"{word:8} {entry['path']}: {entry['reason']}")
    for failure in view.failures:
        typer.echo(f"failed   {failure['path']}: {failure['reason']} ({failure['code']})")
    parts = ("added", "changed", "removed", "unchanged", "failed")
    typer.echo(", ".join(f"{counts[part]} {part}" for part in parts))
    if view.error:
        typer.echo(f"The run {view.status}: {view.error}")
