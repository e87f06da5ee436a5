"""What a run would do: the content folder against the live index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.db import content, quarantine, runs
from pipeline.db.engine import transaction
from pipeline.ingestion import sync
from pipeline.settings import settings
from pipeline.types import Track
from pipeline.worker import parsing


def find(live_id: int | None, run: Mapping[str, Any]) -> sync.Plan:
    """The plan of ``run``, a row of ``ingest_runs`` or the values for one.

    Raises what ``sync.plan`` does, and NotFoundError for the retry of a run that is not there.
    """
    workspace, retry_of = run["workspace"], run["retry_of"]
    with transaction() as conn:
        known = content.known(conn, workspace, live_id)
        held_back = quarantine.held(conn, workspace)
        only = runs.failed_files(conn, workspace, retry_of) if retry_of else None
    return sync.plan(
        Path(run["root"]),
        track=Track(run["track"]) if run["track"] else None,
        prefix=run["prefix"],
        known={path: sync.KnownFile(file.content_hash, file.track) for path, file in known.items()},
        force=run["force"] or retry_of is not None,
        follow_links=settings().follow_links,
        supported=parsing.parsers().supported,
        quarantined={path: sync.Quarantined(*entry) for path, entry in held_back.items()},
        allow_removals=run["allow_removals"],
        only=only,
    )
