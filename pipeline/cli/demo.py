"""``lastro demo``: the whole way, from a content folder to answers and a refusal."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Step:
    """A question, and the source that must come first; None: it must be refused."""

    title: str
    question: str
    expect: str | None
    same_session: bool = False


STEPS = (
    Step("A skill", "meu login bloqueou, o que eu faço?", "login-bloqueado"),
    Step("A document", "quando é a campanha Primavera de Cores?", "documents/calendario.md"),
    Step(
        "A follow-up, which means nothing alone",
        "e até quando os pontos dela são creditados?",
        "documents/calendario.md",
        same_session=True,
    ),
    Step("Nothing that the content knows", "qual é a capital do Brasil?", None),
)


def demo() -> None:
    """Start an instance in .lastro/demo, ingest the content, ask four questions, stop."""
    from pipeline.cli import content
    from pipeline.local import detach
    from pipeline.local.instance import connect
    from pipeline.settings import settings, use

    chosen = _own_instance(settings())
    typer.echo("Starting PostgreSQL, Valkey, workers and API ...")
    detach.start(chosen)
    try:
        use(connect(chosen))
        typer.echo(f"Ingesting {chosen.content_dir} ...")
        content.ingest()
        wrong = _ask_all()
    finally:
        detach.stop(chosen)
    if wrong:
        typer.echo("\nNot as expected: " + "; ".join(wrong), err=True)
        raise typer.Exit(1)
    typer.echo("\nAll as expected.")


def _own_instance(chosen: Settings) -> Settings:
    return chosen.model_copy(
        update={
            "home": chosen.home / "demo",
            "port": 0,
            "database_url": None,
            "redis_url": None,
            "api_url": None,
            "api_key": None,
        }
    )


def _ask_all() -> list[str]:
    """Ask and print every step; the titles of those that went wrong."""
    from pipeline.cli.questions import answer_to, print_answer

    wrong = []
    session = ""
    for step in STEPS:
        if not step.same_session:
            session = f"demo-{secrets.token_hex(8)}"
        typer.echo(f"\n--- {step.title}: {step.question}\n")
        answer = answer_to(step.question, session)
        print_answer(answer)
        if not _right(step, answer):
            wrong.append(step.title)
    return wrong


def _right(step: Step, answer: dict[str, Any]) -> bool:
    if step.expect is None:
        return not answer["grounded"] and not answer["sources"]
    return bool(answer["grounded"]) and answer["sources"][0]["name"] == step.expect
