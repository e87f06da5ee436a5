"""Takes out of a model's text what was never meant to be read: its thinking and its turn marks.

A document may speak of such marks too: those in code or directly in quotes stay, and so do those
that the evidence writes in the middle of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`"}
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_TURN = re.compile(
    r"<\|[a-z0-9_▁-]{2,40}\|>|<｜[^｜\n]{2,40}｜>|<(?:start|end)_of_turn>|</s>|\[/?INST\]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_OPENING = re.compile(
    rf"\s*(?:(?:{_TURN.pattern}|<s>)\s*)+(?:(?:assistant|model)\b:?\s*)?", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?…:\n]\s*$")


def clean(text: str, evidence: Sequence[str] = ()) -> str:
    """`text` without thinking and turn marks, stripped; empty when nothing else was there.

    Thinking that was never opened ends at its closing mark, thinking that was never closed takes
    all that follows. At a turn mark the text ends.
    """
    if _FINAL_CHANNEL in text:
        text = text.rpartition(_FINAL_CHANNEL)[2]
    return _without_turns(_without_thinking(text), evidence).strip()


def _without_thinking(text: str) -> str:
    kept, start, depth = "", 0, 0
    for mark in _marks(_THINKING, text):
        if not mark[1]:
            if not depth:
                kept += text[start : mark.start()]
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept = ""
        start = mark.end()
    return kept if depth else kept + text[start:]


def _without_turns(text: str, evidence: Sequence[str]) -> str:
    opening = _OPENING.match(text)
    if opening:
        text = text[opening.end() :]
    for mark in _marks(_TURN, text):
        if mark[0] == "</s>" and "<s>" in text:
            continue  # struck-out text
        spoken_of = any(mark[0] in one for one in evidence)
        if not spoken_of or _SENTENCE_END.search(text[: mark.start()]):
            return text[: mark.start()]
    return text


def _marks(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches that stand neither in code nor directly in quotes."""
    code = [match.span() for match in _CODE.finditer(text)]
    for match in pattern.finditer(text):
        start, end = match.span()
        if any(first <= start and end <= last for first, last in code):
            continue
        if start and _QUOTES.get(text[start - 1], "\0") == text[end : end + 1]:
            continue
        yield match
