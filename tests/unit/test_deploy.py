"""The Compose files, the Dockerfiles and .env.example: what can be known without an engine."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shlex
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pipeline.settings import PREFIX, Settings, known_variables, load
from pipeline.worker.commands import ROLES

ROOT = Path(__file__).parents[2]
FILES = {"cpu": ["compose.yaml"], "gpu": ["compose.yaml", "compose.gpu.yaml"]}
GIVEN = {
    "POSTGRES_PASSWORD": "p1",
    "REDIS_PASSWORD": "p2",
    "LASTRO_FLOWER_LOGIN": "ops:p3",
    "VLLM_API_KEY": "p4",
}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<mark>[?-])(?P<rest>[^}]*))?\}")
SECRET = re.compile(r"PASSWORD|KEY|LOGIN|TOKEN|SECRET")


def source(name: str) -> str:
    return (ROOT / name).read_text()


def compose(name: str) -> dict[str, Any]:
    """A Compose file with its variables put in: GIVEN, else the default."""

    def value(found: re.Match[str]) -> str:
        given = GIVEN.get(found["name"])
        assert given is not None or found["mark"] == "-", f"{found[0]} has no value"
        return given if given is not None else found["rest"]

    text = "\n".join(
        line for line in source(name).splitlines() if not line.lstrip().startswith("#")
    )
    loaded: dict[str, Any] = yaml.safe_load(VARIABLE.sub(value, text))
    return loaded


def merge(base: Any, over: Any, key: str = "") -> Any:
    """As Compose merges files: mappings by key, lists one after the other, commands replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {
            name: merge(base[name], value, name) if name in base else value
            for name, value in over.items()
        }
    if isinstance(base, list) and isinstance(over, list) and key not in {"command", "test"}:
        return base + over
    return over


