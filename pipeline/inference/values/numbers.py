"""Numbers in figures and in words, with their multiplier, currency or unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from pipeline.inference.values import words
from pipeline.inference.values.found import Facts, Found, plain

_FIGURES = (
    r"(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?)(?!\d)(?![.,]\d)"
)
NUMBER = re.compile(rf"(?<!\w)(?<!\d[.,]){_FIGURES}")
RUN = re.compile(r"(?<!\w)(?<!\d[.,])\d+(?:[.,]\d+){2,}")
ARTICLE = re.compile(
    r"\ban?(?=[ ](?:hour|day|week|month|year|minute|business day)\b)", re.IGNORECASE
)
_BEFORE = [
    (code, re.compile(rf"(?<!\w)(?:{before})[ ]?$", re.IGNORECASE))
    for code, before, _ in words.CURRENCIES
]
_AFTER = [
    (code, re.compile(rf"(?:de[ ])?(?:{after})(?!\w)", re.IGNORECASE))
    for code, _, after in words.CURRENCIES
]
_TIMES = [
    (factor, re.compile(rf"(?:[ ]?(?:{names}))(?!\w)", re.IGNORECASE))
    for factor, names in (*words.MULTIPLIERS, (1_000, r"(?<=\d)k"))
]
# "3 (três) dias", "3-day", "1º dia"; the unit itself in brackets, "30 (seconds)", is tried too
_GAP = re.compile(r"(?:[ ]?\([^()\d\n]{2,40}\))?(?:º|ª|°)?(?:[ ]+|-)?")
_BRACKET = re.compile(r"[ ]?\(")
# A number after a cell's border, a colon or in a CSV row may have its unit in the header.
_CELL = re.compile(r"(?:[|:=;]\s*|[^\s\d],|^)$", re.MULTILINE)
_LETTER_NEXT = re.compile(r"[ ]*[^\W\d_]")


def amounts(figures: str, language: str) -> frozenset[str]:
    """The canonical numbers that figures may stand for.

    A single mark before three figures parts thousands; where it is also the language's decimal
    mark, both readings are kept.
    """
    figures = figures.replace(" ", "")
    marks = set(re.findall(r"[.,]", figures))
    if len(marks) == 2:
        decimal = max(".,", key=figures.rfind)
        thousands = "," if decimal == "." else "."
        return frozenset((_canonical(figures.replace(thousands, "").replace(decimal, ".")),))
    if not marks:
        return frozenset((_canonical(figures),))
    mark = marks.pop()
    whole, *groups = figures.split(mark)
    as_decimal = _canonical(f"{whole}.{groups[0]}")
    if len(groups) == 1 and (len(groups[0]) != 3 or len(whole) > 3 or whole.startswith("0")):
        return frozenset((as_decimal,))
    found = {_canonical(figures.replace(mark, ""))}
    if len(groups) == 1 and mark == ("." if language == "en" else ",") and "." in as_decimal:
        found.add(as_decimal)
    return frozenset(found)


def number(text: str, start: int, end: int, values: frozenset[str]) -> Found:
    """The number at `start` to `end` of `text`, with what stands before and after it."""
    for factor, pattern in _TIMES:
        match = pattern.match(text, end)
        if match:
            values = frozenset(_canonical(str(Decimal(value) * factor)) for value in values)
            end = match.end()
            break
    for code, pattern in _BEFORE:
        match = pattern.search(text, max(0, start - 6), start)
        if match:
            if re.compile(r"m(?!\w)", re.IGNORECASE).match(text, end):  # "£30m"
                values = frozenset(_canonical(str(Decimal(value) * 1_000_000)) for value in values)
                end += 1
            return Found(match.start(), end, "money", values, code, marked=True)
    gap = _GAP.match(text, end)
    assert gap is not None
    for code, pattern in _AFTER:
        match = pattern.match(text, gap.end())
        if match:
            return Found(start, match.end(), "money", values, code)
    bracket = _BRACKET.match(text, end)
    unit = words.UNIT.match(text, gap.end()) or (
        words.UNIT.match(text, bracket.end()) if bracket else None
    )
    if unit and unit.lastgroup and not (unit[0] in "xX" and gap.end() > end):
        name = words.UNITS[int(unit.lastgroup[1:])][0]
        kind = "percent" if name == "percent" else "quantity"
        return Found(start, unit.end(), kind, values, name)
    cell = _CELL.search(text[max(0, start - 12) : start]) and not _LETTER_NEXT.match(text, end)
    return Found(start, end, "number", values, cell=bool(cell))


def number_facts(found: Found) -> Facts:
    """A bare number accepts any number; one with a unit needs the unit, or a cell without one."""
    bare = {("number", value) for value in found.amounts}
    cells = {("cell", value) for value in found.amounts}
    if found.kind == "number":
        return Facts(frozenset(bare), frozenset(bare | cells if found.cell else bare))
    units = found.unit.split(" or ")
    facts = {(found.kind, f"{value} {unit}") for value in found.amounts for unit in units}
    return Facts(frozenset(facts | cells), frozenset(facts | bare))


def run(match: re.Match[str]) -> list[Found]:
    """Figures with several points or commas that are no number: a version, a row of a table."""
    if re.fullmatch(_FIGURES, match[0]):
        return []
    if "," not in match[0]:
        return [plain(match, "code", match[0])]
    figures = re.compile(r"\d+").finditer(match.string, *match.span())
    return [Found(*one.span(), "number", amounts(one[0], "")) for one in figures]


def spelled(text: str, language: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of numbers in words: "vinte e dois", "twenty-two", "hai mươi lăm"."""
    lexicon = words.NUMBER_WORDS.get(language, {})
    joiner = words.JOINERS.get(language, "")
    reading: _Reading | None = None
    for match in re.finditer(r"[^\W\d_]+", text):
        word = match[0].lower()
        near = reading is not None and re.fullmatch(r"[ -]+", text[reading.reach : match.start()])
        if reading and near:
            if word == joiner and not reading.joined:
                reading.joined, reading.reach = True, match.end()
                continue
            if word in lexicon and reading.add(word, lexicon[word], match.end(), language):
                continue
        if reading:
            yield reading.start, reading.end, reading.value
        reading = None
        if word in lexicon:
            reading = _Reading(lexicon[word], match.start(), match.end())
    if reading:
        yield reading.start, reading.end, reading.value


class _Reading:
    """A number in words as far as it has been read: `total` thousands, `current` below them."""

    def __init__(self, value: int, start: int, end: int) -> None:
        self.start, self.end, self.reach = start, end, end
        self.joined = False
        self.total, self.current = (value, 0) if value >= 1000 else (0, value)
        self.last = value

    @property
    def value(self) -> int:
        return self.total + self.current

    def add(self, word: str, value: int, end: int, language: str) -> bool:
        """Take in one more word if it goes on with this number."""
        if word in words.SCALES and not self.joined and self.last < value:
            if value >= 1000:
                self.total, self.current = self.total + self.current * value, 0
            else:
                self.current += self.last * value - self.last
            self.last *= value
        else:
            after_ten = 10 if language == "vi" and self.last == 10 else 0
            room = next((size for size in (1000, 100) if self.last >= size), after_ten)
            room = 10 if not room and self.last >= 20 else room
            if value >= room:
                return False
            self.current, self.last = self.current + value, value
        self.end = self.reach = end
        self.joined = False
        return True


def _canonical(figures: str) -> str:
    return format(Decimal(figures).normalize(), "f")
