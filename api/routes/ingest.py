"""``/ingest``: bring the index up to date with the content folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

from starlette.responses import Response

from api.operations import Call, answer, keyed
from api.record import look, record
from api.requests import IngestRequest, Nothing
from api.schemas import IngestAccepted, IngestRun
from pipeline.db import runs
from pipeline.errors import ForbiddenPathError, NotFoundError
from pipeline.settings import settings
from pipeline.types import Stage, Track


@keyed(
    "POST",
    "/ingest",
    scope="ingest",
    query=Nothing,
    body=IngestRequest,
    answers={202: IngestAccepted},
    problems=(404,),
)
async def post_ingest(call: Call[Nothing, IngestRequest]) -> Response:
    """Ingest the content folder, or a part of it.

    New and changed files are read, removed ones are removed from the index, unchanged ones are
    left alone.
    """
    body = call.body
    prefix = _inside(body.path)
    if body.retry:
        retry = body.retry
        await look(lambda conn: runs.failed_files(conn, call.key.workspace, retry))
    return await accepted(
        call.key.workspace,
        prefix=prefix,
        track=Track(body.track) if body.track else None,
        force=body.force,
        allow_removals=body.allow_removals,
        retry_of=body.retry,
    )


async def accepted(workspace: str, **order: Any) -> Response:
    """Record a run of the content folder, see ``runs.start``, and tell where to look for it."""
    root = str(content_folder())
    run_id = await record(
        lambda conn: runs.start(conn, workspace=workspace, root=root, **order), Stage.PLAN
    )
    headers = {"Location": f"/ingest/{run_id}", "Retry-After": "1"}
    return answer(IngestAccepted(run_id=run_id, status="queued"), 202, headers)


def content_folder() -> Path:
    """The content folder, as this process and the ingest workers see it."""
    return settings().content_dir.expanduser().resolve()


@keyed(
    "GET",
    "/ingest/{run_id}",
    scope="ingest",
    query=Nothing,
    body=Nothing,
    answers={200: IngestRun},
    problems=(404,),
)
async def get_ingest(call: Call[Nothing, Nothing]) -> Response:
    """How an ingest run goes: counts, and a reason for each file that failed or was skipped."""
    name = call.request.path_params["run_id"]
    try:
        run_id = UUID(name)
    except ValueError:
        raise NotFoundError(f"There is no ingest run {name}.") from None
    view = await look(lambda conn: runs.view(conn, call.key.workspace, run_id))
    return answer(IngestRun.of(view))


def _inside(path: str) -> str:
    """``path`` in its plain form, "" for the whole folder.

    Raises ForbiddenPathError when it can't be inside. Links are the ingest worker's to judge: only
    it is sure to see the folder.
    """
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or "\\" in path or not path.isprintable():
        raise ForbiddenPathError(
            "path must lead into the content folder, like documents/faq.md: "
            "no leading /, no .. and no backslash."
        )
    return "" if place == PurePosixPath() else str(place)


OPERATIONS = (post_ingest, get_ingest)
