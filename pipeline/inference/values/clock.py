"""Times of day: 12:00, 12h, 9 am, 9 giờ sáng, noon."""

from __future__ import annotations

import re
from dataclasses import replace

from pipeline.inference.values.found import Fact, Facts, Found, plain

_EARLY = "manhã|mañana|madrugada|morning|sáng|đêm"
_LATE = "tarde|noite|noche|afternoon|evening|night|chiều|tối"
_PART_OF_DAY = (
    r"(?:[ ](?:d[ae](?:[ ]la)?[ ]|in[ ]the[ ]|at[ ]|buổi[ ])?"
    rf"(?P<part>{_EARLY}|{_LATE}|trưa)(?!\w))"
)
CLOCK = re.compile(
    r"(?<!\w)(?<!\d[.,])(?P<hour>\d{1,2})"
    r"(?:[ ]?(?:[:h]|giờ[ ]?)(?P<minute>\d{2})(?::\d{2})?(?:[ ]?(?:hrs?|hs|h|min|phút)(?!\w))?)?"
    rf"(?!\d)(?:[ ]?(?P<half>[ap])\.?[ ]?m\b\.?|{_PART_OF_DAY})?",
    re.IGNORECASE,
)
HOURS = re.compile(
    r"(?<!\w)(?<!\d[.,])(?P<hour>\d{1,2})[ ]?(?:horas?|hours?|hrs?|hs|h|giờ|o'clock)(?!\w)"
    rf"{_PART_OF_DAY}?",
    re.IGNORECASE,
)
NOON = re.compile(r"(?<!\w)(?:meio[- ]dia|mediod[íi]a|noon|midday|giữa trưa)(?!\w)", re.IGNORECASE)
MIDNIGHT = re.compile(r"(?<!\w)(?:meia[- ]noite|medianoche|midnight|nửa đêm)(?!\w)", re.IGNORECASE)
_AT = re.compile(r"(?<!\w)(?:às|as|das|at|from|until|las|lúc|từ)\s*$", re.IGNORECASE)
_DURING = re.compile(
    r"(?<!\w)(?:em|dentro de|por|durante|após|depois de|cada|within|in|for|after|every|than|en|"
    r"tras|después de|trong|sau|mỗi|uma|mais de|menos de|más de)\s*$",
    re.IGNORECASE,
)


def noon(match: re.Match[str]) -> list[Found]:
    """Twelve o'clock by its name."""
    return [plain(match, "time", "12:00")]


def midnight(match: re.Match[str]) -> list[Found]:
    """The day's first minute by its name."""
    return [plain(match, "time", "00:00")]


def clock(match: re.Match[str]) -> list[Found]:
    """A time that shows as one: by minutes, am or pm, or the part of the day."""
    if not (match["minute"] or match["half"] or match["part"]):
        return []
    time = _time(int(match["hour"]), int(match["minute"] or 0), match["half"], match["part"])
    if time is None:
        return []
    found = plain(match, "time", time, ("number", str(int(match["hour"]))))
    return [replace(found, marked=(match["half"] or "").lower() == "p")]


def hours(match: re.Match[str]) -> list[Found]:
    """ "12h", a time after "at", a duration after "within", else either of the two."""
    hour = int(match["hour"])
    before = match.string[max(0, match.start() - 20) : match.start()]
    time = _time(hour, 0, part=match["part"])
    facts: set[Fact] = set()
    if time is not None and (match["part"] or not _DURING.search(before)):
        facts.add(("time", time))
    if not match["part"] and not (facts and _AT.search(before)):
        facts.add(("quantity", f"{hour} hour"))
    gives = frozenset(facts | {("number", str(hour))})
    accepts = frozenset(facts | {("cell", str(hour))})
    return [Found(match.start(), match.end(), "hours", facts=Facts(accepts, gives))]


def hour_like(amount: int, later: Found) -> Facts | None:
    """Facts of the "9" in "9 to 5 pm" or "das 9 às 18h", None where it can't be an hour."""
    if amount > 24 or later.facts is None:
        return None
    facts: set[Fact] = {("time", f"{amount % 24:02}:00")}
    if later.marked and amount < 12:
        facts.add(("time", f"{amount + 12:02}:00"))
    if later.kind == "hours":
        facts.add(("quantity", f"{amount} hour"))
    return Facts(frozenset(facts), frozenset(facts | {("number", str(amount))}))


def _time(hour: int, minute: int, half: str | None = None, part: str | None = None) -> str | None:
    """HH:MM, None when there is no such time."""
    half, part = (half or "").lower(), (part or "").lower()
    late = half == "p" or part in _LATE.split("|") or (part == "trưa" and hour < 10)
    if late and 1 <= hour <= 11:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        return None
    return f"{hour % 24:02}:{minute:02}"
