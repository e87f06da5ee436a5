"""``/chat``: a question now, its answer later."""

from __future__ import annotations

from starlette.responses import Response

from api.operations import Call, answer, keyed, validated
from api.questions import accepted, job_id_of, settled, submit, view
from api.record import in_transaction
from api.requests import ChatRequest, Nothing, Session, StatusQuery
from api.schemas import ChatStatus, JobAccepted
from pipeline.db import jobs, sessions


@keyed(
    "POST",
    "/chat",
    scope="chat",
    query=Nothing,
    body=ChatRequest,
    answers={202: JobAccepted},
    problems=(429,),
)
async def post_chat(call: Call[Nothing, ChatRequest]) -> Response:
    """Ask a question.

    It is recorded and answered in the background: nothing that restarts loses it. `callback_url`,
    `metadata`, `deadline_s` and the header `Idempotency-Key` are refused with 422: this version
    does not have them.
    """
    return accepted(await submit(call.request, call.key, call.body))


@keyed(
    "GET",
    "/chat/status/{job_id}",
    scope="chat",
    query=StatusQuery,
    body=Nothing,
    answers={200: ChatStatus},
    problems=(404, 410),
)
async def get_chat_status(call: Call[StatusQuery, Nothing]) -> Response:
    """Where a question stands, and its answer.

    With `wait` the answer comes as soon as the job ends, at the latest after that many seconds.
    404: no such job, or not this workspace's. 410: its answer has expired.
    """
    job_id = job_id_of(call.request)
    return answer(ChatStatus.of(await settled(call.request, call.key, job_id, call.query.wait)))


@keyed(
    "DELETE",
    "/chat/jobs/{job_id}",
    scope="chat",
    query=Nothing,
    body=Nothing,
    answers={204: None},
    problems=(404, 410),
)
async def delete_chat_job(call: Call[Nothing, Nothing]) -> Response:
    """Cancel a question, wherever it is.

    A job that has ended stays as it is.
    """
    job = await view(call.key, job_id_of(call.request))
    await in_transaction(lambda conn: jobs.cancel(conn, call.key.workspace, job.id))
    return Response(status_code=204)


@keyed(
    "DELETE",
    "/chat/{session_id}",
    scope="chat",
    query=Nothing,
    body=Nothing,
    answers={204: None},
)
async def delete_chat(call: Call[Nothing, Nothing]) -> Response:
    """Forget a conversation: its history is deleted and its unfinished questions are cancelled.

    204 also when there was none: it is gone either way.
    """
    session = validated(Session, call.request.path_params)
    await in_transaction(lambda conn: sessions.forget(conn, call.key.workspace, session.session_id))
    return Response(status_code=204)


OPERATIONS = (post_chat, get_chat_status, delete_chat_job, delete_chat)
