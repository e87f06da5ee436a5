"""YAML front matter: metadata between two lines of ``---`` at the very start of a file."""

from __future__ import annotations

import datetime
import re
from typing import Any

import yaml

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def split(text: str) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """(metadata, body, warnings) of normalised ``text``.

    Metadata is JSON-safe: dates become ISO strings. Front matter that is no YAML mapping costs a
    warning, never the body.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, text, ()
    body = text[match.end() :]
    try:
        loaded = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        problem = str(getattr(error, "problem", None) or error)
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 2})" if mark is not None else ""
        return {}, body, (f"The front matter is not valid YAML{line}: {problem}.",)
    if loaded is None:
        return {}, body, ()
    if not isinstance(loaded, dict):
        # Two rules around a paragraph, for instance: this is text.
        return {}, text, ()
    return {str(key): _plain(value) for key, value in loaded.items()}, body, ()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return str(value)
