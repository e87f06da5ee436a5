"""Parsing in a child process: what a file does to its parser, it does to that process alone.

One child reads one file after another, so that a parser's library is imported once. It is killed
when a file takes too long, and replaced after a number of files, so that leaks end with it.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any

import structlog

from pipeline import errors
from pipeline.errors import ParseTimeoutError, PipelineError, QuarantinedError
from pipeline.settings import Settings, parser_environment
from pipeline.types import Document, Track
from pipeline.worker import parsed_json

log = structlog.get_logger(__name__)

TRIES = 2
"""Deaths of the child at one file before the file is given up."""

START_S = 30.0
"""How long a new child may take to be ready. Its libraries come later, with the first file."""


class Sandbox:
    """Parser that hands each file to a child process and waits for what it makes of it."""

    name = "sandbox"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._child: _Child | None = None
        self._files = 0

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """See ports.Parser, and the parsers themselves.

        Raises ParseTimeoutError, or QuarantinedError when the child died at the file twice.
        """
        for _ in range(TRIES):
            child = self._ready_child()
            try:
                child.send(data, path, track)
                if not child.answers_within(self._settings.parse_timeout_s):
                    self.close()
                    raise ParseTimeoutError(
                        f"{path} was not read within {self._settings.parse_timeout_s:g} s: split "
                        "it, or raise LASTRO_PARSE_TIMEOUT_S. It is left alone until it changes."
                    )
                answer = child.answer()
            except (EOFError, OSError):
                self.close()
                log.warning("parser_died", path=path)
            else:
                return _result(answer)
        raise QuarantinedError(
            f"{path} ended its parser {TRIES} times: save it again or in another format. It is "
            "left alone until it changes."
        )

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child:
            self._child.kill()
        self._child = None

    def _ready_child(self) -> _Child:
        if self._child and self._files >= self._settings.parse_recycle:
            self.close()
        if self._child is None or not self._child.is_alive():
            self.close()
            self._child = _Child(self._settings)
            self._files = 0
        self._files += 1
        return self._child


class _Child:
    """The process, and the pipe to it that nobody else holds."""

    def __init__(self, settings: Settings) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the arguments are ours
                [sys.executable, "-m", "pipeline.worker.parser_process", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=parser_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._pipe = Connection(ours.detach())
        if not self.answers_within(START_S) or self._hello_failed():
            self.kill()
            raise errors.ParserProcessError(
                "The process for parsing did not start: the worker's log says why."
            )

    def _hello_failed(self) -> bool:
        try:
            return bool(self.answer() != {"ready": True})
        except (EOFError, OSError):
            return True

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, data: bytes, path: str, track: Track) -> None:
        self._pipe.send_bytes(json.dumps({"path": path, "track": track}).encode())
        self._pipe.send_bytes(data)

    def answers_within(self, seconds: float) -> bool:
        return bool(self._pipe.poll(seconds))

    def answer(self) -> Any:
        """Plain JSON: what comes from there was in the hands of a file that nobody knows."""
        return json.loads(self._pipe.recv_bytes())

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()


def _result(answer: Any) -> Document:
    if "document" in answer:
        return parsed_json.document(answer["document"])
    raise _ERRORS.get(answer["error"], errors.UnreadableError)(answer["reason"])


def _all_errors(base: type[PipelineError]) -> dict[str, type[PipelineError]]:
    found = {base.__name__: base}
    for kind in base.__subclasses__():
        found |= _all_errors(kind)
    return found


_ERRORS = _all_errors(PipelineError)
"""By the name of their class, which is what crosses the pipe."""
