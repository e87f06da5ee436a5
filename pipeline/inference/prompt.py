"""Puts a prompt together and makes it fit.

Some chat templates refuse a second or a late system message, or two turns of one role in a row: so
there is one system message, first, and then turns that alternate and end with the question. The
rules and the question always stay; history and passages give way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.errors import ContextOverflowError
from pipeline.inference.texts import Texts, choose, texts
from pipeline.types import Assistant, Candidate, CatalogueEntry, Message, Prompt, Track

MESSAGE_TOKENS = 6
"""What a chat template puts around one message: role, marks, line ends."""

SPARE_TOKENS = 96
"""Kept free for the begin of the answer and for the note of a second try."""

HISTORY_SHARE = 0.3
CATALOGUE_SHARE = 0.25
"""At most so much of the room that rules and question leave goes to history and catalogue."""

EARLIER_CHARS = 400
EARLIER_QUESTION_CHARS = 120
"""Lengths of the summary of older history and of one question in it."""

WORTH_CHARS = 200
"""A rest of the budget below this isn't filled with the beginning of another passage."""

_BOUNDARIES = (
    re.compile(r"\n+(?=#{1,6} )"),  # sections
    re.compile(r"\n\s*\n"),  # paragraphs
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])\s+"),  # sentences
    re.compile(r"\s+"),  # words
)

CountTokens = Callable[[str], int]


def estimate(text: str) -> int:
    """Tokens of `text`, on the safe side, for models whose tokenizer isn't at hand.

    A third of its UTF-8 bytes: English has about four bytes to a token with the vocabularies in
    use, Portuguese and Spanish three and a half, Vietnamese and Chinese at least three.
    """
    return math.ceil(len(text.encode()) / 3)


def build(
    *,
    assistant: Assistant,
    question: str,
    history: Sequence[Message],
    passages: Sequence[Candidate],
    catalogue: Sequence[CatalogueEntry],
    language: str,
    context_chars: int,
    window_tokens: int,
    answer_tokens: int,
    earlier: Sequence[Message] = (),
    count_tokens: CountTokens = estimate,
) -> Prompt:
    """The prompt for `question`, at most `window_tokens` less `answer_tokens` long as counted.

    `passages`, best first, get at most `context_chars` characters together; the last one that fits
    in part is cut at a section boundary, with a visible mark. They are numbered from 1 in the order
    of the returned prompt's `passages`, which holds those that really stand in it. `history` are
    the last turns, kept from the newest back as far as there is room; what `earlier` and the turns
    that were left out asked is summed up inside the system message.

    Raises ContextOverflowError when beside rules and question there is no room for any passage.
    """
    parts = _Parts(assistant, texts(language, assistant.default_language), language)
    room = window_tokens - answer_tokens - SPARE_TOKENS
    left = room - count_tokens(parts.system()) - count_tokens(question) - 2 * MESSAGE_TOKENS
    if left < 0:
        raise ContextOverflowError(_too_small(room, window_tokens, answer_tokens))
    turns, dropped = _newest(_alternating(history, question), left * HISTORY_SHARE, count_tokens)
    parts = replace(parts, earlier=_asked([*earlier, *dropped]))
    if assistant.catalogue:
        parts = replace(parts, catalogue=_listed(catalogue, left * CATALOGUE_SHARE, count_tokens))

    def fits(candidate: _Parts) -> bool:
        messages = (Message("system", candidate.system()), *turns)
        return sum(count_tokens(m.content) + MESSAGE_TOKENS for m in messages) <= room

    while not fits(parts) and (parts.earlier or parts.catalogue or len(turns) > 1):
        if len(turns) > 1:
            turns = turns[2:]
        else:
            parts = replace(parts, earlier="", catalogue=())
    if not fits(parts):  # a question that was never answered stands before this one
        turns = (Message("user", question),)
    parts = _filled(parts, passages, context_chars, fits)
    if passages and not parts.passages:
        raise ContextOverflowError(_too_small(room, window_tokens, answer_tokens))
    return Prompt(
        messages=(Message("system", parts.system()), *turns),
        passages=parts.passages,
        question=question,
        language=language,
    )


