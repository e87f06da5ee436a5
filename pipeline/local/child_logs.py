"""The children's log files: kept small, and shown line by line where someone watches."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

MAX_BYTES = 10_000_000
"""A longer file is moved to ``NAME.log.1``; so a child's logs take twice this much at most."""


class ChildLogs:
    """The log files of one instance. With ``echo`` new lines are copied to stderr."""

    def __init__(self, folder: Path, *, echo: bool) -> None:
        self._folder = folder
        self._echo = echo
        self._shown: dict[Path, int] = {}

    def path(self, name: str) -> Path:
        """The file of the child ``name``; what it holds by now is not shown."""
        path = self._folder / f"{name}.log"
        if path not in self._shown:
            self._shown[path] = path.stat().st_size if path.exists() else 0
        return path

    def look(self) -> None:
        """Show what is new and shorten what is too long."""
        for path in self._shown:
            if path.exists():
                if self._echo:
                    self._show(path)
                if path.stat().st_size > MAX_BYTES:
                    shorten(path)
                    self._shown[path] = 0

    def _show(self, path: Path) -> None:
        with path.open("rb") as file:
            file.seek(self._shown[path])
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._shown[path] += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            sys.stderr.write(f"{path.stem:<9} | {line}\n")
        if whole:
            sys.stderr.flush()


def shorten(path: Path) -> None:
    """Move the content to ``path.1``. The writer appends, so it goes on at the new beginning."""
    shutil.copyfile(path, path.with_name(path.name + ".1"))
    with path.open("r+b") as file:
        file.truncate(0)


def tail(path: Path, lines: int = 15, *, start: int = 0) -> str:
    """The last lines of a log file, from byte ``start`` on; empty when there is none."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(start, path.stat().st_size - 64_000))
        last: Iterable[str] = file.read().decode(errors="replace").splitlines()[-lines:]
    return "\n".join(last)
