"""What models want before a text."""

from __future__ import annotations

import re

from pipeline.settings import Settings

_E5 = ("query: ", "passage: ")
_E5_NAME = re.compile(r"(?:^|[-_/])e5(?:[-_](?!.*instruct)|$)")


def prefixes(
    model: str, settings: Settings, prompts: tuple[str, str] = ("", "")
) -> tuple[str, str]:
    """(query prefix, passage prefix) of ``model``: the settings', else ``prompts``, its own.

    The E5 family was trained with ``query: `` and ``passage: `` (Wang et al. 2022, section 3) and
    mostly doesn't say so in its files; its instruct models are another matter.
    """
    query, passage = prompts
    if not any(prompts) and _E5_NAME.search(model.lower()):
        query, passage = _E5
    if settings.embedder_query_prefix is not None:
        query = settings.embedder_query_prefix
    if settings.embedder_passage_prefix is not None:
        passage = settings.embedder_passage_prefix
    return query, passage
