"""A parsed document as JSON: how it crosses a pipe, and how it is kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pipeline.types import Document, Track


def as_json(document: Document) -> dict[str, Any]:
    """``document`` as plain values."""
    return asdict(document)


def document(values: dict[str, Any]) -> Document:
    """What ``as_json`` was given. Raises TypeError or KeyError for anything else."""
    lists = {name: tuple(values[name]) for name in ("triggers", "lost", "warnings")}
    return Document(**values | lists | {"track": Track(values["track"])})
