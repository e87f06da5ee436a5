"""The models of this process, each imported and built at first use and kept.

So the scheduler, and a worker's parent before it forks, never load one.
"""

from __future__ import annotations

import functools

import structlog

from pipeline.db.index_sets import Identity, IndexSet, Recipe
from pipeline.errors import IndexMismatchError
from pipeline.ports import Embedder, Generator, Reranker
from pipeline.settings import Settings, embedder_settings, settings
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
    return _identity(embedder())


def recipe() -> Recipe:
    """What an index set that is made now is made by: the settings."""
    chosen = settings()
    chunking = {"tokens": chosen.chunk_tokens, "overlap": chosen.chunk_overlap}
    return Recipe(identity(), chunking, embedder_settings(chosen))


def embedder_of(index_set: IndexSet) -> Embedder:
    """The embedder that made the vectors of ``index_set``, built by the settings it was made with.

    Raises IndexMismatchError when they lead to another model by now, SettingsError when a library
    or a key for it is missing here.
    """
    if index_set.identity == identity():
        return embedder()
    found = _others.get(index_set.id) or _others.setdefault(index_set.id, _build(index_set.recipe))
    if _identity(found) != index_set.identity:
        raise IndexMismatchError(
            f"Index set {index_set.id} was made by {index_set.identity}, its settings now lead to "
            f"{_identity(found)}: make a new one with `lastro index create`."
        )
    return found


_others: dict[int, Embedder] = {}
"""By index set: a set's recipe never changes."""


def _build(recipe: Recipe) -> Embedder:
    from pipeline.backends.embedders.factory import build

    own = settings().model_dump()
    chunking = {f"chunk_{name}": value for name, value in recipe.chunking.items()}
    return build(Settings.model_validate(own | dict(recipe.embedder) | chunking))


def _identity(model: Embedder) -> Identity:
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
