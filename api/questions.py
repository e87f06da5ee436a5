"""A question's way through the record, as the routes of chat, ask and search share it."""

from __future__ import annotations

from uuid import UUID, uuid4

import anyio
from starlette.requests import Request
from starlette.responses import Response

from api.operations import answer
from api.problems import Problem
from api.record import look, record
from api.requests import ChatRequest
from api.schemas import JobAccepted
from api.waiting import Endings
from pipeline.db import jobs
from pipeline.db.jobs import JobView
from pipeline.db.keys import ApiKey
from pipeline.errors import NotFoundError
from pipeline.types import ENDED, Stage

POLL_S = 1
"""What a client that polls is told to wait."""


async def submit(request: Request, key: ApiKey, body: ChatRequest) -> JobAccepted:
    """Record the question. Raises QueueFullError."""
    if "idempotency-key" in request.headers:
        raise Problem(422, "invalid", "Idempotency-Key is not supported yet: leave it out.")
    session_id = body.session_id or str(uuid4())
    job_id = await submit_as(key, "chat", body.message, session_id)
    return JobAccepted(job_id=job_id, session_id=session_id, status="queued")


async def submit_as(key: ApiKey, kind: str, question: str, session_id: str | None) -> UUID:
    """Record a job of ``kind`` and tell the workers. Raises QueueFullError."""
    return await record(
        lambda conn: jobs.submit(
            conn,
            workspace=key.workspace,
            session_id=session_id,
            question=question,
            kind=kind,
        ),
        Stage.EMBED_QUERY,
    )


def accepted(job: JobAccepted) -> Response:
    """202: where to look, and when."""
    headers = {"Location": f"/chat/status/{job.job_id}", "Retry-After": str(POLL_S)}
    return answer(job, 202, headers)


def job_id_of(request: Request) -> UUID:
    """The id in the path. Raises NotFoundError for what is no id: there is no such job."""
    name = request.path_params["job_id"]
    try:
        return UUID(name)
    except ValueError:
        raise NotFoundError(f"There is no job {name}.") from None


async def view(key: ApiKey, job_id: UUID, kind: str = "chat") -> JobView:
    """The job as it is now. Raises NotFoundError and GoneError."""
    found = await look(lambda conn: jobs.view(conn, key.workspace, job_id))
    if found.kind != kind:
        raise NotFoundError(f"There is no job {job_id}.")
    return found


async def settled(
    request: Request, key: ApiKey, job_id: UUID, wait_s: float, kind: str = "chat"
) -> JobView:
    """The job at its end, or as it is after ``wait_s``. Raises NotFoundError and GoneError."""
    endings: Endings = request.state.endings
    with endings.watch(job_id) as ended:
        found = await view(key, job_id, kind)
        if found.status in ENDED or not wait_s:
            return found
        with anyio.move_on_after(wait_s):
            await ended.wait()
    return await view(key, job_id, kind)
