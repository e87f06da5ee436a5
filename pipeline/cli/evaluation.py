"""``lastro eval``: the quality of answers, measured through the product's own stages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pipeline.cli.output import AsJson, print_json, print_table


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="SQuAD-form files or questions.jsonl.",
            exists=True,
            dir_okay=False,
            metavar="FILE...",
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(exists=True, help="Where the paragraphs are, when in another language."),
    ] = None,
    articles: Annotated[
        Literal["odd", "even", "all"], typer.Option(help="Which articles, numbered from 0.")
    ] = "all",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions.", metavar="N")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.", metavar="S")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure retrieval and refusals on labelled questions.

    It runs in an instance of its own, through the product's ingest and inference stages.
    """
    from evals import run

    found = run.run(
        files,
        corpus=corpus,
        articles=articles,
        sample=sample,
        seed=seed,
        progress=run.to_stderr,
    )
    if as_json:
        print_json(found)
        return
    print_table(
        ("set", "n", "R@1", "R@5", "MRR", "off topic", "near topic", "p50 ms", "p95 ms"),
        [
            (
                one["name"],
                one["n"],
                one["recall@1"],
                one["recall@5"],
                one["mrr"],
                one["off_topic"]["accuracy"],
                one["near_topic"]["accuracy"],
                one["latency_ms"]["p50"],
                one["latency_ms"]["p95"],
            )
            for one in found["sets"]
        ],
    )
