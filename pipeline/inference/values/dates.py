"""Dates, months and years in the forms of the four languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pipeline.inference.values import words
from pipeline.inference.values.found import Fact, Facts, Found, plain

Reader = Callable[[re.Match[str]], list[Found]]
Dates = tuple[tuple[int, int, int | None], ...]

_OF = r"(?:[ ]?(?:de|del|of)[ ]|[ ]?[/-][ ]?|[ ])"
_RANK = r"(?:º|ª|°|o|st|nd|rd|th|er)?"
_VI_MONTH = words.pattern(r"\d{1,2}", *sorted(words.VIETNAMESE_MONTHS, key=len, reverse=True))
# "may" and "march" are verbs too, "marco" and "mayo" other things: alone they need a preposition.
_DOUBTFUL = ("may", "march", "marco", "mayo")
_CLEAR_MONTH = words.pattern(*(name for name in words.MONTHS if name not in _DOUBTFUL))
_PREPOSITION = "|".join(
    f"(?<=\\b{word} )" for word in ("in", "of", "by", "until", "since", "de", "en", "em")
)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ISO = _compile(r"(?<![\d-])(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\d-])")
_NUMERIC = _compile(
    r"(?<![\d/.-])(?P<d>\d{1,2})(?P<sep>[/.-])(?P<m>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})"
    r"(?!\d)(?![/.-]\d)"
)
_DAY_MONTH = _compile(r"(?<![\d/.,-])(?P<d>\d{1,2})/(?P<m>\d{1,2})(?P<y>)(?!\d)(?![/.,-]\d)")
_NAMED = (
    # "1º de março de 2027", "5th of March, 2027"
    _compile(
        rf"(?<![\w.,])(?P<d>\d{{1,2}}|primeiro|primero){_RANK}{_OF}(?P<m>{words.FULL_MONTH})(?!\w)"
        r"(?:,?(?:[ ]?(?:de|del|of|/|-)[ ]?|[ ])(?P<y>\d{4})(?!\d))?"
    ),
    # "5-Mar-2027", "5 set. de 2027", "05/mar": a short name needs more around it
    _compile(
        rf"(?<![\w.,])(?P<d>\d{{1,2}}){_RANK}{_OF}(?P<m>{words.SHORT_MONTH})\.?"
        r"(?:[ ]de[ ]|[ ,/-]+)(?P<y>\d{4})(?!\d)"
    ),
    _compile(rf"(?<![\w.,])(?P<d>\d{{1,2}})/(?P<m>{words.SHORT_MONTH})(?!\w)(?P<y>)"),
    # "March 5th, 2027", "Mar 5"
    _compile(
        rf"(?<!\w)(?P<m>{words.FULL_MONTH}|{words.SHORT_MONTH})[ ](?P<d>\d{{1,2}})"
        r"(?:st|nd|rd|th)?(?!\w)(?![.,]\d\d(?!\d))(?:,?[ ](?P<y>\d{4})(?!\d))?"
    ),
    # "ngày 5 tháng 3 năm 2027"
    _compile(
        rf"(?<![\w.,])(?:(?:ngày|mùng|mồng)[ ])?(?P<d>\d{{1,2}})[ ]tháng[ ](?P<m>{_VI_MONTH})(?!\w)"
        r"(?:[ ]?(?:năm|/|,)[ ]?(?P<y>\d{4})(?!\d))?"
    ),
)
# "March 1-15, 2027": two dates
_ENGLISH_RANGE = _compile(
    rf"(?<!\w)(?P<m>{words.FULL_MONTH}|{words.SHORT_MONTH})[ ](?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
    r"[ ]?(?:[-–—]|to|and)[ ]?(?P<e>\d{1,2})(?:st|nd|rd|th)?(?!\w)(?!,\d)"
    r"(?:,?[ ](?P<y>\d{4})(?!\d))?"
)
_MONTHS = (
    _compile(r"(?<![\d/])(?P<m>\d{1,2})/(?P<y>\d{4})(?![\d/])"),
    _compile(
        rf"(?<!\w)(?P<m>{words.FULL_MONTH})(?:,?[ ]?(?:de|del|of|/)[ ]?|,?[ ])(?P<y>\d{{4}})(?!\d)"
    ),
    _compile(
        rf"(?<!\d[ ])(?<!\w)tháng[ ](?P<m>{_VI_MONTH})(?!\w)"
        r"(?:[ ]?(?:năm|/)[ ]?(?P<y>\d{4})(?!\d))?"
    ),
    _compile(rf"(?<!\w)(?P<m>{_CLEAR_MONTH})(?!\w)(?P<y>)"),
    _compile(rf"(?:{_PREPOSITION})(?P<m>may|march|mayo)(?!\w)(?P<y>)"),
)


def patterns(language: str) -> Iterator[tuple[re.Pattern[str], Reader]]:
    """Patterns from the most to the least complete, each with what reads its matches.

    In English 05/03 may be the third of May too; elsewhere only 05/13 is read so.
    """

    def numeric(match: re.Match[str]) -> list[Found]:
        orders = [(int(match["d"]), int(match["m"]))]
        if language == "en" or not _valid(*orders[0]):
            orders.append((orders[0][1], orders[0][0]))
        dates = tuple(
            (day, month, _year(match["y"])) for day, month in orders if _valid(day, month)
        )
        return [_date(match, dates)] if dates else []

    yield _ISO, _named
    yield _NUMERIC, numeric
    yield _ENGLISH_RANGE, _two_days
    yield from ((pattern, _named) for pattern in _NAMED)
    yield from ((pattern, _month) for pattern in _MONTHS)
    yield _DAY_MONTH, numeric


def date_facts(dates: Dates, surface: str) -> Facts:
    """Facts of a date, or of all readings of an ambiguous one.

    A date with its year may also stand apart in the evidence, the day under a heading with the
    year. "day" is the fact of a date without a year; a full date doesn't give it, so that the same
    day of another year supports nothing.
    """
    accepts: set[Fact] = set()
    gives: set[Fact] = set()
    for day, month, year in dates:
        yearless = f"{month:02}-{day:02}"
        gives |= {("date", yearless), ("month", f"{month:02}"), ("number", str(day))}
        if year is None:
            accepts.add(("date", yearless))
            gives.add(("day", yearless))
        else:
            accepts.add(("date", f"{year}-{yearless}"))
            gives |= {("date", f"{year}-{yearless}"), ("month", f"{year}-{month:02}")}
            gives.add(("number", str(year)))
    parts: tuple[frozenset[Fact], ...] = ()
    years = frozenset(("number", str(year)) for _, _, year in dates if year is not None)
    if years:
        parts = (frozenset(("day", f"{month:02}-{day:02}") for day, month, _ in dates), years)
    elif re.fullmatch(r"\d{1,2}/\d{1,2}", surface):  # may as well be "24/7" or a fraction
        numbers = [("number", str(int(number))) for number in surface.split("/")]
        gives.update(numbers)
        parts = tuple(frozenset((number,)) for number in numbers)
    return Facts(frozenset(accepts), frozenset(gives), parts)


def _number(name: str) -> int:
    """The month of a figure or a name; 0 for none."""
    name = name.lower()
    if name.isdecimal():
        return int(name)
    named = words.MONTHS.get(name) or words.SHORT_MONTHS.get(name)
    return named or words.VIETNAMESE_MONTHS.get(name, 0)


def _year(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if len(text) == 4 else 2000 + int(text)


def _valid(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def _date(match: re.Match[str], dates: Dates) -> Found:
    return Found(match.start(), match.end(), "date", dates=dates)


def _named(match: re.Match[str]) -> list[Found]:
    day = int(match["d"]) if match["d"].isdecimal() else 1
    month = _number(match["m"])
    return [_date(match, ((day, month, _year(match["y"])),))] if _valid(day, month) else []


def _two_days(match: re.Match[str]) -> list[Found]:
    month, year = _number(match["m"]), _year(match["y"])
    days = int(match["d"]), int(match["e"])
    if not all(_valid(day, month) for day in days):
        return []
    middle = match.start("e")
    return [
        Found(match.start(), match.end("d"), "date", dates=((days[0], month, year),)),
        Found(middle, match.end(), "date", dates=((days[1], month, year),)),
    ]


def _month(match: re.Match[str]) -> list[Found]:
    month, year = _number(match["m"]), _year(match["y"])
    if not 1 <= month <= 12:
        return []
    alone: Fact = ("month", f"{month:02}")
    if year is None:
        return [plain(match, *alone)]
    number: Fact = ("number", str(year))
    return [plain(match, "month", f"{year}-{month:02}", alone, number, parts=(alone, number))]
