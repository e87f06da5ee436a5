"""``lastro demo``: the whole way, from a content folder to answers and a refusal."""

from __future__ import annotations


def demo() -> None:
    """Later."""
