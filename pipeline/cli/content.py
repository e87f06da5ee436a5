"""``lastro ingest`` and ``reindex``: operators' commands, straight to database and broker."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from pipeline.cli.output import AsJson, print_json
from pipeline.errors import InstanceError, NotFoundError, PipelineError, SettingsError

if TYPE_CHECKING:
    from pipeline.db.runs import RunView
    from pipeline.settings import Settings

POLL_S = 0.2
LINE_EVERY_S = 5.0
MOST_LINES = 50
"""Of a kind that are shown to people; --json has all."""

WATCH_PAUSE_MS = 1000
"""Changes that come closer together than this are one: editors save in several steps."""

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


Force = Annotated[
    bool, typer.Option("--force", help="Also where more than half of a track would be removed.")
]


def ingest(
    path: ContentPath = None,
    track: OneTrack = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what there is to do.")
    ] = False,
    retry: Annotated[
        UUID | None, typer.Option(help="Only the files that failed in this run.", metavar="RUN")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: ingest again whenever a file changes.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date with the content.

    What is new or changed is read, what is gone is removed, what is unchanged is left alone.
    """
    chosen = [option for option, given in (("--dry-run", dry_run), ("--watch", watch)) if given] + [
        "--json"
    ] * (as_json and watch)
    if len(chosen) > 1:
        raise typer.BadParameter(f"{' and '.join(chosen)} don't go together.")
    order = {"track": track, "allow_removals": force, "retry_of": retry}
    if dry_run:
        _foretell(path, order, as_json=as_json)
    elif watch:
        _watch(path, order)
    else:
        _run(path, order, as_json=as_json)


def reindex(
    path: ContentPath = None,
    track: OneTrack = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Ingest all of the content again, unchanged files too."""
    order = {"track": track, "allow_removals": force, "force": True}
    _run(path, order, as_json=as_json)


def _run(path: Path | None, order: dict[str, Any], *, as_json: bool) -> None:
    from pipeline.cli.records import connected
    from pipeline.settings import settings

    root, prefix = _place(settings(), path)
    with connected() as chosen:
        run_id = start(chosen.workspace, root=str(root), prefix=prefix, **order)
        view = follow(chosen, run_id, quiet=as_json)
    if as_json:
        print_json(shape(view))
    else:
        _tell(view)
    if not finished(view):
        raise typer.Exit(1)


def _foretell(path: Path | None, order: dict[str, Any], *, as_json: bool) -> None:
    """Print what a run would do, as the ingest worker finds it."""
    from pipeline.cli.records import connected
    from pipeline.db import index_sets
    from pipeline.db.engine import transaction
    from pipeline.errors import NoIndexError
    from pipeline.settings import settings
    from pipeline.worker import planning

    root, prefix = _place(settings(), path)
    with connected() as chosen:
        live_id = None
        with suppress(NoIndexError), transaction() as conn:
            live_id = index_sets.live(conn).id
        run = {"force": False, "workspace": chosen.workspace, "root": str(root), "prefix": prefix}
        found = planning.find(live_id, run | order)
    parts = {"added": found.add, "changed": found.change, "removed": found.remove}
    if as_json:
        files = {
            part: [{"path": name, "track": its_track.value} for name, its_track in entries]
            for part, entries in parts.items()
        }
        skipped = [{"path": name, "reason": reason} for name, reason in found.skipped]
        print_json(files | {"unchanged": found.unchanged, "skipped": skipped})
        return
    for part, entries in parts.items():
        for name, _ in entries:
            typer.echo(f"{part:8} {name}")
    _list("skipped", [{"path": name, "reason": reason} for name, reason in found.skipped])
    counts = ", ".join(f"{len(entries)} {part}" for part, entries in parts.items())
    typer.echo(f"Would be: {counts}, {found.unchanged} unchanged. Nothing was done.")


def _watch(path: Path | None, order: dict[str, Any]) -> None:
    """Ingest now and after each change, until Ctrl-C. A run that fails doesn't end it."""
    from watchfiles import watch

    from pipeline.settings import settings

    root, _ = _place(settings(), path)
    typer.echo(f"Watching {root}; Ctrl-C ends it.", err=True)
    # It looks before the first run, so that no change falls between the two.
    changes = watch(
        root,
        debounce=WATCH_PAUSE_MS,
        rust_timeout=WATCH_PAUSE_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    with suppress(KeyboardInterrupt):
        for _ in _first_and(changes):
            try:
                _run(path, order, as_json=False)
            except PipelineError as error:
                typer.echo(f"error: {error}", err=True)
            except typer.Exit:
                continue  # its reasons are told


def _first_and(changes: Iterable[set[Any]]) -> Iterator[None]:
    """Once at the start, and again for each batch of changes."""
    begun = False
    for batch in changes:
        if batch or not begun:
            begun = True
            yield


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


def start(workspace: str, **order: Any) -> UUID:
    """Record a run, see ``runs.start``, and tell the workers of it."""
    from pipeline import enqueue
    from pipeline.db import runs
    from pipeline.db.engine import transaction
    from pipeline.types import Stage

    retry_of = order.get("retry_of")
    with transaction() as conn:
        if retry_of is not None and not runs.failed_files(conn, workspace, retry_of):
            raise NotFoundError(f"No file failed in run {retry_of}.")
        run_id = runs.start(conn, workspace=workspace, **order)
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
    failures = [
        {"path": failure["path"], "reason": f"{failure['reason']} ({failure['code']})"}
        for failure in view.failures
    ]
    _list("skipped", view.skipped)
    _list("note", view.notes)
    _list("partial", view.partial)
    _list("failed", failures)
    parts = ("added", "changed", "removed", "unchanged", "failed")
    typer.echo(", ".join(f"{view.counts[part]} {part}" for part in parts))
    if view.error:
        typer.echo(f"The run {view.status}: {view.error}")


def _list(word: str, entries: Sequence[dict[str, str]]) -> None:
    """A line per entry; of very many the first ones."""
    for entry in entries[:MOST_LINES]:
        typer.echo(f"{word:8} {entry['path']}: {entry['reason']}")
    if len(entries) > MOST_LINES:
        typer.echo(f"{word:8} {len(entries) - MOST_LINES} more, see --json")
