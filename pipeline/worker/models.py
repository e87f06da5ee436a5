"""The models of this process, each imported and built at first use and kept.

So the scheduler, and a worker's parent before it forks, never load one.
"""

from __future__ import annotations

import functools

import structlog

from pipeline.db.index_sets import Identity
from pipeline.ports import Embedder, Generator, Reranker
from pipeline.settings import settings
from pipeline.types import Track

log = structlog.get_logger(__name__)


@functools.cache
def embedder() -> Embedder:
    """The configured embedder."""
    from pipeline.backends.embedders.factory import build

    return build(settings())


@functools.cache
def reranker() -> Reranker:
    """The configured reranker."""
    from pipeline.backends.rerankers.factory import build

    return build(settings())


@functools.cache
def generator() -> Generator:
    """The configured generator."""
    from pipeline.backends.generators.factory import build

    return build(settings())


def identity() -> Identity:
    """What the configured embedder's vectors are comparable with."""
    model = embedder()
    return Identity(
        model.model, model.revision, model.dimension, model.query_prefix, model.passage_prefix
    )


def cut(track: Track) -> float:
    """The score below which a candidate of ``track`` is dropped: the setting's, or the model's."""
    chosen = settings().cut_skill if track is Track.SKILL else settings().cut_document
    return reranker().cut if chosen is None else chosen


def warm_up() -> None:
    """Build the models of the answering side now, so that the first question doesn't wait."""
    embedder().count_tokens("lastro")
    log.info(
        "models_ready",
        embedder=str(identity()),
        reranker=reranker().name,
        generator=generator().name,
    )
