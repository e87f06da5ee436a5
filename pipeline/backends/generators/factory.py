"""Builds the configured generator; the other's file and libraries are never imported."""

from __future__ import annotations

from pipeline.errors import SettingsError
from pipeline.ports import Generator
from pipeline.settings import Settings


def build(settings: Settings) -> Generator:
    """The generator of ``settings.generator``. Raises SettingsError when it can't be had."""
    if settings.generator == "openai":
        from pipeline.backends.generators.openai import OpenAIGenerator, Sampling

        if not settings.generator_url or not settings.generator_model:
            raise SettingsError(
                "LASTRO_GENERATOR=openai needs LASTRO_GENERATOR_URL, the base URL of the server "
                "with /v1, and LASTRO_GENERATOR_MODEL, a model that it serves."
            )
        key = settings.generator_api_key
        return OpenAIGenerator(
            url=settings.generator_url,
            model=settings.generator_model,
            api_key=key.get_secret_value() if key else None,
            timeout_s=settings.generator_timeout_s,
            max_tokens=settings.generator_max_tokens,
            sampling=Sampling(
                temperature=settings.temperature,
                top_p=settings.top_p,
                top_k=settings.top_k,
                min_p=settings.min_p,
                repetition_penalty=settings.repetition_penalty,
                presence_penalty=settings.presence_penalty,
            ),
        )
    from pipeline.backends.generators.extractive import Extractive

    return Extractive()
