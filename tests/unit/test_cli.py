"""The command line from outside, as far as it needs no instance."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def lastro(
    *arguments: str, cwd: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", *arguments],
        env={"PATH": "/usr/bin:/bin", **settings},
        capture_output=True,
        text=True,
        cwd=cwd,
    )


@pytest.mark.parametrize(
    "command",
    ["up", "down", "status", "ingest", "reindex", "ask", "search", "report", "eval", "keys"],
)
def test_every_command_explains_itself(command: str) -> None:
    assert f"  {command} " in lastro("--help").stdout
    assert "Usage:" in lastro(command, "--help").stdout


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from pipeline.cli import main;"
        " print({name.partition('.')[0] for name in sys.modules}"
        " & {'pydantic', 'sqlalchemy', 'celery', 'httpx', 'numpy', 'structlog', 'psycopg'})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("ask",), ("search", "x", "-k", "0"), ("up", "--port", "70000")]
)
def test_wrong_usage_is_status_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = lastro(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr


@pytest.mark.parametrize("command", [("status",), ("ask", "x"), ("search", "x"), ("keys", "list")])
def test_without_an_instance_the_error_is_one_line_that_says_what_to_do(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = lastro(*command, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: No instance runs in {tmp_path / '.lastro'}: start one")
    assert done.stderr.count("\n") == 1


def test_down_without_an_instance_is_no_failure(tmp_path: Path) -> None:
    done = lastro("down", cwd=tmp_path)
    assert done.returncode == 0
    assert "No instance runs in" in done.stdout


def test_a_misspelt_setting_is_named(tmp_path: Path) -> None:
    done = lastro("status", cwd=tmp_path, LASTRO_HOM="x")
    assert done.returncode == 1
    assert "Unknown setting LASTRO_HOM. Did you mean LASTRO_HOME?" in done.stderr


def test_an_api_that_does_not_answer_is_named(tmp_path: Path) -> None:
    done = lastro("ask", "x", cwd=tmp_path, LASTRO_API_URL="http://127.0.0.1:9", LASTRO_API_KEY="k")
    assert done.returncode == 1
    assert done.stderr.startswith("error: http://127.0.0.1:9 does not answer: ")


def test_a_missing_content_folder_is_named(tmp_path: Path) -> None:
    done = lastro("ingest", cwd=tmp_path)
    assert done.returncode == 1
    assert f"There is no folder {tmp_path / 'content'}" in done.stderr
