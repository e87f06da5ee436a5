"""Reads a text for its values, one kind after another, and joins neighbours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from pipeline.inference.values import addresses, clock, dates, numbers, words
from pipeline.inference.values.found import Fact, Facts, Found, Value

_ORDINAL = re.compile(
    r"^[ ]*(?:[-+>#•|]+[ ]*)*(?:(?:passo|step|paso|bước|etapa)[ ]+)?\(?(\d{1,2})"
    r"(?:[.)\]:]|[ ]?[-–](?=[ ]))(?=\s)",
    re.IGNORECASE | re.MULTILINE,
)
_CONNECTS = re.compile(
    r"\s*(?:a|à|às|até|até as|até às|e|ou|y|o|u|al|hasta|hasta las|a las|to|and|or|until|through|"
    r"đến|đến ngày|tới|hoặc|và|[-–—~])\s*",
    re.IGNORECASE,
)
_CITATION = re.compile(r"[\[【]\d{1,2}(?:[ ]?[,;][ ]?\d{1,2})*[\]】](?!\()")
_SUPERSCRIPTS = str.maketrans("²³", "23")  # km² is km2
_TAKEN = "\x1f"


def extract(text: str, language: str) -> list[Value]:
    """The values of `text`, in order. `language` (ISO 639-1) decides number words and 1.234."""
    text = prepare(text)
    found = _inherit(_scan(text, language), text)
    return [_finish(one, text, language) for one in found]


def prepare(text: str) -> str:
    """`text` in composed form, without emphasis, citation marks and odd spaces, line by line."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"(?<=\d)[\u00a0\u202f\u2009'’](?=\d{3}(?!\d))", " ", text)
    text = re.sub(r"[\u00a0\u202f\u2009\t]", " ", text)
    text = re.sub(r"[*`\u200b-\u200f\ufeff]|\\(?=[^\w\s])", "", text)
    return _CITATION.sub(" ", text).translate(_SUPERSCRIPTS)


class _Reader:
    """A text of which each part is read once: what a pattern took is blank for the next."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.found: list[Found] = []

    def take(
        self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Iterable[Found]]
    ) -> None:
        """Keep the values that `read` makes of each match, and blank their places."""
        for match in list(pattern.finditer(self.rest)):
            for found in read(match):
                self.keep(found)

    def keep(self, found: Found) -> None:
        """Keep one value and blank its place."""
        self.found.append(found)
        blank = _TAKEN * (found.end - found.start)
        self.rest = self.rest[: found.start] + blank + self.rest[found.end :]


def _scan(text: str, language: str) -> list[Found]:
    """All values, sorted. The order of the kinds matters: a date is no phone number."""
    reader = _Reader(text)
    reader.take(addresses.EMAIL, addresses.email)
    reader.take(addresses.LINK, addresses.link)
    _ordinals(reader)
    for pattern, read in dates.patterns(language):
        reader.take(pattern, read)
    reader.take(addresses.DIGITS, addresses.digits)
    reader.take(clock.NOON, clock.noon)
    reader.take(clock.MIDNIGHT, clock.midnight)
    reader.take(clock.CLOCK, clock.clock)
    reader.take(clock.HOURS, clock.hours)
    reader.take(numbers.RUN, numbers.run)
    reader.take(addresses.CODE, addresses.code)
    for match in list(numbers.NUMBER.finditer(reader.rest)):
        figures = numbers.amounts(match[0], language)
        reader.keep(numbers.number(reader.rest, *match.span(), figures))
    for start, end, value in list(numbers.spelled(reader.rest, language)):
        if _TAKEN in reader.rest[start:end]:
            continue  # "setenta por ciento": the unit of the one before
        found = numbers.number(reader.rest, start, end, frozenset((str(value),)))
        reader.keep(replace(found, spelled=True))
    if language == "en":  # "an hour" is one hour, but "twice an hour" claims none
        for match in list(numbers.ARTICLE.finditer(reader.rest)):
            found = numbers.number(reader.rest, *match.span(), frozenset("1"))
            reader.keep(replace(found, asserted=False))
    return sorted(reader.found, key=lambda found: found.start)


def _ordinals(reader: _Reader) -> None:
    """Numbers of list items: 1, 2, 3... claim nothing; one out of the row is also a number."""
    last = 0
    for match in list(_ORDINAL.finditer(reader.rest)):
        number = int(match[1])
        in_row = number in (1, last + 1)
        last = number if in_row else last
        facts: set[Fact] = {("ordinal", str(number))}
        if not in_row:
            facts.add(("number", str(number)))
        both = Facts(frozenset(facts), frozenset(facts))
        reader.keep(Found(*match.span(1), "ordinal", facts=both, asserted=not in_row))


def _inherit(found: list[Found], text: str) -> list[Found]:
    """Give a bare number the unit, currency, month or clock of the number that it is joined to.

    "3 a 5 dias úteis" are three business days too, "R$ 10 a 20" twenty reais, "1 a 15 de março"
    the first of March, "das 8 às 18h" eight o'clock.
    """
    found = list(found)
    joined = [
        bool(_CONNECTS.fullmatch(text[left.end : right.start])) for left, right in pairwise(found)
    ]
    for index in reversed(range(len(joined))):
        if joined[index] and found[index].kind == "number":
            found[index] = _like(found[index], found[index + 1])
    for index, together in enumerate(joined):
        left, right = found[index], found[index + 1]
        if together and left.kind == "money" and left.marked and right.kind == "number":
            found[index + 1] = replace(right, kind="money", unit=left.unit, marked=True)
    return found


def _like(left: Found, right: Found) -> Found:
    if right.kind in ("quantity", "money", "percent"):
        return replace(left, kind=right.kind, unit=right.unit)
    whole = [int(amount) for amount in left.amounts if amount.isdecimal()]
    if right.kind == "date" and whole and all(1 <= day <= 31 for day in whole):
        inherited = tuple((day, month, year) for day in whole for _, month, year in right.dates)
        return replace(left, kind="date", dates=inherited)
    if right.kind in ("time", "hours") and whole:
        facts = clock.hour_like(whole[0], right)
        return replace(left, kind="time", facts=facts) if facts else left
    return left


def _is_only_a_word(one: Found, text: str, language: str) -> bool:
    """Whether a number word claims nothing: an article ("one of them"), "several hundred", or a
    Vietnamese word that without a unit mostly means something else."""
    if not one.spelled:
        return False
    if one.amounts == frozenset("1"):
        return one.unit not in words.TIME_UNITS
    surface = text[one.start : one.end].lower()
    if language == "en":
        return surface in ("hundred", "thousand")
    return language == "vi" and one.kind == "number" and " " not in surface


def _finish(found: Found, text: str, language: str) -> Value:
    surface = text[found.start : found.end]
    facts = found.facts
    if facts is None and found.kind == "date":
        facts = dates.date_facts(found.dates, surface)
    asserted = found.asserted and not _is_only_a_word(found, text, language)
    return Value(surface, facts or numbers.number_facts(found), asserted)


def given(texts: Iterable[tuple[str, str]]) -> set[Fact]:
    """All facts that `texts`, each with its language, give as evidence."""
    return {fact for value in _values(texts) for fact in value.facts.gives}


def _values(texts: Iterable[tuple[str, str]]) -> Iterator[Value]:
    for text, language in texts:
        yield from extract(text, language)
