"""Any server with OpenAI's `POST /chat/completions`: vLLM, llama.cpp, OpenAI, Gemini, and others.

One call is one generation. A server that is busy, loading or not up yet is waited for; once it may
have begun to generate, nothing is sent again, since the first generation would go on behind it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import httpx
import stamina

from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    ContextOverflowError,
    EmptyAnswerError,
)
from pipeline.types import Generation, Message, Prompt

BUSY = frozenset((429, 503))
"""Answers of a server that has not begun: too many requests, or the model is still loading."""

LONGEST_PAUSE_S = 5.0
CONNECT_S = 10.0
SHOWN_CHARS = 300

_OVERFLOW = re.compile(
    r"context.{0,20}(?:length|window|size)|exceed_context|too many tokens|prompt is too long"
    r"|reduce the length",
    re.IGNORECASE,
)
_SYSTEM_REFUSED = re.compile(
    r"system (?:role|message|prompt|instruction)|role.{0,20}system|developer instruction",
    re.IGNORECASE,
)
_NEW_LIMIT_NAME = re.compile(r"max_completion_tokens")
_NO_CREDIT = re.compile(r"insufficient_quota|billing", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn; what is None is left to the server.

    `top_k`, `min_p` and `repetition_penalty` are not OpenAI's: vLLM and llama.cpp read them as
    further top-level fields.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None


class _BusyError(Exception):
    """The server did not take the request; `pause` is how long it asks to wait, in seconds."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class OpenAIGenerator:
    """Writes answers with `model` on the server at `url`, which ends with /v1.

    `timeout_s` limits a whole call, waiting for a busy server included. What a server turned out
    not to take (a system message, `max_tokens`) is remembered for the next calls.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str,
        api_key: str | None = None,
        timeout_s: float = 120,
        max_tokens: int = 700,
        sampling: Sampling | None = None,
    ) -> None:
        self.name = f"openai:{model}"
        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_s = timeout_s
        self._max_tokens = max_tokens
        drawn = asdict(sampling or Sampling())
        self._sampling = {name: value for name, value in drawn.items() if value is not None}
        self._takes_system = True
        self._limit_name = "max_tokens"

    def generate(self, prompt: Prompt) -> Generation:
        """The model's answer as it came, thinking and end marks included.

        Raises BackendUnavailableError, BackendTimeoutError or EmptyAnswerError when another try
        may help, ContextOverflowError when only a smaller prompt does, and BackendRejectedError
        when nothing here helps.
        """
        return asyncio.run(self._within_limit(prompt))

    async def _within_limit(self, prompt: Prompt) -> Generation:
        busy: _BusyError | None = None
        try:
            async with asyncio.timeout(self._timeout_s), self._client() as client:
                async for attempt in stamina.retry_context(
                    on=_pause,
                    attempts=None,
                    timeout=None,
                    wait_initial=0.2,
                    wait_max=LONGEST_PAUSE_S,
                ):
                    with attempt:
                        try:
                            return _read(await self._ask(client, prompt))
                        except _BusyError as error:
                            busy = error
                            raise
        except TimeoutError:
            if busy:
                raise BackendUnavailableError(
                    f"{self._url} took no request for {self._timeout_s:g} s: {busy}"
                ) from busy
            raise BackendTimeoutError(
                f"{self._url} gave no complete answer in {self._timeout_s:g} s "
                "(LASTRO_GENERATOR_TIMEOUT_S)."
            ) from None
        raise AssertionError("a retry without limit ends by an answer or an error")

    def _client(self) -> httpx.AsyncClient:
        # The whole call has a limit of its own, which a server that trickles can't stretch.
        return httpx.AsyncClient(
            headers=self._headers, timeout=httpx.Timeout(None, connect=CONNECT_S)
        )

    async def _ask(self, client: httpx.AsyncClient, prompt: Prompt) -> str:
        """The body of a 200. What the server refuses is put differently, each way once."""
        while True:
            try:
                response = await client.post(self._url, json=self._body(prompt))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                raise _BusyError(str(error) or type(error).__name__) from error
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise BackendRejectedError(f"LASTRO_GENERATOR_URL {self._url}: {error}") from error
            except httpx.TransportError as error:
                raise BackendUnavailableError(
                    f"{self._url} broke off: {error or type(error).__name__}"
                ) from error
            if response.status_code == 200:
                return response.text
            if not self._adapt(response):
                raise _refusal(self._url, response)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        messages = prompt.messages if self._takes_system else _without_system(prompt.messages)
        return {
            "model": self._model,
            "messages": [asdict(message) for message in messages],
            self._limit_name: self._max_tokens,
            **self._sampling,
        }

    def _adapt(self, response: httpx.Response) -> bool:
        """Whether the request can be put in a form that this server takes, from now on."""
        if response.status_code not in (400, 422, 500):
            return False
        if self._limit_name == "max_tokens" and _NEW_LIMIT_NAME.search(response.text):
            self._limit_name = "max_completion_tokens"
            return True
        if self._takes_system and _SYSTEM_REFUSED.search(response.text):
            self._takes_system = False
            return True
        return False


def _pause(error: Exception) -> bool | float:
    """For stamina: wait for a busy server, as long as it asks to."""
    if not isinstance(error, _BusyError):
        return False
    return True if error.pause is None else min(error.pause, 2 * LONGEST_PAUSE_S)


def _without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The system message put before the first user message, for templates that have none."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    first = Message("user", f"{system}\n\n{turns[0].content}")
    return (first, *turns[1:])


def _refusal(url: str, response: httpx.Response) -> Exception:
    """The error for an answer that is no 200."""
    status, text = response.status_code, response.text
    shown = f"{url} answered {status}: {text.strip()[:SHOWN_CHARS]}"
    if status in BUSY and not _NO_CREDIT.search(text):
        return _BusyError(shown, _retry_after(response))
    if status in (400, 413, 422) and (status == 413 or _OVERFLOW.search(text)):
        return ContextOverflowError(shown)
    if status >= 500 or status == 408:
        return BackendUnavailableError(shown)
    return BackendRejectedError(shown)


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def _read(body: str) -> Generation:
    """The first choice of a complete answer."""
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BackendUnavailableError(
            f"The model server's answer can't be read: {body.strip()[:SHOWN_CHARS]!r}"
        ) from error
    if isinstance(content, list):  # parts, as some servers give them
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    reason = str(choice.get("finish_reason") or "stop")
    if not isinstance(content, str) or not content.strip():
        raise EmptyAnswerError(
            f"The model ended ({reason}) without an answer. If it thinks before it answers, raise "
            "LASTRO_GENERATOR_MAX_TOKENS or turn its thinking off."
        )
    usage = answer.get("usage") or {}
    return Generation(
        text=content,
        finish_reason=reason,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
    )
