"""Turns a prompt into an answer that can be shown, or says why it is less than that.

What a model writes is cleaned and checked against what it was given. It gets one more try; then
the passage itself is the answer. So the person gets an answer with something behind it also when
the model server is down or makes things up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from pipeline.errors import ContextOverflowError, EmptyAnswerError, PermanentError, TransientError
from pipeline.inference.clean import clean
from pipeline.inference.texts import choose, texts
from pipeline.inference.verify import strip_unknown_citations, unsupported
from pipeline.ports import Generator
from pipeline.text.tokens import words
from pipeline.types import Answer, Assistant, Candidate, CatalogueEntry, Message, Prompt, Source

UNVERIFIED = "unverified_answer"
UNAVAILABLE = "generator_unavailable"
EMPTY = "empty_answer"
TRUNCATED = "truncated_answer"
OVERFLOW = "context_overflow"
"""What `Answer.degraded` says: the first three and the last that the passage is quoted instead."""

TRIES = 2
NAMED_VALUES = 8
RULE_CHARS = 40
"""A line of the rules of at least this length in an answer reveals them."""

_SENTENCE_END = re.compile(r"[.!?…。](?=\s|$)|\n")

log = structlog.get_logger(__name__)


def answer(
    prompt: Prompt,
    generator: Generator,
    fallback: Generator,
    *,
    assistant: Assistant,
    background: Sequence[str] = (),
    last_attempt: bool = True,
    smaller: Callable[[], Prompt] | None = None,
) -> Answer:
    """The answer to `prompt`, with the passages that stand in it as sources.

    `background` are further texts that the answer may take figures from, see the function of that
    name. `smaller` builds a shorter prompt for a server whose window turns out smaller
    than was set. `fallback` must not need a server.

    An answer of the model that says that nothing is known becomes the refusal. While
    `last_attempt` is false a TransientError of the generator is raised, so that the stage is run
    again; else, and after a permanent failure, the fallback answers and `degraded` says why.
    """
    if not prompt.passages:
        return refusal(assistant, prompt.language)
    if generator.name == fallback.name:
        return _grounded(prompt, fallback.generate(prompt).text)
    draft = _Draft(prompt, generator, assistant, tuple(background))
    try:
        try:
            return draft.write()
        except ContextOverflowError:
            if smaller is None:
                raise
            prompt = smaller()
            return replace(draft, prompt=prompt).write()
    except _NotGoodError as error:
        reason = error.reason
    except TransientError as error:
        if not last_attempt:
            raise
        reason = _failed(generator, error)
    except PermanentError as error:
        reason = _failed(generator, error)
    return _grounded(prompt, fallback.generate(prompt).text, reason)


def background(assistant: Assistant, catalogue: Sequence[CatalogueEntry]) -> list[str]:
    """What else of the system message is knowledge: the programme and the catalogue."""
    entries = [f"{entry.title}: {entry.summary}" for entry in catalogue]
    return [assistant.name, assistant.programme, *assistant.is_not, *entries]


def refusal(assistant: Assistant, language: str) -> Answer:
    """The fixed text that says that nothing was found, without sources."""
    text = choose(assistant.refusal, "refusal", language, assistant.default_language)
    return Answer(text=text, grounded=False, language=language)


def clarification(assistant: Assistant, language: str) -> Answer:
    """The fixed text that asks for a question, for messages that hold none."""
    text = choose(assistant.clarification, "clarification", language, assistant.default_language)
    return Answer(text=text, grounded=False, language=language)


def sources(passages: Sequence[Candidate]) -> tuple[Source, ...]:
    """The passages as the API shows them, in order: citation mark [n] is the n-th."""
    return tuple(
        Source(
            type=passage.track.value,
            name=passage.name,
            chunk=passage.chunk,
            score=round(passage.score or 0.0, 4),
            title=passage.title,
            heading=passage.heading,
        )
        for passage in passages
    )


class _NotGoodError(Exception):
    """The model has used up its tries; `reason` is the last one's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class _Draft:
    """The model's tries at one prompt."""

    prompt: Prompt
    generator: Generator
    assistant: Assistant
    background: tuple[str, ...]

    def write(self) -> Answer:
        """The first try that holds. Raises _NotGoodError, or what the generator raises."""
        prompt, evidence, reason = self.prompt, self.evidence(), EMPTY
        refused = refusal(self.assistant, prompt.language)
        for _ in range(TRIES):
            try:
                generation = self.generator.generate(prompt)
            except EmptyAnswerError:
                reason = EMPTY
                continue
            text = clean(generation.text, evidence)
            notes = []
            if generation.finish_reason == "length":
                text, notes = _whole_sentences(text), [TRUNCATED]
            text = strip_unknown_citations(text, len(self.prompt.passages)).strip()
            if not text:
                reason = EMPTY
                continue
            if _begins_with(text, refused.text):
                return refused
            missing = unsupported(text, evidence, language=prompt.language)
            if not missing and not _reveals_rules(text, prompt.language):
                return _grounded(self.prompt, text, *notes)
            reason = UNVERIFIED
            prompt = _with_note(self.prompt, missing)
        log.warning("answer not usable", reason=reason, generator=self.generator.name)
        raise _NotGoodError(reason)

    def evidence(self) -> list[str]:
        """Passages with their titles, what the person wrote, and the background."""
        passages = [
            "\n".join((one.title, one.heading, one.name, one.text)) for one in self.prompt.passages
        ]
        said = [message.content for message in self.prompt.messages if message.role == "user"]
        return [*passages, self.prompt.question, *said, *self.background]


def _grounded(prompt: Prompt, text: str, *degraded: str) -> Answer:
    return Answer(
        text=text,
        grounded=True,
        language=prompt.language,
        sources=sources(prompt.passages),
        degraded=degraded,
    )


def _failed(generator: Generator, error: PermanentError | TransientError) -> str:
    """Report why the generator gave nothing, and the word for it."""
    log.warning("generator failed", generator=generator.name, code=error.code, error=str(error))
    return OVERFLOW if isinstance(error, ContextOverflowError) else UNAVAILABLE


def _with_note(prompt: Prompt, missing: Sequence[str]) -> Prompt:
    """`prompt` with a note after the question that names what stands in no passage."""
    if not missing:
        return prompt
    values = ", ".join(missing[:NAMED_VALUES])
    note = texts(prompt.language).unsupported.format(values=values)
    *before, question = prompt.messages
    noted = Message(question.role, f"{question.content}\n\n{note}")
    return replace(prompt, messages=(*before, noted))


def _whole_sentences(text: str) -> str:
    """`text` up to its last sentence or line that is complete; all of it when none is."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]].rstrip() if ends else text


def _begins_with(text: str, refused: str) -> bool:
    """Whether a model's text is the refusal, whatever its quotes and full stops."""
    expected = words(refused)
    return bool(expected) and words(text)[: len(expected)] == expected


def _reveals_rules(text: str, language: str) -> bool:
    rules = (line.partition(". ")[2] for line in texts(language).rules.splitlines())
    return any(len(rule) >= RULE_CHARS and rule in text for rule in rules)
