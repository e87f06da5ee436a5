"""The supervisor behind ``lastro up``: one process, no threads, a loop around its children."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Protocol

import structlog
from pydantic import SecretStr

from pipeline.errors import InstanceError
from pipeline.local import instance, processes
from pipeline.local.child_logs import ChildLogs, tail
from pipeline.local.instance import Instance
from pipeline.local.ports import free_port, is_free
from pipeline.local.processes import MARK, Child, Program
from pipeline.local.watched import Watched
from pipeline.settings import Settings, environment, use

SERVER_LIMIT_S = 120
"""How long a server may take to recover from a crash."""
TICK_S = 0.2

log = structlog.get_logger(__name__)


class Server(Protocol):
    """A database or broker that the supervisor runs itself."""

    @property
    def url(self) -> str:
        """How clients reach it."""

    def prepare(self) -> None:
        """Bring its data into a state from which it can start."""

    def program(self, environment: Mapping[str, str]) -> Program:
        """How to run it."""

    def ready(self) -> bool:
        """Whether it serves."""


class Stopped(Exception):  # noqa: N818 - no error: it was asked for
    """Someone asked the supervisor to end while it was starting."""


class Supervisor:
    """Runs one instance from its start to its end.

    ``programs`` makes the children that run on top of the servers; ``echo`` copies their logs to
    stderr.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        programs: Callable[[Settings, Mapping[str, str]], Sequence[Program]],
        echo: bool = False,
    ) -> None:
        self._home = instance.make_home(settings)
        self._settings = settings.model_copy(update={"home": self._home})
        self._mark = {MARK: str(self._home)}
        self._programs = programs
        self._logs = ChildLogs(self._home / "logs", echo=echo)
        self._watched: list[Watched] = []
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._ready = False
        self._stop_requests = 0
        # A byte for each signal. Unlike an event's lock it may be written at any moment.
        self._signals, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    def run(self, on_ready: Callable[[Instance], None] = lambda _: None) -> None:
        """Start, look after, and on SIGTERM or SIGINT stop the instance.

        Raises InstanceError when it can't start; nothing runs then.
        """
        with instance.lock(self._home):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, self._on_stop)
            signal.signal(signal.SIGCHLD, self._on_child)
            try:
                end_orphans(self._home)
                self._start()
                while not self._stop_requests:
                    if not self._ready and self._answers():
                        self._ready = True
                        on_ready(self._tell())
                    self._look_after()
            except Stopped:
                log.info("stopped_while_starting")
            finally:
                self._stop()

    # --- start

    def _start(self) -> None:
        chosen = self._choose_port(self._settings)
        servers = self._servers(chosen)
        for server in servers.values():
            server.prepare()
            self._watch(server.program(self._mark))
        for name, server in servers.items():
            self._await(name, server)
            chosen = chosen.model_copy(update={f"{name}_url": SecretStr(server.url)})
        self._settings = chosen
        use(chosen)
        self._prepare_database(ours="database" in servers)
        for program in self._programs(chosen, environment(chosen) | self._mark):
            self._watch(program)
        self._tell()

    def _prepare_database(self, *, ours: bool) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline.local.first_start", *(["ours"] if ours else [])],
            env=environment(self._settings) | self._mark,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=processes.tie(signal.SIGKILL),
        )
        sys.stderr.write(done.stderr)
        if done.returncode != 0:
            *_, reason = done.stderr.splitlines() or [f"status {done.returncode}"]
            raise InstanceError(f"The database could not be prepared: {reason}")

    def _choose_port(self, chosen: Settings) -> Settings:
        if chosen.port == 0:
            return chosen.model_copy(update={"port": free_port()})
        if not is_free(chosen.host, chosen.port):
            raise InstanceError(
                f"Port {chosen.port} of {chosen.host} is taken: choose another with --port,"
                " or --port 0 for any."
            )
        return chosen

    def _servers(self, chosen: Settings) -> dict[str, Server]:
        """Those that no setting names, by the setting that their URL goes to."""
        from pipeline.local.postgres import Postgres
        from pipeline.local.valkey import Valkey

        secrets = instance.credentials(self._home)
        servers: dict[str, Server] = {}
        if chosen.database_url is None:
            servers["database"] = Postgres(
                self._home, password=secrets["postgres"], port=free_port()
            )
        if chosen.redis_url is None:
            servers["redis"] = Valkey(self._home, password=secrets["valkey"], port=free_port())
        return servers

    def _watch(self, program: Program) -> None:
        watched = Watched(Child(program, self._logs.path(program.name)))
        try:
            watched.child.start()
        except OSError as error:
            raise InstanceError(f"{program.name} can't be started: {error}") from error
        self._watched.append(watched)
        log.info("child_started", child=watched.name, pid=watched.child.pid)

    def _await(self, name: str, server: Server) -> None:
        deadline = time.monotonic() + SERVER_LIMIT_S
        while not server.ready():
            if time.monotonic() > deadline:
                raise InstanceError(
                    f"The {name} server did not answer within {SERVER_LIMIT_S} s."
                    f"\n{tail(self._home / 'logs' / 'postgres.log')}"
                )
            self._look_after()
            if self._stop_requests:
                raise Stopped

    def _answers(self) -> bool:
        """Whether the API says that all parts are there, workers included."""
        connection = http.client.HTTPConnection(
            reachable(self._settings.host), self._settings.port, timeout=2
        )
        try:
            connection.request("GET", "/health")
            return bool(json.loads(connection.getresponse().read())["status"] == "ok")
        except (OSError, http.client.HTTPException, ValueError):
            return False
        finally:
            connection.close()

    def _tell(self) -> Instance:
        chosen = self._settings
        if chosen.database_url is None or chosen.redis_url is None:
            raise InstanceError("The servers have not started.")
        told = Instance(
            pid=os.getpid(),
            started_at=self._started_at,
            ready=self._ready,
            api_url=f"http://{_in_url(reachable(chosen.host))}:{chosen.port}",
            database_url=chosen.database_url.get_secret_value(),
            redis_url=chosen.redis_url.get_secret_value(),
            children={
                one.name: {"pid": one.child.pid, "restarts": one.restarts} for one in self._watched
            },
        )
        instance.write(self._home, told)
        return told

    # --- while it runs

    def _look_after(self) -> None:
        """One turn of the loop: start what has died, show logs, wait for a moment."""
        started = [one.look(at_start=not self._ready) for one in self._watched]
        if any(started) and self._ready:
            self._tell()
        self._logs.look()
        self._pause()

    # --- end

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_requests += 1

    def _on_child(self, _number: int, _frame: FrameType | None) -> None:
        """Nothing: that a signal came is enough to end the pause."""

    def _pause(self) -> None:
        """Wait for a signal, and no longer than a tick."""
        if select.select([self._signals], [], [], TICK_S)[0]:
            os.read(self._signals, 4096)

    def _stop(self) -> None:
        """Front door and scheduler first, then the workers, then the servers."""
        children = [watched.child for watched in self._watched]
        for rank in sorted({child.program.rank for child in children}, reverse=True):
            self._stop_together([child for child in children if child.program.rank == rank])
        self._logs.look()
        (self._home / "instance.json").unlink(missing_ok=True)
        log.info("stopped")

    def _stop_together(self, children: Sequence[Child]) -> None:
        asked_before = self._stop_requests
        asked_at = time.monotonic()
        for child in children:
            child.signal(child.program.stop_signal)
        alive = [child for child in children if child.running()]
        while alive:
            for child in alive:
                impatient = self._stop_requests > max(asked_before, 1)
                if impatient or time.monotonic() - asked_at > child.program.grace_s:
                    log.warning("child_killed", child=child.program.name)
                    child.kill()
            self._logs.look()
            self._pause()
            alive = [child for child in alive if child.running()]
        for child in children:
            child.kill()  # what it left of its own children


def end_orphans(home: Path) -> bool:
    """End the workers that a killed supervisor of ``home`` left; whether there were any.

    The lock must be held. The servers end their own, since only they know how.
    """
    left = processes.marked(home, but=("postgres", "valkey-server"))
    if left:
        log.warning("ending_processes_left_behind", count=len(left))
        processes.end(left, signal.SIGQUIT, 2)
    return bool(left)


def reachable(host: str) -> str:
    """An address of this machine at which a server that listens on ``host`` is reached."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
