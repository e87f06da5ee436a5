"""``lastro up --detach`` and ``lastro down``: a supervisor without a terminal, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pipeline.errors import InstanceError
from pipeline.local import instance
from pipeline.local.child_logs import MAX_BYTES, shorten, tail
from pipeline.local.instance import Instance
from pipeline.settings import Settings, environment

START_LIMIT_S = 300
"""From a start to readiness, models and a recovery after a crash included."""


def start(settings: Settings) -> Instance:
    """Start a supervisor in the background and wait until its instance is ready.

    Raises InstanceError with the reason, or with the end of the log, when it does not become so.
    """
    home = instance.make_home(settings)
    log = home / "logs" / "supervisor.log"
    if log.exists() and log.stat().st_size > MAX_BYTES:
        shorten(log)
    begin = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "pipeline.local"],
            env=environment(settings.model_copy(update={"home": home})),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return _await_ready(home, supervisor, log, begin)
    except BaseException:  # also for Ctrl-C: what did not become ready must not stay
        supervisor.terminate()
        supervisor.wait()
        raise


def _await_ready(
    home: Path, supervisor: subprocess.Popen[bytes], log: Path, begin: int
) -> Instance:
    deadline = time.monotonic() + START_LIMIT_S
    while supervisor.poll() is None:
        found = instance.running(home)
        if found is not None and found.pid == supervisor.pid and found.ready:
            return found
        if time.monotonic() > deadline:
            raise InstanceError(
                f"The instance was not ready after {START_LIMIT_S} s. Its logs are in {log.parent}:"
                f"\n{tail(log, start=begin)}"
            )
        time.sleep(0.1)
    _, _, reason = ("\n" + tail(log, lines=40, start=begin)).rpartition("\nerror: ")
    raise InstanceError(reason or f"The supervisor ended with {supervisor.returncode}: see {log}.")


def stop(settings: Settings) -> bool:
    """End the instance of ``LASTRO_HOME`` and what a killed one left; False when none ran.

    Raises InstanceError when its supervisor does not end.
    """
    home = instance.home_of(settings)
    pid = instance.holder(home)
    if pid is None:
        return _clean_up(home)
    os.kill(pid, signal.SIGTERM)
    # The children's graces one after the other, at the longest.
    deadline = time.monotonic() + settings.shutdown_s + 90
    while instance.holder(home) == pid:
        if time.monotonic() > deadline:
            raise InstanceError(
                f"Process {pid} has not ended: see {home / 'logs' / 'supervisor.log'}."
            )
        time.sleep(0.1)
    return True


def _clean_up(home: Path) -> bool:
    """End the children of a supervisor that was killed."""
    if not (home / "credentials.json").exists():
        return False
    from pipeline.local.postgres import Postgres
    from pipeline.local.supervisor import end_orphans
    from pipeline.local.valkey import Valkey

    with instance.lock(home):
        left = end_orphans(home)
        for server in (Postgres(home, password="", port=0), Valkey(home, password="", port=0)):
            left = server.take_over() or left
    return left
