"""``/documents``: put a file into the content folder, or take one out."""

from __future__ import annotations

from collections.abc import Collection

from anyio import to_thread
from starlette.responses import Response

from api.operations import FORM, Call, keyed
from api.record import look
from api.requests import Nothing, UploadRequest
from api.routes.ingest import accepted, content_folder
from api.schemas import IngestAccepted
from pipeline import formats
from pipeline.db import content
from pipeline.errors import ConflictError, NotFoundError
from pipeline.ingestion import store
from pipeline.settings import settings

UPLOADS = "/documents"

AROUND_BYTES = 10_000
"""What a form may have around its file."""


@keyed(
    "POST",
    UPLOADS,
    scope="ingest",
    query=Nothing,
    body=UploadRequest,
    answers={202: IngestAccepted},
    problems=(409, 415),
    media=FORM,
)
async def post_document(call: Call[Nothing, UploadRequest]) -> Response:
    """Upload a file into the content folder and ingest it.

    What is at its path is replaced. The run tells whether it could be read.
    """
    _refuse_foreign(call.key.workspace)
    body, limit = call.body, settings().max_file_bytes
    path = store.checked(body.path or f"documents/{body.file.filename}", _endings())

    def write() -> None:
        store.write(content_folder(), path, body.file.file, max_bytes=limit)

    await to_thread.run_sync(write)
    return await accepted(call.key.workspace, prefix=path)


@keyed(
    "DELETE",
    UPLOADS + "/{path:path}",
    scope="ingest",
    query=Nothing,
    body=Nothing,
    answers={202: IngestAccepted},
    problems=(404, 409, 415),
)
async def delete_document(call: Call[Nothing, Nothing]) -> Response:
    """Remove a file from the content folder and from the index."""
    workspace = call.key.workspace
    _refuse_foreign(workspace)
    path = store.checked(call.request.path_params["path"], _endings())
    try:
        await to_thread.run_sync(store.remove, content_folder(), path)
    except NotFoundError:
        # Its file is gone already: then its entry in the index goes too.
        if not await look(lambda conn: content.exists(conn, workspace, path)):
            raise
    return await accepted(workspace, prefix=path, allow_removals=True)


def _endings() -> Collection[str]:
    return formats.choices(settings().parsers)


def _refuse_foreign(workspace: str) -> None:
    own = settings().workspace
    if workspace != own:
        raise ConflictError(
            "The content folder of this server is another workspace's: put your files where your "
            "operator ingests them from."
        )


OPERATIONS = (post_document, delete_document)
