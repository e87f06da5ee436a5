"""What stands in a log line, and what never does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import logging, structlog
from pipeline import logs
logging.getLogger("celery").addHandler(logging.StreamHandler())
logs.configure()
logs.configure()
structlog.get_logger("pipeline.demo").info("asked", question="my PIN is 4321", job="j1")
logging.getLogger("celery").warning("lost %s", "connection")
logging.getLogger("uvicorn.access").info(
    '%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", "/search?q=my+PIN+is+4321", "1.1", 200
)
logging.getLogger("httpx").info("HTTP Request: GET http://x/?q=4321")
def fail(question):
    raise ValueError("broken")
try:
    fail("my PIN is 4321")
except ValueError:
    structlog.get_logger("pipeline.demo").exception("failed")
"""


@pytest.fixture
def lines() -> list[dict[str, object]]:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert ended.stdout == ""
    assert "4321" not in ended.stderr
    return [json.loads(line) for line in ended.stderr.splitlines()]


def test_each_event_is_one_json_line_on_stderr(lines: list[dict[str, object]]) -> None:
    assert [(line["event"], line["level"], line["logger"]) for line in lines] == [
        ("asked", "info", "pipeline.demo"),
        ("lost connection", "warning", "celery"),
        ("failed", "error", "pipeline.demo"),
    ]


def test_private_values_are_replaced_by_their_length(lines: list[dict[str, object]]) -> None:
    assert lines[0]["question"] == "<14 characters>"
    assert lines[0]["job"] == "j1"


def test_a_traceback_is_there_without_local_variables(lines: list[dict[str, object]]) -> None:
    assert "ValueError: broken" in str(lines[2]["exception"])
