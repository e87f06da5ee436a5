"""``/ask``: a question and its answer in one call."""

from __future__ import annotations

from starlette.responses import Response

from api.operations import Call, answer, keyed
from api.questions import accepted, settled, submit
from api.requests import AskQuery, AskRequest
from api.schemas import ChatStatus, JobAccepted
from pipeline.settings import settings
from pipeline.types import ENDED


@keyed(
    "POST",
    "/ask",
    scope="chat",
    query=AskQuery,
    body=AskRequest,
    answers={200: ChatStatus, 202: JobAccepted},
    problems=(429,),
)
async def post_ask(call: Call[AskQuery, AskRequest]) -> Response:
    """Ask a question and wait for its answer.

    202 when it takes longer than `wait`, which may stand in the body or in the query: the answer
    will be at `Location`.
    """
    said = (call.body.wait, call.query.wait, settings().ask_wait_s)
    wait_s = next(wait for wait in said if wait is not None)
    job = await submit(call.request, call.key, call.body)
    found = await settled(call.request, call.key, job.job_id, wait_s)
    return answer(ChatStatus.of(found)) if found.status in ENDED else accepted(job)


OPERATIONS = (post_ask,)
