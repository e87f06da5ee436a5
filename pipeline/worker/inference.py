"""The tasks of queue ``inference``: embed_query, retrieve, rerank, generate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import structlog
from celery import signals
from pydantic import TypeAdapter

from pipeline.backends.generators.extractive import Extractive
from pipeline.db import assistants, content, index_sets, jobs, ledger, sessions
from pipeline.db.engine import single, snapshot, transaction
from pipeline.db.jobs import Outcome
from pipeline.db.search import SearchIndex
from pipeline.db.tables import jobs as jobs_table
from pipeline.errors import PermanentError, TransientError
from pipeline.inference import follow_up, generate, prompt
from pipeline.inference.embed_query import embed_query
from pipeline.inference.rerank import Ranking, choose, rerank
from pipeline.inference.retrieve import retrieve
from pipeline.ingestion import assistant as assistant_file
from pipeline.settings import settings
from pipeline.text import language as languages
from pipeline.types import (
    Answer,
    Assistant,
    EmbeddedQuery,
    Message,
    Prompt,
    Queue,
    Retrieval,
    Stage,
)
from pipeline.worker import life, models
from pipeline.worker.stages import Held, stage_task
from pipeline.worker.sweep import fail_row

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class State:
    """What the stages of one job hand on, kept in the job's row."""

    language: str
    queries: tuple[EmbeddedQuery, ...] = ()
    retrievals: tuple[tuple[Retrieval, ...], ...] = ()  # per query, per track
    ranking: Ranking | None = None
    degraded: tuple[str, ...] = ()
    index_set_id: int | None = None  # that the queries were embedded for


_STATE = TypeAdapter(State)


@signals.celeryd_after_setup.connect
def _warm_up(**_: Any) -> None:
    """Load the models before the first sign of life; one that can't be built ends the worker."""
    if life.queue is not Queue.INFERENCE:
        return
    try:
        models.warm_up()
    except PermanentError as error:
        life.fatal(error)
    except TransientError as error:
        log.warning("model_server_not_ready", reason=str(error))


@stage_task(jobs_table, Stage.EMBED_QUERY, fail_row)
def embed_query_task(held: Held) -> None:
    """Find out the language and what to search for, and embed it."""
    job = held.row
    with transaction() as conn:
        assistant = _assistant(conn, job["workspace"])
        history = _history(conn, job)
        spoken = None
        if job["session_id"]:
            spoken = sessions.language(conn, job["workspace"], job["session_id"])
        live = index_sets.live_for(conn, models.identity())
    question = job["question"]
    language = languages.detect(
        question,
        languages=assistant.languages,
        fallback=spoken or assistant.default_language,
    )
    previous, reply = follow_up.last_turns(history)
    texts = follow_up.queries(question, previous, language, reply=reply)
    if not texts:
        _hand_on(held, Stage.GENERATE, State(language))
        return
    queries, degraded = embed_query(texts, models.embedder_of(live))
    _hand_on(
        held,
        Stage.RETRIEVE,
        State(language, queries, degraded=degraded, index_set_id=live.id),
    )


@stage_task(jobs_table, Stage.RETRIEVE, fail_row)
def retrieve_task(held: Held) -> None:
    """Find candidates in every track, all in one view of the index."""
    state = _state(held)
    with snapshot() as conn:
        # Not the live one: it may be another by now, and the vectors wouldn't be comparable.
        meant = index_sets.get(conn, state.index_set_id or 0)
        index = SearchIndex(conn, meant.id, meant.identity.dimension, held.row["workspace"])
        retrievals = tuple(
            retrieve(
                query,
                index,
                language=state.language,
                leg=settings().leg_candidates,
                limit=settings().rerank_candidates,
            )
            for query in state.queries
        )
    _hand_on(
        held,
        Stage.RERANK,
        State(
            state.language,
            tuple(EmbeddedQuery(query.text, None) for query in state.queries),
            retrievals,
            degraded=state.degraded,
        ),
    )


