"""What an instance keeps under ``LASTRO_HOME``, and how commands find it.

=================== ====================================================================
``lock``            held by the supervisor for its whole life; its text is the process id
``instance.json``   URLs and children of the running instance (mode 600)
``credentials.json`` passwords of the two servers (mode 600)
``api-key``         key of the ``lastro`` commands (mode 600)
``postgres/``       data of PostgreSQL
``valkey/``         data and configuration of Valkey
``logs/``           one file per child, and the supervisor's
=================== ====================================================================
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from pipeline.errors import InstanceError
from pipeline.settings import Settings

LOCK_PATIENCE_S = 1.0
"""A command that looks whether an instance runs holds the lock for a moment."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running instance. ``children`` maps a name to its ``pid`` and number of ``restarts``."""

    pid: int
    started_at: str  # ISO 8601, UTC
    ready: bool
    api_url: str
    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    children: Mapping[str, Mapping[str, Any]]


def home_of(settings: Settings) -> Path:
    """The instance's folder, absolute, without links."""
    return settings.home.expanduser().resolve()


def make_home(settings: Settings) -> Path:
    """The instance's folder, made when missing, closed to others.

    Raises InstanceError when it can't be made or written.
    """
    home = home_of(settings)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / "logs").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InstanceError(
            f"LASTRO_HOME={home} can't be used ({error.strerror}): set it to a folder of yours."
        ) from error
    return home


@contextmanager
def lock(home: Path) -> Iterator[None]:
    """Be the one supervisor of ``home``. Raises InstanceError that says which process is."""
    with (home / "lock").open("a+") as file:
        deadline = time.monotonic() + LOCK_PATIENCE_S
        while not _locked(file.fileno(), fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise InstanceError(
                    f"An instance runs in {home} already (process {holder(home)}):"
                    " `lastro down` ends it, another LASTRO_HOME makes a second one."
                )
            time.sleep(0.05)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def holder(home: Path) -> int | None:
    """Process id of the supervisor that runs in ``home``, None when there is none."""
    try:
        with (home / "lock").open() as file:
            if _locked(file.fileno(), fcntl.LOCK_SH):
                return None
            return int(file.read() or 0)
    except FileNotFoundError:
        return None


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_private(path: Path, text: str) -> None:
    """Put ``text`` in place of ``path``, whole or not at all, readable by the owner alone."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)


def credentials(home: Path) -> dict[str, str]:
    """The passwords of the servers, by server; made at the first call."""
    path = home / "credentials.json"
    if not path.exists():
        made = {name: secrets.token_urlsafe(32) for name in ("postgres", "valkey")}
        write_private(path, json.dumps(made))
    found: dict[str, str] = json.loads(path.read_text())
    return found


def write(home: Path, instance: Instance) -> None:
    """Tell the commands about the running instance."""
    write_private(home / "instance.json", json.dumps(asdict(instance), indent=1))


def running(home: Path) -> Instance | None:
    """The instance that runs in ``home`` and has told its URLs; None otherwise."""
    pid = holder(home)
    if pid is None:
        return None
    try:
        found = Instance(**json.loads((home / "instance.json").read_text()))
    except FileNotFoundError:
        return None
    return found if found.pid == pid else None


def api_key(home: Path) -> str | None:
    """The key that the first start kept for the commands."""
    path = home / "api-key"
    return path.read_text().strip() if path.exists() else None


def connect(settings: Settings) -> Settings:
    """``settings`` with what is not set taken from the running instance of ``LASTRO_HOME``.

    Raises InstanceError when there is none and the servers' URLs are not both set.
    """
    home = home_of(settings)
    instance = running(home)
    if instance is None:
        if settings.database_url is not None and settings.redis_url is not None:
            return settings
        raise InstanceError(
            f"No instance runs in {home}: start one with `lastro up`, or set LASTRO_DATABASE_URL"
            " and LASTRO_REDIS_URL."
        )
    key = api_key(home)
    return settings.model_copy(
        update={
            "home": home,
            "database_url": settings.database_url or SecretStr(instance.database_url),
            "redis_url": settings.redis_url or SecretStr(instance.redis_url),
            "api_url": settings.api_url or instance.api_url,
            "api_key": settings.api_key or (SecretStr(key) if key else None),
        }
    )
