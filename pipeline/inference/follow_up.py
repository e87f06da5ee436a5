"""What to search for when a message may make sense only after the one before it.

"and for Basic?" needs the question that it goes on with; "what is the capital of Brazil?" asked
after a question on passwords must not find the passwords again. Words alone can't always tell the
two apart, so the message is searched alone first, and together with the previous one only where
its form allows that; `belongs` then judges by the passage found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum

from pipeline.inference.follow_up_words import WORDS, Words
from pipeline.text import tokens
from pipeline.text.language import has_words
from pipeline.text.shorthand import spell_out
from pipeline.types import Message

MAX_CONTENT_WORDS = 5
"""A message that names more than this stands by itself, whatever it begins with."""

FRAGMENT_CONTENT_WORDS = 3
"""So many content words without any question word are a fragment: "prepaid card?". A single one
is a fragment also with a question word: "to which card?"."""

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_SPACE_WORD = re.compile(r"[^\W_]+")
_NO_WORDS = Words(
    openers=frozenset(),
    pointers=frozenset(),
    asks=frozenset(),
    stop=frozenset(),
    aspects=frozenset(),
    assents=frozenset(),
    courtesies=frozenset(),
    chat=(),
)


class Dependence(IntEnum):
    """How much a message needs the one before it; true where it may need it at all.

    NONE stands alone. WEAK names something of its own: a passage found with the previous message
    has to speak of that too. STRONG names nothing: only the previous message says what it is about.
    """

    NONE = 0
    WEAK = 1
    STRONG = 2


def queries(
    message: str, previous: str | None, language: str, *, reply: str | None = None
) -> tuple[str, ...]:
    """The texts to search for, the message alone first, then with the `previous` user message.

    Chat shorthand is spelt out in them. `reply` is what the assistant said last: when it ended
    with an offer and the message only accepts it ("yes"), the offer is the one text to search for.
    A message without words gives an empty tuple.
    """
    message = message.strip()
    if not has_words(message):
        return ()
    offer = _offer(reply) if reply and _only(message, _words(language).assents) else None
    if offer:
        return (offer,)
    alone = spell_out(message, language)
    if previous and previous.strip() and depends(message, language):
        return (alone, f"{spell_out(previous.strip(), language)}\n{alone}")
    return (alone,)


def last_turns(history: Sequence[Message]) -> tuple[str | None, str | None]:
    """What the user said last, and what the assistant replied to it."""
    previous = next((turn.content for turn in reversed(history) if turn.role == "user"), None)
    reply = history[-1].content if history and history[-1].role == "assistant" else None
    return previous, reply


def depends(message: str, language: str) -> Dependence:
    """Whether `message` can make sense only after another, judged by its form alone."""
    lexicon = _words(language)
    if not has_words(message) or _only(message, lexicon.courtesies | lexicon.assents):
        return Dependence.NONE
    said = tokens.words(message)
    folded = f" {' '.join(said)} "
    if any(f" {tokens.fold(phrase)} " in folded for phrase in lexicon.chat):
        return Dependence.NONE
    content = content_words(message, language)
    if not content:
        return Dependence.STRONG
    if len(content) > MAX_CONTENT_WORDS:
        return Dependence.NONE
    goes_on = (
        _first_word(message) in lexicon.openers
        or (said[0] in ("what", "how") and said[1:2] == ["about"])
        or bool(lexicon.pointers.intersection(said))
        or folded.endswith(" thi sao ")
    )
    fragment = len(content) == 1 or (
        len(content) <= FRAGMENT_CONTENT_WORDS and lexicon.asks.isdisjoint(said)
    )
    return Dependence.WEAK if goes_on or fragment else Dependence.NONE


def content_words(message: str, language: str) -> tuple[str, ...]:
    """The folded words of `message` that name what it is about, in order and without repeats."""
    lexicon = _words(language)
    empty = lexicon.stop | lexicon.aspects | lexicon.pointers | lexicon.asks
    return tuple(dict.fromkeys(word for word in tokens.words(message) if word not in empty))


def relates(message: str, language: str, text: str) -> bool:
    """Whether more than half of the content words of `message` stand in `text`, inflected or not.

    More than half, since one shared word of two ("Brazil") is what a change of topic brings too.
    """
    content = content_words(message, language)
    written = set(tokens.words(text))
    found = sum(any(_same(word, other) for other in written) for word in content)
    return 2 * found > len(content)


def belongs(message: str, language: str, text: str) -> bool:
    """Whether a passage found with the previous message may answer this one.

    `text` is the passage with its title and heading path.
    """
    dependence = depends(message, language)
    if dependence is Dependence.WEAK:
        return relates(message, language, text)
    return dependence is Dependence.STRONG


def _words(language: str) -> Words:
    return WORDS.get(language.split("-")[0].lower(), _NO_WORDS)


def _only(message: str, words: frozenset[str]) -> bool:
    return set(tokens.words(message)) <= words


def _first_word(message: str) -> str:
    """The first word with its accents, in lower case."""
    match = _SPACE_WORD.search(unicodedata.normalize("NFC", message))
    return match[0].lower() if match else ""


def _offer(reply: str) -> str | None:
    """The question that `reply` ends with, if it does."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(reply) if sentence.strip()]
    return sentences[-1] if sentences and sentences[-1].endswith("?") else None


def _same(word: str, other: str) -> bool:
    """Whether two folded words are forms of one: equal but for the ending."""
    if word == other:
        return True
    word, other = _singular(word), _singular(other)
    shorter = min(len(word), len(other))
    if word == other:
        return True
    return shorter >= 4 and word[: max(4, shorter - 1)] == other[: max(4, shorter - 1)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith(("oes", "aes")):
        return word[:-3] + "ao"
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
