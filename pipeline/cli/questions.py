"""``lastro ask`` and ``search``: over the HTTP API, as any channel would."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

import typer

from pipeline.cli.client import Client
from pipeline.cli.output import AsJson, print_json, print_sources
from pipeline.errors import PipelineError

LONG_POLL_S = 20


class NoAnswerError(PipelineError):
    """The question ended without an answer."""

    code = "no_answer"


def ask(
    text: Annotated[str, typer.Argument(help="The question.", metavar="TEXT")],
    session: Annotated[
        str | None, typer.Option(help="Continue this conversation.", metavar="ID")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question and print the answer with its sources."""
    answer = answer_to(text, session)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def answer_to(text: str, session: str | None = None) -> dict[str, Any]:
    """The API's answer, waited for however long it takes. Raises NoAnswerError for a failed job."""
    client = Client()
    session_id = session or f"cli-{secrets.token_hex(8)}"
    job = client.post("/ask", {"session_id": session_id, "message": text})
    while job["status"] in {"queued", "running"}:
        job = client.get(f"/chat/status/{job['job_id']}", wait=LONG_POLL_S)
        if job["status"] == "queued" and not _workers(client):
            raise NoAnswerError(f"No inference worker is alive: job {job['job_id']} waits for one.")
    if job["status"] != "done":
        raise NoAnswerError(f"The question {job['status']}: {job['error']['detail']}")
    return job


def _workers(client: Client) -> int:
    """Living inference workers; one where that can't be known."""
    workers = client.send("GET", "/health").json()["components"]["workers"]
    return 1 if workers is None else int(workers["inference"])


def print_answer(answer: dict[str, Any]) -> None:
    """The text, and what stands behind it."""
    typer.echo(answer["answer"])
    if answer["degraded"]:
        typer.echo(f"\nAnswered without: {', '.join(answer['degraded'])}")
    if answer["sources"]:
        typer.echo("")
        print_sources(answer["sources"])


def search(
    text: Annotated[str, typer.Argument(help="What to look for.", metavar="TEXT")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Results.", metavar="N")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the passages that a question would find, with scores."""
    found = Client().get("/search", q=text, k=k)
    if as_json:
        print_json(found)
        return
    print_sources(found["results"])
