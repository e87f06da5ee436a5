"""``/search``: the retrieval alone, with scores."""

from __future__ import annotations

from starlette.responses import Response

from api.operations import Call, answer, keyed
from api.problems import Problem, of_failed_job
from api.questions import settled, submit_as
from api.record import in_transaction
from api.requests import Nothing, SearchQuery
from api.schemas import SearchResults
from pipeline.db import jobs
from pipeline.settings import settings
from pipeline.types import ENDED, JobStatus


@keyed(
    "GET",
    "/search",
    scope="search",
    query=SearchQuery,
    body=Nothing,
    answers={200: SearchResults},
    problems=(409, 429),
)
async def get_search(call: Call[SearchQuery, Nothing]) -> Response:
    """Find the passages that a question is answered from.

    503 when no worker answers in time; 409 when nothing has been ingested yet.
    """
    query = call.query
    job_id = await submit_as(call.key, "search", query.q, None)
    found = await settled(call.request, call.key, job_id, settings().ask_wait_s, kind="search")
    if found.status not in ENDED:
        # Nobody will fetch the result: the workers' time is for those who wait.
        await in_transaction(lambda conn: jobs.cancel(conn, call.key.workspace, job_id))
        raise Problem(503, "timeout", "The search takes too long right now: try again later.")
    if found.status is not JobStatus.DONE or found.answer is None:
        raise of_failed_job(found.error_code or "cancelled", found.error or "It was cancelled.")
    return answer(
        SearchResults(
            query=query.q,
            language=found.answer["language"],
            results=found.answer["results"][: query.k],
            degraded=found.answer["degraded"],
        )
    )


OPERATIONS = (get_search,)
