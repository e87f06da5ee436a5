"""What models want before a text."""

from __future__ import annotations

from pipeline.settings import Settings

_E5 = ("query: ", "passage: ")


def prefixes(model: str, settings: Settings) -> tuple[str, str]:
    """(query prefix, passage prefix) of ``model``; the settings come first.

    The E5 family was trained with ``query: `` and ``passage: `` (Wang et al. 2022, section 3); its
    instruct models and other families have none that could be told from the name.
    """
    name = model.lower().rpartition("/")[2]
    e5 = ("e5-" in name or name.endswith("e5")) and "instruct" not in name
    query, passage = _E5 if e5 else ("", "")
    if settings.embedder_query_prefix is not None:
        query = settings.embedder_query_prefix
    if settings.embedder_passage_prefix is not None:
        passage = settings.embedder_passage_prefix
    return query, passage