@pytest.fixture(params=FILES)
def project(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each deployment as Compose sees it."""
    merged: dict[str, Any] = {}
    for name in FILES[request.param]:
        merged = merge(merged, compose(name))
    return merged


@pytest.fixture
def services(project: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = project["services"]
    return found


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    lines = [line for line in source(dockerfile).splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [
        (word.upper(), rest.strip())
        for word, _, rest in (line.partition(" ") for line in whole.splitlines() if line)
    ]


def image_environment(dockerfile: str) -> dict[str, str]:
    """What the last stage of a Dockerfile puts into the environment."""
    found: dict[str, str] = {}
    for word, rest in instructions(dockerfile):
        if word == "FROM":
            found = {}
        if word == "ENV":
            found |= dict(pair.split("=", 1) for pair in shlex.split(rest))
    return found


def lastro(environment: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in environment.items() if name.startswith(PREFIX)}


def is_one_shot(name: str, services: dict[str, dict[str, Any]]) -> bool:
    return any(
        service.get("depends_on", {}).get(name, {}).get("condition")
        == "service_completed_successfully"
        for service in services.values()
    )


def health_command(service: dict[str, Any]) -> str | None:
    """What tells that a container is well: the service's own, or its image's."""
    stated = service.get("healthcheck", {})
    if stated.get("disable"):
        return None
    if "test" in stated:
        return " ".join(stated["test"])
    if "build" not in service:
        return None
    return dict(instructions(service["build"]["dockerfile"])).get("HEALTHCHECK")


@pytest.mark.parametrize("name", ["compose.yaml", "compose.gpu.yaml"])
def test_each_file_follows_the_compose_specification(name: str) -> None:
    jsonschema.validate(compose(name), specification())


def test_the_deployment_follows_the_compose_specification(project: dict[str, Any]) -> None:
    jsonschema.validate(project, specification())


def specification() -> Any:
    folder = resources.files("check_jsonschema.builtin_schemas.vendor")
    return json.loads((folder / "compose-spec.json").read_text())


def test_secrets_are_asked_for_and_have_no_default() -> None:
    seen = set()
    for name in FILES["gpu"]:
        for found in VARIABLE.finditer(source(name)):
            if SECRET.search(found["name"]):
                seen.add(found["name"])
                assert found["mark"] == "?", f"{name}: {found[0]}"
                assert found["rest"], f"{name}: {found[0]} says nothing to who forgot it"
    assert seen == set(GIVEN)


def test_every_variable_of_the_compose_files_is_in_the_example() -> None:
    listed = set(re.findall(r"^#?(\w+)=", source(".env.example"), re.MULTILINE))
    for name in FILES["gpu"]:
        assert {found["name"] for found in VARIABLE.finditer(source(name))} <= listed


def test_the_example_is_what_the_settings_say() -> None:
    made = runpy.run_path(str(ROOT / "scripts/env_example.py"))["render"]()
    assert source(".env.example") == made, "run scripts/env_example.py > .env.example"


def test_the_example_lists_every_setting_with_its_default_and_is_all_off() -> None:
    pairs = re.findall(r"^#?(LASTRO_\w+)=(.*)$", source(".env.example"), re.MULTILINE)
    assert sorted(name for name, _ in pairs) == sorted(known_variables())
    assert load(dict(pairs)) == Settings()
    switched_on = re.findall(r"^(\w+)=(.+)$", source(".env.example"), re.MULTILINE)
    assert switched_on == []


def test_every_setting_is_described() -> None:
    assert [name for name, text in known_variables().items() if not text] == []


def test_services_get_settings_that_load(services: dict[str, dict[str, Any]]) -> None:
    ours = {name: service for name, service in services.items() if "build" in service}
    assert len(ours) == 6
    for service in ours.values():
        environment = image_environment(service["build"]["dockerfile"]) | service["environment"]
        settings = load(lastro(environment))
        assert settings.database_url is not None
        assert settings.redis_url is not None
        assert settings.content_dir == Path("/content")


def test_models_on_the_gpu_are_the_intended_ones() -> None:
    gpu = compose("compose.gpu.yaml")["services"]
    worker = load(lastro(gpu["worker-inference"]["environment"]))
    ingest = load(lastro(gpu["worker-ingest"]["environment"]))
    identity = ("embedder", "embedder_model", "embedder_revision", "embedder_dimension")
    assert [getattr(worker, name) for name in identity] == [
        getattr(ingest, name) for name in identity
    ]
    assert (worker.embedder_model, worker.embedder_dimension) == ("BAAI/bge-m3", 1024)
    assert (worker.reranker_model, worker.cut_skill, worker.cut_document) == (
        "BAAI/bge-reranker-v2-m3",
        0.55,
        0.55,
    )
    assert worker.generator_url == "http://vllm:8000/v1"
    assert f"--model={worker.generator_model}" in gpu["vllm"]["command"]
    assert f"--max-model-len={worker.generator_window}" in gpu["vllm"]["command"]
    assert worker.generator_model == "Qwen/Qwen2.5-14B-Instruct"
    assert (worker.temperature, worker.top_p, worker.top_k, worker.repetition_penalty) == (
        0.7,
        0.8,
        20,
        1.05,
    )


def test_images_are_pinned(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        name, _, tag = service["image"].partition(":")
        if "build" in service:
            assert (name.startswith("lastro-"), tag) == (True, "local")
        else:
            assert re.search(r"\d+\.\d+\.\d+", tag), service["image"]
    for dockerfile in ("Dockerfile.api", "Dockerfile.worker"):
        found = instructions(dockerfile)
        assert re.fullmatch(r"BASE=python:3\.11\.\d+-slim-bookworm", dict(found[:1])["ARG"])
        assert {rest.split()[0] for word, rest in found if word == "FROM"} == {"${BASE}"}


def test_every_service_tells_whether_it_is_well(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert (health_command(service) is None) == is_one_shot(name, services), name


def test_dependencies_exist_and_can_come_true(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        for name, wish in service.get("depends_on", {}).items():
            if wish["condition"] == "service_healthy":
                assert health_command(services[name])
            else:
                assert services[name]["restart"].startswith("on-failure")


def test_volumes_and_networks_are_declared(project: dict[str, Any]) -> None:
    for service in project["services"].values():
        assert set(service["networks"]) <= {"default", *project["networks"]}
        named = {volume.split(":")[0] for volume in service.get("volumes", [])} - {"./content"}
        assert named <= set(project["volumes"])


def test_processes_are_the_ones_that_the_code_knows(services: dict[str, dict[str, Any]]) -> None:
    roles = set()
    for service in services.values():
        if "build" not in service or "entrypoint" in service:
            continue
        image = dict(instructions(service["build"]["dockerfile"]))
        assert json.loads(image["ENTRYPOINT"]) == ["python", "-m", "pipeline.worker.commands"]
        (role,) = service.get("command", json.loads(image["CMD"]))
        health = health_command(service) or ""
        roles.add(role)
        if role in {"inference", "ingest", "scheduler"}:
            assert re.search(rf"pipeline\.worker\.health\W+{role}\b", health)
    assert roles == set(ROLES)
    module = services["migrate"]["entrypoint"]
    assert module[:2] == ["python", "-m"]
    assert importlib.util.find_spec(module[2])


def test_a_worker_has_time_to_end_its_job(services: dict[str, dict[str, Any]]) -> None:
    for name in ("worker-ingest", "worker-inference"):
        grace = services[name]["stop_grace_period"]
        assert grace.endswith("s")
        assert float(grace[:-1]) > Settings().shutdown_s


def test_only_the_front_doors_are_published_and_on_loopback(
    services: dict[str, dict[str, Any]], project: dict[str, Any]
) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"api": ["127.0.0.1:8000:8000"], "flower": ["127.0.0.1:5555:5555"]}
    assert "127.0.0.1:${FLOWER_PORT" in source("compose.yaml"), "no variable opens the dashboard"
    assert project["networks"]["stores"]["internal"] is True
    assert [services[name]["networks"] for name in ("postgres", "redis")] == [["stores"]] * 2


def test_our_containers_can_write_nothing_but_their_volumes(
    services: dict[str, dict[str, Any]],
) -> None:
    for service in services.values():
        if "build" not in service:
            continue
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        image = dict(instructions(service["build"]["dockerfile"]))
        assert image["USER"].split(":")[0].isdecimal()
        assert int(image["USER"].split(":")[0]) > 0
        assert image["STOPSIGNAL"] == "SIGTERM"
        for volume in service.get("volumes", []):
            assert "/content" not in volume or volume.endswith(":ro")


def test_redis_keeps_every_message(services: dict[str, dict[str, Any]]) -> None:
    command = " ".join(services["redis"]["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command
    assert "--requirepass p2" in command
