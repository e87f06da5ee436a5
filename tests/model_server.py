"""A real HTTP server that speaks `POST /v1/chat/completions` and answers as a test tells it to.

It counts requests and keeps their bodies, so that a test can show that no request was made, or how
many generations one question cost.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer. `silent` never answers, `trickle` sends a byte now and then, `cut` half a body.

    `error` is the text of an answer with another `status` than 200.
    """

    text: str | None = ""
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    status: int = 200
    error: str = "the server says no"
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    trickle: bool = False
    cut: bool = False


def quoting(body: Body) -> Reply:
    """The first passage or procedure of the prompt, word for word, with its number."""
    prompt = "\n".join(message["content"] for message in body["messages"])
    found = re.search(r'<(passage|procedure) id="1"[^>]*>\n(.*?)\n</\1>', prompt, re.DOTALL)
    return Reply(f"{found[2]} [1]" if found else "There is no passage.")


class ModelServer:
    """Use as a context manager. `script` holds the next replies; `reply` makes the others.

    `refuses_system` answers 400 to a system message, as templates without that role do;
    `strict` answers 400 unless there is one system message, first, and then turns that alternate
    from user to user.
    """

    def __init__(self, reply: Callable[[Body], Reply] | str = quoting) -> None:
        self.reply: Callable[[Body], Reply] = (
            (lambda _: Reply(reply)) if isinstance(reply, str) else reply
        )
        self.script: deque[Reply] = deque()
        self.refuses_system = False
        self.strict = False
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.generations = 0  # requests that were not refused
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, with /v1."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def prompts(self) -> list[str]:
        """The text of each request's messages."""
        return ["\n".join(m["content"] for m in body["messages"]) for body in self.requests]

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next(self, body: Body) -> Reply:
        """Count a request and choose its reply."""
        self.requests.append(body)
        roles = [message["role"] for message in body["messages"]]
        if self.refuses_system and "system" in roles:
            return Reply(status=400, error="System role not supported")
        turns = roles[1:] if roles[0] == "system" else roles
        alternating = ["user", "assistant"] * (len(turns) // 2) + ["user"]
        if self.strict and "system" in turns:
            return Reply(status=400, error="System message must be at the beginning.")
        if self.strict and turns != alternating:
            return Reply(status=400, error="Conversation roles must alternate user/assistant")
        reply = self.script.popleft() if self.script else self.reply(body)
        self.generations += reply.status == 200
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                server.headers.append({k.lower(): v for k, v in self.headers.items()})
                reply = server.next(json.loads(self.rfile.read(size)))
                if reply.silent:
                    server.closing.wait()
                    return
                data = json.dumps(_payload(reply)).encode()
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.trickle:
                    self._trickle(data)
                else:
                    self.wfile.write(data[: len(data) // 2] if reply.cut else data)

            def _trickle(self, data: bytes) -> None:
                for byte in data:
                    if server.closing.wait(0.1):
                        return
                    try:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                    except OSError:  # the client has gone
                        return

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        return Handler


def _payload(reply: Reply) -> Body:
    if reply.status != 200:
        return {"error": {"message": reply.error, "code": reply.status}}
    message = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46},
    }
