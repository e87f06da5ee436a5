"""Builds the configured reranker; the other's file and libraries are never imported."""

from __future__ import annotations

from pipeline.ports import Reranker
from pipeline.settings import Settings


def build(settings: Settings) -> Reranker:
    """The reranker of ``settings.reranker``. Raises SettingsError when it can't be had."""
    if settings.reranker == "cross-encoder":
        from pipeline.backends.rerankers.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(settings)
    from pipeline.backends.rerankers.similarity import Similarity

    return Similarity()
