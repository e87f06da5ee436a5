"""``lastro up``, ``down`` and ``status``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.output import AsJson, print_json, print_table
from pipeline.errors import InstanceError

if TYPE_CHECKING:
    from pipeline.local.instance import Instance


def up(
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Return when the instance is ready.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the API; 0 takes a free one.", metavar="N"),
    ] = None,
) -> None:
    """Start an instance: servers, workers, scheduler and API.

    PostgreSQL and Valkey are its own where LASTRO_DATABASE_URL and LASTRO_REDIS_URL are not set.
    """
    from pipeline.local.instance import api_key, home_of
    from pipeline.settings import settings

    chosen = settings()
    if port is not None:
        chosen = chosen.model_copy(update={"port": port})
    home = home_of(chosen)
    known = api_key(home)

    def tell(instance: Instance) -> None:
        typer.echo(f"Lastro is ready at {instance.api_url} (data in {home}).")
        key = api_key(home)
        if key != known:
            typer.echo(f"API key, shown this once and kept in {home / 'api-key'}: {key}")
        sys.stdout.flush()

    try:
        if detach:
            from pipeline.local import detach as background

            tell(background.start(chosen))
        else:
            from pipeline.local.programs import programs
            from pipeline.local.supervisor import Supervisor

            if chosen.log_format == "auto" and sys.stderr.isatty():
                chosen = chosen.model_copy(update={"log_format": "console"})
            Supervisor(chosen, programs=programs, echo=True).run(tell)
    except ModuleNotFoundError as error:
        raise InstanceError(
            f"{error.name} is not installed: install Lastro with its extra `local`."
        ) from error


def down() -> None:
    """Stop the instance; what is being answered is finished first."""
    from pipeline.local import detach as background
    from pipeline.local.instance import home_of
    from pipeline.settings import settings

    if background.stop(settings()):
        typer.echo("Stopped.")
    else:
        typer.echo(f"No instance runs in {home_of(settings())}.")


def status(as_json: AsJson = False) -> None:
    """Show the parts of the instance and how many questions wait."""
    from pipeline.cli.client import Client

    client = Client()
    response = client.send("GET", "/health")
    health = response.json()
    if as_json:
        print_json(health)
    else:
        typer.echo(f"{client.url}: {health['status']}")
        print_table(("part", "state"), list(_parts(health)))
    if health["status"] != "ok":
        raise typer.Exit(1)


def _parts(health: dict[str, Any]) -> Iterator[tuple[str, str]]:
    components = health["components"]
    for name in ("database", "broker"):
        yield name, components[name]["status"]
    for queue, count in (components["workers"] or {}).items():
        name = queue if queue == "scheduler" else f"{queue} workers"
        yield name, str(count) if count else "down"
    for state, count in (health["queue"] or {}).items():
        yield f"questions {state}", str(count)
