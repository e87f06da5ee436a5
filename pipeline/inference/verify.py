"""Whether an answer says only what its evidence says, as far as that can be checked for certain.

Every number, amount, percentage, date, time, link, e-mail and phone number must stand in the
passages or in the question, whatever its format or language. Statements without figures are not
judged here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.inference.values.extract import extract, given, prepare
from pipeline.inference.values.found import Fact, Facts
from pipeline.text.language import detect

LANGUAGES = ("pt", "en", "es", "vi")
"""Those whose number words and date forms are known."""

ENOUGH_CHARS = 1000
"""So much of a text tells its language."""

_MARK = re.compile(r"[ ]?[\[【](\d{1,2}(?:[ ]?[,;][ ]?\d{1,2})*)[\]】](?!\()")
_ITEM = re.compile(r"^[ \t]*(?:[-+•–]|\d{1,2}[.)])[ \t]+\S", re.MULTILINE)


def unsupported(answer: str, evidence: Sequence[str], *, language: str = "") -> list[str]:
    """The values of `answer`, as written there, that stand in none of the `evidence` texts.

    `language` is the answer's, if known. Values in different formats or languages are equal:
    1.234,56 and 1,234.56, "R$ 50" and "50 reais", "3 dias úteis" and "three business days",
    05/03/2027 and "March 5, 2027", noon and 12h. A unit, once given, has to agree. Numbers of list
    items, citation marks, and the count of the answer's own list are not values.
    """
    own = _language(answer, language or "en")
    claims = [value for value in extract(answer, own) if value.asserted]
    if not claims:
        return []
    # Also read as the answer is, so that what is quoted from a text always stands in it.
    facts = given((text, spoken) for text in evidence for spoken in {_language(text, own), own})
    facts |= {("number", str(count)) for count in _list_lengths(prepare(answer))}
    missing = [value.surface for value in claims if not _stand(value.facts, facts)]
    return list(dict.fromkeys(missing))


def cited(answer: str) -> set[int]:
    """The numbers n of all citation marks [n] or [n, m] of `answer`."""
    return {
        int(number) for mark in _MARK.finditer(answer) for number in re.findall(r"\d+", mark[1])
    }


def strip_unknown_citations(answer: str, n: int) -> str:
    """`answer` without the citation marks of sources other than 1 to `n`."""

    def keep(mark: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", mark[1])
        known = [number for number in numbers if 1 <= int(number) <= n]
        if len(known) == len(numbers):
            return mark[0]
        space = " " if mark[0].startswith(" ") else ""
        return f"{space}[{', '.join(known)}]" if known else ""

    return _MARK.sub(keep, answer)


def _language(text: str, fallback: str) -> str:
    return detect(text[:ENOUGH_CHARS], languages=LANGUAGES, fallback=fallback)


def _stand(value: Facts, facts: set[Fact]) -> bool:
    if not value.accepts.isdisjoint(facts):
        return True
    return bool(value.parts) and all(not part.isdisjoint(facts) for part in value.parts)


def _list_lengths(answer: str) -> set[int]:
    """How many items each list of the answer has, from two: "there are two ways" counts them."""
    lengths: set[int] = set()
    run = 0
    for line in [*answer.splitlines(), "."]:
        if _ITEM.match(line):
            run += 1
        elif line.strip() and not line.startswith((" ", "\t")):  # neither blank nor of an item
            lengths.add(run)
            run = 0
    return lengths - {0, 1}
