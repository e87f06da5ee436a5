"""YAML that other people wrote, as plain JSON values."""

from __future__ import annotations

import datetime
import math
from typing import Any

import yaml

from pipeline.text.normalise import normalise


class InvalidYamlError(ValueError):
    """The text is not YAML, or not YAML that can be taken from a stranger."""


class _Loader(yaml.SafeLoader):
    """Without aliases: a few lines of them can stand for gigabytes, or for themselves."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases (*name) are not read", problem_mark=self.get_mark()
            )
        return super().compose_node(parent, index)


def load(text: str, *, first_line: int = 1) -> Any:
    """The value of a YAML text: dates as ISO strings, strings in normal form, all JSON-safe.

    Raises InvalidYamlError with the line, counted from ``first_line``.
    """
    try:
        return _plain(yaml.load(text, _Loader))  # noqa: S506 - a safe loader's subclass
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + first_line}: " if error.problem_mark else ""
        raise InvalidYamlError(f"{line}{error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2026-02-30
        raise InvalidYamlError(str(error)) from None
    except RecursionError:
        raise InvalidYamlError("nested too deeply") from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {normalise(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date):  # datetime is one
        return value.isoformat()
    if value is None or isinstance(value, int):  # bool is one
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return normalise(str(value))
