"""Any server with an OpenAI-compatible ``/v1/embeddings``: OpenAI, Gemini, TEI, vLLM, others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import stamina
import structlog

from pipeline.backends.embedders import estimate
from pipeline.backends.embedders.batches import batches, embedded
from pipeline.backends.embedders.prefixes import prefixes
from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    InvalidVectorError,
    SettingsError,
)
from pipeline.ports import Vectors
from pipeline.settings import Settings
from pipeline.vectors import unit

ATTEMPTS = 4
LONGEST_PAUSE_S = 5.0
SHOWN_CHARS = 200

REFUSED_TEXT = frozenset((400, 413, 422))
"""Answers that may be about one text, such as one that is too long for the model."""

LEAST_CHARS = 64
"""A text this short is not refused for its length: there the server's reason is another."""

_MIDDLE = re.compile(r"\s+")
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class OpenAIEmbedder:
    """An embeddings server. ``url`` ends in ``/v1``; ``timeout_s`` limits one request."""

    url: str
    model: str
    dimension: int
    revision: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60
    batch: int = 32
    batch_tokens: int = 16_384

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
            batch_tokens=settings.embedder_batch_tokens,
        )

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder. Raises BackendRejectedError when the server refuses for good."""
        return self._embed(texts, self.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See ports.Embedder. Raises BackendRejectedError when the server refuses for good."""
        return self._embed(texts, self.passage_prefix)

    def count_tokens(self, text: str) -> int:
        """An estimate that is seldom too low, see ``estimate``: the tokenizer is the server's."""
        return estimate.tokens(self.passage_prefix + text)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        with httpx.Client(base_url=self.url, headers=headers, timeout=self.timeout_s) as client:
            parts = batches(
                texts,
                lambda text: estimate.tokens(prefix + text),
                most_texts=self.batch,
                most_tokens=self.batch_tokens,
            )
            rows = embedded(texts, parts, lambda batch: self._rows(client, batch, prefix))
        return unit(rows, count=len(texts), dimension=self.dimension)

    def _rows(self, client: httpx.Client, texts: Sequence[str], prefix: str) -> Vectors:
        """Unit vectors of one batch. What the server refuses is narrowed down to single texts."""
        response = self._post(client, [prefix + text for text in texts])
        if response.status_code == 200:
            return unit(_in_order(response, len(texts)), count=len(texts), dimension=self.dimension)
        refusal = BackendRejectedError(
            f"The embedder at {self.url} refused {len(texts)} texts with "
            f"{response.status_code}: {response.text.strip()[:SHOWN_CHARS]}"
        )
        if response.status_code not in REFUSED_TEXT:
            raise refusal
        if len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate(
                [
                    self._rows(client, texts[:half], prefix),
                    self._rows(client, texts[half:], prefix),
                ]
            )
        return self._halves(client, texts[0], prefix, refusal)

    def _halves(
        self, client: httpx.Client, text: str, prefix: str, refusal: BackendRejectedError
    ) -> Vectors:
        """The vector of a text that is too long for the server: the mean of its halves'."""
        if len(text) <= LEAST_CHARS:
            raise refusal
        log.warning("text_halved", characters=len(text), reason=str(refusal))
        gaps = [gap.start() for gap in _MIDDLE.finditer(text, len(text) // 4, len(text) * 3 // 4)]
        middle = min(gaps, key=lambda gap: abs(gap - len(text) // 2), default=len(text) // 2)
        # One after the other: if both were sent at once and refused, it would not be known why.
        parts = (text[:middle], text[middle:].lstrip())
        rows = [self._rows(client, [part], prefix)[0] for part in parts]
        return unit([np.mean(rows, axis=0)], count=1, dimension=self.dimension)

    def _post(self, client: httpx.Client, texts: Sequence[str]) -> httpx.Response:
        """The server's answer, a busy or broken server asked again while the time limit allows."""
        for attempt in stamina.retry_context(
            on=_pause,
            attempts=ATTEMPTS,
            timeout=self.timeout_s,
            wait_initial=0.1,
            wait_max=LONGEST_PAUSE_S,
        ):
            with attempt:
                return self._once(client, texts)
        raise AssertionError("a retry ends by an answer or an error")

    def _once(self, client: httpx.Client, texts: Sequence[str]) -> httpx.Response:
        try:
            response = client.post("/embeddings", json={"model": self.model, "input": texts})
        except httpx.TimeoutException:
            raise BackendTimeoutError(
                f"The embedder at {self.url} did not answer within {self.timeout_s:g} s "
                "(LASTRO_EMBEDDER_TIMEOUT_S)."
            ) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise BackendRejectedError(f"LASTRO_EMBEDDER_URL={self.url}: {error}") from None
        except httpx.TransportError as error:
            raise BackendUnavailableError(
                f"The embedder at {self.url}: {error or type(error).__name__}"
            ) from None
        if response.status_code in (408, 429) or response.status_code >= 500:
            raise _BusyError(
                f"The embedder at {self.url} answered {response.status_code}.", response
            )
        return response


class _BusyError(BackendUnavailableError):
    """A server that says that it can't just now, and maybe for how long."""

    def __init__(self, reason: str, response: httpx.Response) -> None:
        super().__init__(reason)
        after = response.headers.get("Retry-After", "")
        self.pause = float(after) if after.isdecimal() else None


def _pause(error: Exception) -> bool | float:
    """For stamina: whether to ask again, and after how many seconds if the server says so."""
    if isinstance(error, _BusyError) and error.pause is not None:
        return min(error.pause, LONGEST_PAUSE_S)
    return isinstance(error, BackendUnavailableError)


def _in_order(response: httpx.Response, count: int) -> list[Any]:
    """The vectors in the order of the texts, which only ``index`` tells."""
    try:
        data = response.json()["data"]
        by_index = {item["index"]: item["embedding"] for item in data}
        numbers = sorted(item["index"] for item in data)
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidVectorError(f"The embedder's answer has no vectors: {error!r}.") from None
    if numbers != list(range(count)):
        raise InvalidVectorError(
            f"The embedder returned {len(data)} vectors for {count} texts, with the indexes "
            f"{str(numbers)[:SHOWN_CHARS]}."
        )
    return [by_index[number] for number in numbers]