def _too_small(room: int, window_tokens: int, answer_tokens: int) -> str:
    return (
        f"Rules and question leave no room for a passage in {room} tokens: raise "
        f"LASTRO_GENERATOR_WINDOW ({window_tokens}) to what the model takes, or lower "
        f"LASTRO_GENERATOR_MAX_TOKENS ({answer_tokens})."
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the system message is made of."""

    assistant: Assistant
    texts: Texts
    language: str
    earlier: str = ""
    catalogue: tuple[str, ...] = ()
    passages: tuple[Candidate, ...] = ()

    def system(self) -> str:
        """The system message."""
        own, said = self.assistant, self.texts
        refusal = choose(own.refusal, "refusal", self.language, own.default_language)
        sections = [said.rules.format(name=own.name, refusal=refusal)]
        if own.programme.strip():
            sections.append(f"{said.programme}: {own.programme.strip()}")
        if own.is_not:
            sections.append(f"{said.is_not}:\n" + "\n".join(f"- {line}" for line in own.is_not))
        if self.catalogue:
            sections.append(f"{said.catalogue}:\n" + "\n".join(self.catalogue))
        if self.earlier:
            sections.append(f"{said.earlier}: {self.earlier}")
        for label, skills in ((said.procedures, True), (said.passages, False)):
            quoted = [
                _quoted(number, passage)
                for number, passage in enumerate(self.passages, 1)
                if (passage.track is Track.SKILL) is skills
            ]
            if quoted:
                sections.append(f"{label}:\n" + "\n\n".join(quoted))
        return "\n\n".join(sections)


def _quoted(number: int, passage: Candidate) -> str:
    """One passage with its number, in marks that its own text can't close."""
    tag = "procedure" if passage.track is Track.SKILL else "passage"
    title = " > ".join(part for part in (passage.title, passage.heading) if part)
    title = re.sub(r'[<"\n]', " ", title)
    text = re.sub(r"</?\s*(?=passage|procedure)", "‹", passage.text, flags=re.IGNORECASE)
    return f'<{tag} id="{number}" title="{title}">\n{text.strip()}\n</{tag}>'


def _filled(
    parts: _Parts, passages: Sequence[Candidate], chars: int, fits: Callable[[_Parts], bool]
) -> _Parts:
    """`parts` with as many passages as fit, in order, the last one cut if that is worth it."""
    left = chars
    for passage in passages:
        whole = replace(parts, passages=(*parts.passages, passage))
        if len(passage.text) <= left and fits(whole):
            parts, left = whole, left - len(passage.text)
            continue
        worth = min(WORTH_CHARS, len(passage.text)) if parts.passages else 1
        for text in _beginnings(passage.text, left, parts.texts.cut):
            if len(text) < worth:
                break
            cut = replace(parts, passages=(*parts.passages, replace(passage, text=text)))
            if fits(cut):
                return cut
        return parts
    return parts


def _beginnings(text: str, chars: int, mark: str) -> list[str]:
    """Beginnings of `text` of at most `chars` characters with `mark`, the longest first.

    For each length the coarsest boundary wins that keeps at least half of it: a section's end
    before a paragraph's, before a sentence's.
    """
    room = min(chars, len(text)) - len(mark) - 1
    ends: list[int] = []
    while room > 0:
        end = next(
            (
                last
                for boundary in _BOUNDARIES
                if (last := max((m.start() for m in boundary.finditer(text, 0, room)), default=0))
                and 2 * last >= room
            ),
            room,
        )
        ends.append(end)
        room = min(end - 1, room * 7 // 8)
    return [f"{text[:end].rstrip()}\n{mark}" for end in ends]


def _alternating(history: Sequence[Message], question: str) -> tuple[Message, ...]:
    """The turns of user and assistant by turns, the first and the last a user's.

    A question that was never answered is joined to the next one; so are two answers.
    """
    turns: list[Message] = []
    for message in (*history, Message("user", question)):
        if message.role not in ("user", "assistant") or not message.content.strip():
            continue
        if turns and turns[-1].role == message.role:
            joined = f"{turns[-1].content}\n\n{message.content}"
            turns[-1] = Message(message.role, joined)
        elif turns or message.role == "user":
            turns.append(message)
    return tuple(turns)


def _newest(
    turns: tuple[Message, ...], room: float, count_tokens: CountTokens
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The last turns, by pairs, whose history fits into `room` tokens; and those before them."""
    start = len(turns) - 1
    while start >= 2:
        pair = turns[start - 2 : start]
        room -= sum(count_tokens(message.content) + MESSAGE_TOKENS for message in pair)
        if room < 0:
            break
        start -= 2
    return turns[start:], turns[:start]


def _asked(messages: Sequence[Message]) -> str:
    """The questions of older turns, shortened, the newest kept."""
    asked: list[str] = []
    left = EARLIER_CHARS
    for message in reversed(messages):
        line = " ".join(message.content.split())
        if message.role != "user" or not line:
            continue
        if len(line) > EARLIER_QUESTION_CHARS:
            line = line[: EARLIER_QUESTION_CHARS - 1].rsplit(" ", 1)[0] + "…"
        left -= len(line)
        if left < 0:
            break
        asked.append(f"“{line}”")
    return "; ".join(reversed(asked))


def _listed(
    catalogue: Sequence[CatalogueEntry], room: float, count_tokens: CountTokens
) -> tuple[str, ...]:
    """One line per entry, as many as fit, with the number of those left out."""
    lines: list[str] = []
    for entry in catalogue:
        line = f"- {entry.title}: {entry.summary}" if entry.summary else f"- {entry.title}"
        room -= count_tokens(line) + 1
        if room < 0:
            return (*lines, f"- […] (+{len(catalogue) - len(lines)})")
        lines.append(line)
    return tuple(lines)
