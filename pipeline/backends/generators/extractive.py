"""Answers with the best passage itself, quoted under its title. Needs no model, so it always works.

A procedure is quoted whole, since half a procedure misleads; of a long document the section that
shares most with the question.
"""

from __future__ import annotations

import re

from pipeline.errors import EmptyAnswerError
from pipeline.text.tokens import terms
from pipeline.types import Candidate, Generation, Prompt, Track

QUOTE_CHARS = 1500
"""Longest quote of a document. A chunk of 400 tokens is about as long and is quoted whole."""

CUT = "[…]"

_LEADS = {
    "pt": ("Siga este procedimento, “{title}”:", "Encontrei isto em “{title}”:"),
    "en": ("Follow this procedure, “{title}”:", "I found this in “{title}”:"),
    "es": ("Siga este procedimiento, “{title}”:", "Encontré esto en “{title}”:"),
    "vi": ("Hãy làm theo quy trình “{title}”:", "Tôi tìm thấy điều này trong “{title}”:"),
}
"""Per language: before a procedure, before a passage."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_WHEN_TO_USE = re.compile(
    r"^(#{1,6})[ \t]+(?:quando (?:usar|utilizar)|when to use|cuándo (?:usar|utilizar)"
    r"|khi nào (?:dùng|sử dụng))\b[^\n]*\n.*?(?=^\1[ \t]|^#{1,2}[ \t]|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


class Extractive:
    """Quotes the first passage of the prompt."""

    name = "extractive"

    def generate(self, prompt: Prompt) -> Generation:
        """The quote with a lead in the prompt's language.

        Raises EmptyAnswerError when the prompt has no passage, or none with text.
        """
        passage = next((one for one in prompt.passages if _body(one)), None)
        if passage is None:
            raise EmptyAnswerError("There is no passage to quote: refuse instead of generating.")
        body = _body(passage)
        if passage.track is not Track.SKILL and len(body) > QUOTE_CHARS:
            body = _section(body, prompt.question, prompt.language)
        leads = _LEADS.get(prompt.language.split("-")[0].lower(), _LEADS["en"])
        lead = leads[passage.track is not Track.SKILL].format(title=passage.title or passage.name)
        return Generation(text=f"{lead}\n\n{body}")


def _body(passage: Candidate) -> str:
    """The passage without what its lead says already: its title, and when a procedure is used."""
    text = passage.text.strip()
    if passage.track is Track.SKILL:
        text = _WHEN_TO_USE.sub("", text)
    first = _HEADING.match(text)
    if first and first[1].strip().lower() == passage.title.strip().lower():
        text = text[first.end() :]
    return text.strip()


def _section(text: str, question: str, language: str) -> str:
    """At most QUOTE_CHARS of `text`, from the section on that shares most terms with `question`."""
    starts = [match.start() for match in _HEADING.finditer(text)]
    if len(starts) < 2:
        starts = [match.end() for match in re.finditer(r"\n\s*\n", text)]
    starts = sorted({0, *starts})
    asked = set(terms(question, language))

    def shared(index: int) -> int:
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        return len(asked.intersection(terms(text[starts[index] : end], language)))

    best = max(range(len(starts)), key=lambda index: (shared(index), -index))
    rest = text[starts[best] :].strip()
    before = f"{CUT}\n" if best else ""
    if len(rest) <= QUOTE_CHARS:
        return before + rest
    ends = [
        match.start()
        for pattern in (r"\n+(?=#{1,6} )", r"\n\s*\n", r"\n", r"(?<=[.!?…])\s", r"\s")
        if (found := list(re.finditer(pattern, rest[:QUOTE_CHARS])))
        and (match := found[-1]).start() > QUOTE_CHARS // 3
    ]
    return f"{before}{rest[: ends[0] if ends else QUOTE_CHARS].rstrip()}\n{CUT}"
