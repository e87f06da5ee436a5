"""A parser that does to its process what the file's text says."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from pipeline.types import Document, Track

SETTING = "stub=tests.stub_parser:StubParser"


class StubParser:
    name = "stub"

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        order, _, argument = data.decode().partition(" ")
        if order in ("hang", "wait"):
            mark = Path(argument)
            mark.with_suffix(".part").write_text(str(os.getpid()))
            mark.with_suffix(".part").replace(mark)
            while order == "hang" or not mark.with_suffix(".go").exists():
                time.sleep(0.05)
        if order == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if order == "die-once" and not Path(argument).exists():
            Path(argument).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if order == "eat":
            bytearray(int(argument))
        if order == "fail":
            raise LookupError(argument)
        lost = (argument,) if order == "lose" else ()
        text = {
            "pid": str(os.getpid()),
            "environment": "\n".join(f"{name}={value}" for name, value in os.environ.items()),
        }.get(order, data.decode())
        return Document(path, track, path, text, lost=lost, warnings=lost and ("odd",))
