"""YAML front matter: metadata between two lines of ``---`` at the very start of a file."""

from __future__ import annotations

import re
from typing import Any

from pipeline.text import safe_yaml

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def split(text: str) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """(metadata, body, warnings) of normalised ``text``.

    Metadata is JSON-safe: dates become ISO strings. Front matter that can't be read costs a
    warning, never the body.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, text, ()
    body = text[match.end() :]
    try:
        loaded = safe_yaml.load(match[1], first_line=2)
    except safe_yaml.InvalidYamlError as error:
        return {}, body, (f"The front matter is not valid YAML: {error}.",)
    if loaded is None:
        return {}, body, ()
    if not isinstance(loaded, dict):
        # Two rules around a paragraph, for instance: this is text.
        return {}, text, ()
    return loaded, body, ()
