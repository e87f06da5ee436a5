"""Both images, built from the working tree, and every process of the deployment on real servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import psycopg
import pytest
import yaml

from pipeline.local import instance
from pipeline.local.ports import free_port
from tests.images import buildah
from tests.images.buildah import ROOT, Container, Process
from tests.running import until

SERVERS = """
from pipeline.local.supervisor import Supervisor
from pipeline.settings import settings
Supervisor(settings(), programs=lambda *_: []).run()
"""
SKILL = """\
---
name: login-bloqueado
description: Desbloquear o acesso de quem errou a senha várias vezes.
---
# Login bloqueado

## Quando usar
- Meu acesso está bloqueado
- Errei a senha e não consigo entrar

## Como fazer
1. Aguarde 30 minutos sem tentar entrar.
2. Depois toque em "Esqueci minha senha" e crie outra.
"""
DOCUMENT = """\
# Calendário

## Crédito dos pontos
Os pontos de cada mês são creditados até o dia 15 do mês seguinte.

## Validade
Os pontos valem por 24 meses.
"""
LOGIN = "ops:flower-login"


@dataclass
class Deployment:
    """What runs, and how to reach it."""

    api: Container
    worker: Container
    processes: dict[str, Process]
    url: str
    dashboard: str

    def key(self, name: str, *scopes: str) -> str:
        """An API key, made as operators do."""
        options = [f"--scope={scope}" for scope in scopes]
        done = self.api.run("lastro", "keys", "create", name, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def client(self, key: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"X-API-Key": key}, timeout=60)


@pytest.fixture(scope="session")
def images() -> Iterator[dict[str, str]]:
    """The tags of both images."""
    buildah.call("rm", "--all")  # what a run that was killed left behind
    buildah.make_base()
    tags = {name: f"localhost/lastro-{name}:test" for name in ("api", "worker")}
    for name, tag in tags.items():
        buildah.build(f"Dockerfile.{name}", tag)
    yield tags
    buildah.call("rmi", "--force", *tags.values())


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """PostgreSQL and Valkey of an embedded instance, with an empty database."""
    home = tmp_path_factory.mktemp("instance") / "home"
    own = {name: value for name, value in os.environ.items() if not name.startswith("LASTRO_")}
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SERVERS],
        env=own | {"LASTRO_HOME": str(home)},
        stderr=subprocess.DEVNULL,
    )
    try:
        told = until(lambda: instance.running(home), what="the servers run")
        with psycopg.connect(told.database_url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE images")
        yield {
            "LASTRO_DATABASE_URL": told.database_url.rpartition("/")[0] + "/images",
            "LASTRO_REDIS_URL": told.redis_url,
        }
    finally:
        supervisor.terminate()
        supervisor.wait(timeout=60)


@pytest.fixture(scope="session")
def deployment(
    images: dict[str, str], servers: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The services of compose.yaml, with its commands, started in its order."""
    folder = tmp_path_factory.mktemp("deployment")
    content = folder / "content"
    for name, text in {
        "skills/login-bloqueado/SKILL.md": SKILL,
        "documents/calendario.md": DOCUMENT,
    }.items():
        (content / name).parent.mkdir(parents=True)
        (content / name).write_text(text)
    for place in (content, *content.rglob("*"), *folder.parents[:2], folder):
        place.chmod(0o755 if place.is_dir() else 0o644)  # the images' user is another than ours
    port, flower_port = free_port(), free_port()
    settings = servers | {
        "LASTRO_HOST": "127.0.0.1",
        "LASTRO_PORT": str(port),
        "LASTRO_FLOWER_PORT": str(flower_port),
        "LASTRO_LOG_FORMAT": "json",
    }
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    with ExitStack() as stack:
        containers = {}
        for name, tag in images.items():
            containers[name] = Container(tag, settings, content)
            stack.callback(containers[name].remove)
        api, worker = containers["api"], containers["worker"]
        done = api.run(*services["migrate"]["entrypoint"])
        assert done.returncode == 0, done.stderr
        processes = {}
        for name in ("api", "worker-ingest", "worker-inference", "scheduler", "flower"):
            service = services[name]
            container = api if name == "api" else worker
            (role,) = service.get("command", container.image["Cmd"])
            extra = {"LASTRO_FLOWER_LOGIN": LOGIN} if name == "flower" else {}
            processes[name] = Process(container, role, folder / f"{name}.log", **extra)
            stack.callback(processes[name].end)
        for name, process in processes.items():
            test = services[name].get("healthcheck", {}).get("test")
            if name == "flower":
                test = [*test[:-1], test[-1].replace("5555", str(flower_port))]
            until(lambda p=process, t=test: p.healthy(t), limit_s=120, what=f"{name} is healthy")  # type: ignore[misc]
        yield Deployment(
            api,
            worker,
            processes,
            f"http://127.0.0.1:{port}",
            f"http://127.0.0.1:{flower_port}",
        )
