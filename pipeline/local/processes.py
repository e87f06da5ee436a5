"""Child processes that end with their parent, and how to find those that did not.

On Linux the kernel signals each child when the supervisor dies, also by SIGKILL. Grandchildren and
other systems are covered by the next start: every child carries a mark in its environment, and the
servers stand in their data folder.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

MARK = "_LASTRO_INSTANCE"
"""Environment variable of every child: its home. Not a setting, hence the underscore."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Program:
    """How one child is run and ended. Times are in seconds."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path  # its working folder
    rank: int = 0  # the highest are stopped first, equal ones together
    prepare: Callable[[], object] | None = None  # before every start
    last_resort: Callable[[], object] | None = None  # before it is given up at the first start
    user: str | None = None  # another account, where the supervisor is root
    stop_signal: signal.Signals = signal.SIGTERM
    orphan_signal: signal.Signals = signal.SIGKILL  # from the kernel, when the supervisor dies
    grace_s: float = 10  # from the stop signal to SIGKILL


class Child:
    """A running program. Its output goes to ``log``; both streams, appended."""

    def __init__(self, program: Program, log: Path) -> None:
        self.program = program
        self.log = log
        self.started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the last start, None before it."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start it in a session of its own. What was left of an earlier start is killed first."""
        self._kill_group()
        program = self.program
        if program.prepare is not None:
            program.prepare()
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                list(program.command),
                cwd=program.folder,
                env=dict(program.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=tie(program.orphan_signal),
                **as_user(program.user),
            )
        self.started_at = time.monotonic()

    def exit_status(self) -> int | None:
        """Status of the ended process (negative: the signal's number), None while it lives."""
        return self._process.poll() if self._process else None

    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Signal the process alone: a Celery worker ends its pool itself."""
        if self._process is not None and self.running():
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it and all that it started, at once."""
        self.signal(signal.SIGKILL)
        self._kill_group()
        if self._process is not None:
            self._process.wait()

    def _kill_group(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


def tie(number: signal.Signals) -> Callable[[], None]:
    """What a new child runs before its program, so that it gets ``number`` when its parent dies.

    It must run after a change of user, which clears the wish; ``subprocess`` does so. Safe only in
    a process without threads.
    """
    parent = os.getpid()

    def ask() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask


def as_user(name: str | None) -> dict[str, Any]:
    """The arguments of ``subprocess`` that make a child run as ``name``; None: as ourselves."""
    if name is None:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def marked(home: Path, *, but: Sequence[str]) -> list[psutil.Process]:
    """Every live process that a supervisor of ``home`` started, and their children.

    Those called one of ``but`` are left out.
    """
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(home) and process.name() not in but:
                found.append(process)
        except psutil.Error:
            continue
    return found


def standing_in(folders: Iterable[Path], names: Iterable[str]) -> list[psutil.Process]:
    """Every live process called one of ``names`` whose working folder is one of ``folders``."""
    places = {str(folder) for folder in folders}
    wanted = set(names)
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() in wanted and process.cwd() in places:
                found.append(process)
        except psutil.Error:
            continue
    return found


def end(processes: Sequence[psutil.Process], first: signal.Signals, grace_s: float) -> None:
    """Send ``first`` to all, wait, and kill what is still there after ``grace_s``."""
    for number, wait_s in ((first, grace_s), (signal.SIGKILL, 10)):
        alive = [process for process in processes if process.is_running()]
        for process in alive:
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(alive, timeout=wait_s)
