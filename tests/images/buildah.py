"""Builds and runs images with buildah: no engine, no daemon, a store of its own.

The base image comes from a registry in production; here a Debian of the same release, made by
debootstrap, stands under its name. The first run keeps it in the user's cache.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.running import until

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lastro" / "images"
CERTIFICATES = Path("/etc/ssl/certs")
PACKAGES = "python3,python3-venv,ca-certificates"
BUILD_LIMIT_S = 900


def buildah(*arguments: str) -> list[str]:
    """The command line of buildah on our store."""
    store = CACHE / "store"
    places = ["--root", str(store / "root"), "--runroot", str(store / "run")]
    return ["buildah", *places, "--storage-driver", "vfs", *arguments]


def environment() -> dict[str, str]:
    return dict(os.environ) | {"BUILDAH_ISOLATION": "chroot"}


def call(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run buildah to its end."""
    done = subprocess.run(
        buildah(*arguments),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=BUILD_LIMIT_S,
    )
    assert not check or done.returncode == 0, f"{arguments}: {done.stdout[-4000:]}{done.stderr}"
    return done


def make_base() -> None:
    """The image that the Dockerfiles build on, unless the cache has it."""
    for tool in ("buildah", "debootstrap"):
        assert shutil.which(tool), f"{tool} is missing: apt-get install buildah debootstrap"
    found = re.search(r"^ARG BASE=(\S+?-slim-(\w+))$", (ROOT / "Dockerfile.api").read_text(), re.M)
    assert found
    name, release = f"docker.io/library/{found[1]}", found[2]
    if call("images", "--quiet", name, check=False).stdout.strip():
        return
    folder = Path(tempfile.mkdtemp(prefix="lastro-base-"))
    try:
        subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", release, str(folder)],
            check=True,
            timeout=BUILD_LIMIT_S,
        )
        for left in ("var/cache/apt/archives", "var/lib/apt/lists"):
            shutil.rmtree(folder / left)
        container = call("from", "scratch").stdout.strip()
        call("add", "--quiet", container, str(folder), "/")
        call("commit", "--quiet", "--rm", container, name)
    finally:
        shutil.rmtree(folder)


def build(dockerfile: str, tag: str) -> None:
    """Build an image from the working tree.

    The host's certificates are mounted for the installer, for networks that have their own.
    """
    own = os.environ.get("PIP_CONFIG_FILE")
    options = Path(own) if own else CACHE / "pip.conf"
    if not own:
        options.write_text(f"[global]\ncert = {CERTIFICATES}/ca-certificates.crt\n")
    mounts = {CERTIFICATES: CERTIFICATES, options: Path("/etc/pip.conf")}
    call(
        *("build", "--pull-never", "--format", "docker"),
        *(f"--volume={here}:{there}:ro" for here, there in mounts.items()),
        *("--file", str(ROOT / dockerfile), "--tag", tag, str(ROOT)),
    )


def configuration(tag: str) -> dict[str, Any]:
    """What the image says about itself."""
    told = json.loads(call("inspect", "--type", "image", tag).stdout)
    config: dict[str, Any] = told["Docker"]["config"]
    return config


class Container:
    """A working container of an image, on the host's network."""

    def __init__(self, tag: str, settings: Mapping[str, str], content: Path) -> None:
        self.image = configuration(tag)
        self.id = call("from", "--pull-never", tag).stdout.strip()
        self._options = [
            f"--volume={content}:/content:ro",
            *(f"--env={name}={value}" for name, value in settings.items()),
        ]

    def command(
        self, arguments: Sequence[str], host: str, settings: Mapping[str, str]
    ) -> list[str]:
        extra = [f"--env={name}={value}" for name, value in settings.items()]
        return buildah(
            "run", f"--hostname={host}", *self._options, *extra, self.id, "--", *arguments
        )

    def run(
        self, *arguments: str, host: str = "once", **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in it to its end."""
        return subprocess.run(
            self.command(arguments, host, settings),
            env=environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )

    def remove(self) -> None:
        call("rm", self.id)


class Process:
    """The image's entry point in one role, as an engine starts it."""

    def __init__(self, container: Container, role: str, log: Path, **settings: str) -> None:
        self._container = container
        self._role = role
        self._settings = settings
        self._log = log
        argv = [*container.image["Entrypoint"], role]
        with log.open("w") as file:
            self._buildah = subprocess.Popen(
                container.command(argv, role, settings),
                env=environment(),
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.main = until(self._find, what=f"{role} starts")

    def _find(self) -> psutil.Process | None:
        """The process that is number 1 in an engine's container: the child of buildah's last."""
        self.look()
        for process in psutil.Process(self._buildah.pid).children(recursive=True):
            try:
                if process.cmdline()[:1] == ["buildah-chroot-exec"] and process.children():
                    return process.children()[0]
            except psutil.NoSuchProcess:
                continue
        return None

    def look(self) -> None:
        """Fail with the log when the process has ended."""
        assert self._buildah.poll() is None, f"{self._role} ended:\n{self.log()[-4000:]}"

    def log(self) -> str:
        return self._log.read_text()

    def users(self) -> set[int]:
        """The user numbers of the process and its children."""
        return {one.uids().real for one in (self.main, *self.main.children(recursive=True))}

    def healthy(self, test: Sequence[str] | None = None) -> bool:
        """Whether the health check says so: ``test``, or the image's own, in Compose's form."""
        self.look()
        kind, *words = test or self._container.image["Healthcheck"]["Test"]
        argv = words if kind == "CMD" else ["sh", "-c", *words]
        done = self._container.run(*argv, host=self._role, **self._settings)
        return done.returncode == 0

    def stop(self, grace_s: float) -> bool:
        """What an engine does to stop it. Fails when it has not ended within the grace.

        Whether it ended well: with status 0, or by the signal itself once it had cleaned up.
        """
        self.main.send_signal(signal.Signals[self._container.image["StopSignal"]])
        status = self._buildah.wait(timeout=grace_s)
        return status == 0 or "subprocess exited on terminated" in self.log()

    def end(self) -> None:
        """Kill what is left."""
        left = (
            psutil.Process(self._buildah.pid).children(recursive=True)
            if self._buildah.poll() is None
            else []
        )
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self._buildah.wait(timeout=30)
