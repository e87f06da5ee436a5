"""Stage 3: score every candidate, order them, and drop what is under its track's cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.inference.follow_up import Dependence, belongs, depends
from pipeline.ports import Reranker
from pipeline.types import Candidate, Retrieval, Track


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of one searched text, best first, each with score and whether it passed."""

    query: str
    candidates: tuple[Candidate, ...]

    @property
    def passed(self) -> tuple[Candidate, ...]:
        """Those that may stand behind an answer."""
        return tuple(candidate for candidate in self.candidates if candidate.passed)

    @property
    def best(self) -> float:
        """The highest score, 0 when nothing was found."""
        return max((candidate.score or 0.0 for candidate in self.candidates), default=0.0)


def rerank(
    query: str,
    retrievals: Sequence[Retrieval],
    reranker: Reranker,
    cut: Callable[[Track], float],
) -> Ranking:
    """Score the candidates of all tracks together; equal scores keep the fused order."""
    scored = [
        replace(candidate, score=score, passed=score >= cut(candidate.track))
        for retrieval in retrievals
        for candidate, score in zip(retrieval.candidates, reranker.score(retrieval), strict=True)
    ]
    scored.sort(key=lambda candidate: -(candidate.score or 0.0))
    return Ranking(query, tuple(scored))


def choose(message: str, language: str, rankings: Sequence[Ranking]) -> Ranking:
    """The ranking that answers ``message``: of the message alone, or with the one before it.

    ``rankings`` is of the message alone and, for a follow-up, of both together. Together they are
    taken only when what they find also has to do with the message, so that a change of topic
    doesn't drag the old topic along; and a message that names something of its own is taken alone
    when it finds as much by itself.
    """
    alone = rankings[0]
    for together in rankings[1:]:
        if not together.passed:
            continue
        first = together.passed[0]
        strong = depends(message, language) is Dependence.STRONG
        if (strong or together.best > alone.best or not alone.passed) and belongs(
            message, language, f"{first.title}\n{first.heading}\n{first.text}"
        ):
            return together
    return alone
