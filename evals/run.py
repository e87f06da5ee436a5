"""``lastro eval``: asks question sets of the product's own stages and measures what they find.

The corpus goes through the ingest workers of an instance made for the purpose; each question
through the stages embed_query, retrieve and rerank. An unanswerable question is made by really
removing documents: in a transaction that is rolled back after the question, its whole topic (off
topic) or only the document that answers it (near topic).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from evals.instance import ingest, own_instance
from evals.sets import Question, QuestionSet, load
from pipeline.backends.generators.extractive import Extractive
from pipeline.db import assistants, index_sets, publishing, search
from pipeline.db.engine import engine
from pipeline.db.search import SearchIndex
from pipeline.inference import follow_up, prompt
from pipeline.inference.embed_query import embed_query
from pipeline.inference.rerank import Ranking, choose, rerank
from pipeline.inference.retrieve import retrieve
from pipeline.ingestion import assistant as assistant_file
from pipeline.settings import settings
from pipeline.text import language as languages
from pipeline.types import Assistant, EmbeddedQuery
from pipeline.worker import models

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """A question with its vectors, so that it is embedded once for all conditions."""

    question: Question
    language: str
    queries: tuple[EmbeddedQuery, ...]
    embed_ms: float


@dataclass
class Tally:
    """Counts over one set."""

    ranks: list[int | None] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)
    refused: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    latencies_ms: list[float] = field(default_factory=list)
    facts: list[bool] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)


def run(
    files: Sequence[Path],
    *,
    corpus: Path | None = None,
    articles: str = "all",
    sample: int | None = None,
    seed: int = 0,
    progress: Progress = lambda _: None,
) -> dict[str, Any]:
    """Evaluate each of ``files``; the result is the document that ``--json`` prints.

    Raises SettingsError for a file that is no question set.
    """
    sets = [
        load(file, corpus=corpus, articles=articles, sample=sample, seed=seed) for file in files
    ]
    return {"sets": [_evaluate(one, progress) for one in sets]}


def _evaluate(questions: QuestionSet, progress: Progress) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="lastro-corpus-") as scratch:
        folder = questions.folder or _write(Path(scratch), questions.files)
        with own_instance(folder):
            ingest(
                folder,
                lambda done, total: progress(f"{questions.name}: ingested {done} of {total}"),
            )
            tally = _ask_all(questions, progress)
    return _summary(questions, tally)


def _write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def _ask_all(questions: QuestionSet, progress: Progress) -> Tally:
    tally = Tally()
    workspace = settings().workspace
    with engine().connect() as conn, conn.begin():
        stored = assistants.load(conn, workspace)
        assistant = assistant_file.from_json(stored) if stored else assistant_file.DEFAULT
        asked = []
        for number, question in enumerate(questions.questions):
            if number % 50 == 0:
                progress(f"{questions.name}: asked {number} of {len(questions.questions)}")
            one = _embed(question, assistant)
            asked.append(one)
            _ask(conn, one, tally, assistant)
    for condition, removed in (("off_topic", _topic), ("near_topic", _own)):
        progress(f"{questions.name}: {condition.replace('_', ' ')}")
        _ask_without(asked, removed, tally.refused[condition])
    return tally


def _embed(question: Question, assistant: Assistant) -> Asked:
    started = time.perf_counter()
    language = languages.detect(
        question.text, languages=assistant.languages, fallback=assistant.default_language
    )
    previous, reply = follow_up.last_turns(question.history)
    texts = follow_up.queries(question.text, previous, language, reply=reply)
    queries, _ = embed_query(texts, models.embedder())
    return Asked(question, language, queries, (time.perf_counter() - started) * 1000)


def _rank(conn: Connection, asked: Asked) -> Ranking:
    identity = models.identity()
    live = index_sets.live_for(conn, identity)
    index = SearchIndex(conn, live.id, identity.dimension, settings().workspace)
    rankings = [
        rerank(
            query.text,
            retrieve(
                query,
                index,
                language=asked.language,
                leg=settings().leg_candidates,
                limit=settings().rerank_candidates,
            ),
            models.reranker(),
            models.cut,
        )
        for query in asked.queries
    ]
    return choose(asked.question.text, asked.language, rankings)


def _ask(conn: Connection, asked: Asked, tally: Tally, assistant: Assistant) -> None:
    """The question over the whole corpus."""
    question = asked.question
    started = time.perf_counter()
    ranking = _rank(conn, asked)
    tally.latencies_ms.append(asked.embed_ms + (time.perf_counter() - started) * 1000)
    answered = bool(ranking.passed)
    if question.refuse:
        tally.refused["off_topic"].append(not answered)
    else:
        names = _distinct(f"{candidate.track}:{candidate.name}" for candidate in ranking.candidates)
        rank = next((n for n, name in enumerate(names, 1) if name in question.expect), None)
        tally.ranks.append(rank)
        tally.answered.append(answered)
        if question.facts and answered:
            tally.facts.append(_quotes(asked, ranking, assistant))
    if answered == question.refuse or (not question.refuse and tally.ranks[-1] != 1):
        first = ranking.candidates[0] if ranking.candidates else None
        tally.wrong.append(
            {
                "id": question.id,
                "answered": answered,
                "rank": None if question.refuse else tally.ranks[-1],
                "first": f"{first.track}:{first.name}" if first else None,
                "score": round(first.score or 0.0, 4) if first else None,
            }
        )


def _quotes(asked: Asked, ranking: Ranking, assistant: Assistant) -> bool:
    """Whether the extractive answer holds the expected facts."""
    built = prompt.build(
        assistant=assistant,
        question=asked.question.text,
        history=(),
        passages=ranking.passed[: settings().max_sources],
        catalogue=(),
        language=asked.language,
        context_chars=settings().context_chars,
        window_tokens=settings().generator_window,
        answer_tokens=settings().generator_max_tokens,
    )
    text = Extractive().generate(built).text
    return all(fact in text for fact in asked.question.facts)


def _ask_without(
    asked: Sequence[Asked], removed: Callable[[Question], frozenset[str]], refused: list[bool]
) -> None:
    """The questions again, each group over the corpus without the documents it rests on."""
    groups: dict[frozenset[str], list[Asked]] = defaultdict(list)
    for one in asked:
        if not one.question.refuse and removed(one.question):
            groups[removed(one.question)].append(one)
    for paths, members in groups.items():
        with engine().connect() as conn:
            transaction = conn.begin()
            try:
                for path in sorted(paths):
                    publishing.remove(conn, settings().workspace, path)
                search.forget_samples()
                refused.extend(not _rank(conn, one).passed for one in members)
            finally:
                transaction.rollback()
                search.forget_samples()


def _topic(question: Question) -> frozenset[str]:
    return question.same_topic


def _own(question: Question) -> frozenset[str]:
    if not question.same_topic:
        return frozenset()
    return frozenset(name.partition(":")[2] for name in question.expect)


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _summary(questions: QuestionSet, tally: Tally) -> dict[str, Any]:
    ranks = tally.ranks
    summary: dict[str, Any] = {
        "name": questions.name,
        "corpus": questions.corpus,
        "n": len(questions.questions),
        "recall@1": _share([rank == 1 for rank in ranks]),
        "recall@5": _share([rank is not None and rank <= 5 for rank in ranks]),
        "mrr": _mean([1 / rank if rank else 0.0 for rank in ranks]),
        "off_topic": _refusals(tally.answered, tally.refused["off_topic"]),
        "near_topic": _refusals(tally.answered, tally.refused["near_topic"]),
        "latency_ms": {
            "p50": round(_quantile(tally.latencies_ms, 50), 1),
            "p95": round(_quantile(tally.latencies_ms, 95), 1),
        },
    }
    if tally.facts:
        summary["facts"] = _share(tally.facts)
    if questions.folder is not None:
        summary["wrong"] = tally.wrong
    return summary


def _refusals(answered: list[bool], refused: list[bool]) -> dict[str, float | None]:
    """Shares of each kind judged right, and their mean: the accuracy when both are as frequent."""
    kept, dropped = _share(answered), _share(refused)
    accuracy = None if kept is None or dropped is None else round((kept + dropped) / 2, 4)
    return {"answered": kept, "refused": dropped, "accuracy": accuracy}


def _share(values: list[bool]) -> float | None:
    return _mean([float(value) for value in values])


def _mean(values: list[float]) -> float | None:
    return round(statistics.fmean(values), 4) if values else None


def _quantile(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def to_stderr(line: str) -> None:
    """Progress on a terminal, in place; silence elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
