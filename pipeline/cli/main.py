"""The ``lastro`` command: exit status 0, 1 (failed) or 2 (usage); logs and errors on stderr."""

from __future__ import annotations

import sys

import typer

from pipeline.cli import content, demo, evaluation, index, instance, keys, questions, report
from pipeline.errors import PipelineError

app = typer.Typer(
    name="lastro",
    help="Answers from a knowledge base that you own, each with what stands behind it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: the framed one takes as long as all the rest
)


@app.callback()
def _every_command() -> None:
    from pipeline import logs

    logs.configure()


app.command("up")(instance.up)
app.command("down")(instance.down)
app.command("status")(instance.status)
app.command("ingest")(content.ingest)
app.command("reindex")(content.reindex)
app.command("ask")(questions.ask)
app.command("search")(questions.search)
app.command("report")(report.report)
app.command("eval")(evaluation.evaluate)
app.add_typer(index.app, name="index")
app.add_typer(keys.app, name="keys")
app.command("demo", hidden=True)(demo.demo)


def main() -> None:
    """Run the command line. What the pipeline raises on purpose becomes one line on stderr."""
    try:
        app()
    except PipelineError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
