"""Signals of a candidate, with what a test doesn't care about filled in."""

from dataclasses import replace

from pipeline.inference.signals import Background, Signals

PLAIN = Signals(
    dense=0.80,
    sentence=0.81,
    bm25=3.0,
    coverage=0.2,
    sentence_coverage=0.15,
    sentences=4,
    known=0.9,
)
"""A candidate like any other: as near as the background, a few common words shared."""

BACKGROUND = Background(0.80, 0.02, 0.80, 0.02, size=256)


def signals_of(**changes: object) -> Signals:
    return replace(PLAIN, **changes)  # type: ignore[arg-type]
