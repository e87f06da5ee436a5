"""The child that parses: reads files from a pipe, and has nothing worth stealing.

``python -m pipeline.worker.parser_process FD``. It knows the settings of parsing alone, and dies
with its parent.
"""

from __future__ import annotations

import ctypes
import json
import logging
import resource
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from pipeline.backends.parsers.registry import Parsers, configured
from pipeline.errors import FileTooLargeError, PipelineError, UnreadableError
from pipeline.settings import settings
from pipeline.types import Track
from pipeline.worker import parsed_json

_PR_SET_PDEATHSIG = 1
"""Linux, prctl(2)."""


def main() -> None:
    """Answer one file after another until the parent hangs up."""
    pipe = Connection(int(sys.argv[1]))
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is the parent's to handle
    logging.getLogger().addHandler(logging.NullHandler())  # the parsers' libraries log every page
    limit = settings().parse_memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    parsers = configured(settings())
    pipe.send_bytes(json.dumps({"ready": True}).encode())
    while True:
        try:
            order = json.loads(pipe.recv_bytes())
            data = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(json.dumps(_answer(parsers, data, order)).encode())


def _answer(parsers: Parsers, data: bytes, order: dict[str, str]) -> dict[str, Any]:
    path = order["path"]
    try:
        made = parsers.for_path(path).parse(data, path, Track(order["track"]))
    except PipelineError as error:
        return {"error": type(error).__name__, "reason": str(error)}
    except MemoryError:
        return {
            "error": FileTooLargeError.__name__,
            "reason": f"{path} takes more than {settings().parse_memory_mb} MB to read: split it, "
            "or raise LASTRO_PARSE_MEMORY_MB.",
        }
    except Exception as error:  # noqa: BLE001 - of a parser that is not ours, or deep nesting
        return {
            "error": UnreadableError.__name__,
            "reason": f"{path} can't be read ({type(error).__name__}: {error}). Save it in a "
            "simpler form, or choose another parser with LASTRO_PARSERS.",
        }
    return {"document": parsed_json.as_json(made)}


def _die_with_parent() -> None:
    """Ask the kernel to, where it is Linux: a killed worker can't do it itself."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
