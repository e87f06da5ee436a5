"""The frozen values that travel between the stages.

They hold no connection and no model, and most of them are stored as JSON between two stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.inference.signals import Background, Signals


class Track(StrEnum):
    """The kind of content, each with its own cut."""

    SKILL = "skill"
    DOCUMENT = "document"
    PROJECT = "project"


class Queue(StrEnum):
    """The Celery queues. Ingestion never shares one with answers."""

    INGEST = "ingest"
    INFERENCE = "inference"


class Stage(StrEnum):
    """One step of a chain; its value is also the last part of its task's name."""

    PLAN = "plan"
    PARSE = "parse"
    CHUNK = "chunk"
    EMBED = "embed"
    PUBLISH = "publish"
    EMBED_QUERY = "embed_query"
    RETRIEVE = "retrieve"
    RERANK = "rerank"
    GENERATE = "generate"


class JobStatus(StrEnum):
    """Where a job, a run or one of its items stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"  # a run of which files failed, or a file of which parts were lost
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


ENDED = frozenset(
    {
        JobStatus.DONE,
        JobStatus.PARTIAL,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.EXPIRED,
    }
)


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed content file.

    ``text`` is retrievable markdown without its front matter; ``metadata`` is the front matter,
    JSON-safe. For a skill ``triggers`` are the sentences of its "when to use" section and
    ``summary`` its description; both, not the text, are what is embedded. ``lost`` says which
    parts of the file are not in the text, and why.
    """

    path: str
    track: Track
    title: str
    text: str
    summary: str = ""
    triggers: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str = ""
    parser: str = "text"
    lost: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document as it is stored.

    ``heading`` is the heading path in force ("A > B"). ``text`` is what reranker and model see.
    ``search_text`` is what is embedded and put into the keyword index; ``sentences`` are its parts
    that get a vector of their own. ``token_count`` counts ``search_text`` by the embedder's
    tokenizer. ``content_hash`` is the SHA-256 of ``search_text``, ``text`` and ``sentences``.
    """

    ordinal: int
    heading: str
    text: str
    search_text: str
    sentences: tuple[str, ...]
    language: str
    token_count: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that retrieval proposes for a query, with what is known of it so far.

    ``name`` is what the API shows as a source's name: the skill's name, or the document's path.
    ``score`` is the reranker's probability in [0, 1], None before the rerank stage.
    """

    chunk_id: int
    track: Track
    name: str
    path: str
    ordinal: int
    title: str
    heading: str
    text: str
    language: str
    signals: Signals
    score: float | None = None
    passed: bool = False

    @property
    def chunk(self) -> str:
        """The public id of the chunk, ``path#ordinal``."""
        return f"{self.path}#{self.ordinal}"


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A text to search for. ``vector`` is None when the embedder could not be reached."""

    text: str
    vector: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one query found in one track: candidates in fused order, and the query's background."""

    query: str
    track: Track
    candidates: tuple[Candidate, ...]
    background: Background


@dataclass(frozen=True, slots=True)
class Source:
    """A source as the API shows it."""

    type: str
    name: str
    chunk: str
    score: float
    title: str
    heading: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator gets.

    ``messages`` is the chat, system message first, the question last. ``passages`` are the
    candidates that stand behind it, best first, for generators that quote instead of writing.
    """

    messages: tuple[Message, ...]
    passages: tuple[Candidate, ...]
    question: str
    language: str


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generator returned: the text, why it ended, and tokens used where it says so."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Assistant:
    """Who answers: the content pack's ``assistant.yaml``.

    ``programme`` says plainly what the programme is and ``is_not`` what it is not. ``refusal`` and
    ``clarification`` hold one text per language code; a language without one gets the default's.
    """

    name: str
    programme: str
    is_not: tuple[str, ...]
    default_language: str
    languages: tuple[str, ...]
    catalogue: bool
    refusal: Mapping[str, str]
    clarification: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A project's line in the catalogue that goes into every prompt."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the inference chain."""

    text: str
    grounded: bool
    language: str
    sources: Sequence[Source] = ()
    degraded: Sequence[str] = ()