@stage_task(jobs_table, Stage.RERANK, fail_row)
def rerank_task(held: Held) -> None:
    """Score the candidates and cut; a search ends here."""
    state = _state(held)
    rankings = [
        rerank(query.text, retrievals, models.reranker(), models.cut)
        for query, retrievals in zip(state.queries, state.retrievals, strict=True)
    ]
    ranking = choose(held.row["question"], state.language, rankings)
    if held.row["kind"] == "search":
        results = [
            asdict(source) | {"text": candidate.text}
            for candidate, source in zip(
                ranking.candidates, generate.sources(ranking.candidates), strict=True
            )
        ]
        answer = {
            "results": results,
            "language": state.language,
            "degraded": list(state.degraded),
        }
        with transaction() as conn:
            jobs.complete(conn, held.claim, answer, None)
        return
    _hand_on(held, Stage.GENERATE, State(state.language, ranking=ranking, degraded=state.degraded))


@stage_task(jobs_table, Stage.GENERATE, fail_row)
def generate_task(held: Held) -> None:
    """Answer from what passed the cut, or say that it isn't known; then leave the trail."""
    job, state = held.row, _state(held)
    with transaction() as conn:
        assistant = _assistant(conn, job["workspace"])
        history = _history(conn, job)
        catalogue = (
            content.catalogue(conn, job["workspace"], index_sets.live(conn).id)
            if assistant.catalogue
            else []
        )
    passed = state.ranking.passed[: settings().max_sources] if state.ranking else ()
    if state.ranking is None:
        answer, outcome = generate.clarification(assistant, state.language), "clarified"
    elif not passed:
        answer, outcome = generate.refusal(assistant, state.language), "refused"
    else:
        chosen = settings()
        recent = max(0, len(history) - chosen.history_messages)

        def built(window_tokens: int) -> Prompt:
            return prompt.build(
                assistant=assistant,
                question=job["question"],
                history=history[recent:],
                earlier=history[:recent],
                passages=passed,
                catalogue=catalogue,
                language=state.language,
                context_chars=chosen.context_chars,
                window_tokens=window_tokens,
                answer_tokens=chosen.generator_max_tokens,
            )

        answer = generate.answer(
            built(chosen.generator_window),
            models.generator(),
            Extractive(),
            assistant=assistant,
            background=generate.background(assistant, catalogue),
            last_attempt=job["attempts"] >= chosen.max_attempts,
            smaller=lambda: built(chosen.generator_window * 2 // 3),
        )
        outcome = "grounded" if answer.grounded else "refused"
    _complete(held, state, answer, outcome)


def _complete(held: Held, state: State, answer: Answer, outcome: str) -> None:
    job = held.row
    degraded = [*state.degraded, *answer.degraded]
    sources = [asdict(source) for source in answer.sources]
    candidates = state.ranking.candidates if state.ranking else ()
    trail = Outcome(
        outcome=outcome,
        language=state.language,
        candidates=[
            {
                "chunk": candidate.chunk,
                "type": candidate.track.value,
                "score": round(candidate.score or 0.0, 4),
                "passed": candidate.passed,
            }
            for candidate in candidates
        ],
        sources=sources,
        models={
            "embedder": str(models.identity()),
            "reranker": models.reranker().name,
            "generator": models.generator().name,
        },
        degraded=degraded,
    )
    body = {
        "text": answer.text,
        "grounded": answer.grounded,
        "language": answer.language,
        "sources": sources,
        "degraded": degraded,
    }
    with transaction() as conn:
        if job["session_id"] is not None and outcome != "clarified":
            sessions.set_language(conn, job["workspace"], job["session_id"], state.language)
        jobs.complete(conn, held.claim, body, trail)


def _hand_on(held: Held, stage: Stage, state: State) -> None:
    with single() as conn:
        ledger.hand_on(conn, held.claim, stage, state=_STATE.dump_python(state, mode="json"))
    held.next = [(stage, held.claim.id)]


def _state(held: Held) -> State:
    return _STATE.validate_python(held.row["state"])


def _assistant(conn: Any, workspace: str) -> Assistant:
    stored = assistants.load(conn, workspace)
    return assistant_file.DEFAULT if stored is None else assistant_file.from_json(stored)


def _history(conn: Any, job: Any) -> list[Message]:
    if not job["session_id"]:
        return []
    return sessions.history(conn, job["workspace"], job["session_id"], before=job["number"])
