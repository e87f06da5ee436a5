"""``/ask``: a question and its answer in one call."""

from __future__ import annotations

from starlette.responses import Response

from api.operations import Call, answer, keyed
from api.questions import accepted, settled, submit
from api.requests import AskRequest, Nothing
from api.schemas import ChatStatus, JobAccepted
from pipeline.settings import settings
from pipeline.types import ENDED


@keyed(
    "POST",
    "/ask",
    scope="chat",
    query=Nothing,
    body=AskRequest,
    answers={200: ChatStatus, 202: JobAccepted},
    problems=(429,),
)
async def post_ask(call: Call[Nothing, AskRequest]) -> Response:
    """Ask a question and wait for its answer.

    202 when it takes longer than `wait`: the answer will be at `Location`.
    """
    wait_s = settings().ask_wait_s if call.body.wait is None else call.body.wait
    job = await submit(call.request, call.key, call.body)
    found = await settled(call.request, call.key, job.job_id, wait_s)
    return answer(ChatStatus.of(found)) if found.status in ENDED else accepted(job)


OPERATIONS = (post_ask,)
