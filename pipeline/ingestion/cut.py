"""Cutting a text that is too long, between words where possible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

Fits = Callable[[str], bool]

_WORD = re.compile(r"\S+")


def furthest(ok: Callable[[int], bool], most: int) -> int:
    """The largest n from 1 to ``most`` for which ``ok`` holds, 0 when it doesn't for 1.

    ``ok`` has to hold up to some n and not beyond; it is asked about 2 log n times.
    """
    if most < 1 or not ok(1):
        return 0
    good, step = 1, 1
    while good < most and ok(min(good + step, most)):
        good = min(good + step, most)
        step *= 2
    bad = min(good + step, most + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        if ok(middle):
            good = middle
        else:
            bad = middle
    return good


def cut(text: str, wanted: Fits, allowed: Fits) -> Iterator[tuple[str, str]]:
    """(white space before, piece) of ``text``: as many words as ``wanted`` allows.

    A word alone may be as long as ``allowed`` says; only a longer one is cut inside.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    place = 0
    end = 0
    while place < len(spans):
        begin = spans[place][0]

        def fits(count: int, begin: int = begin, place: int = place) -> bool:
            return wanted(text[begin : spans[place + count - 1][1]])

        count = furthest(fits, len(spans) - place)
        gap = text[end:begin]
        end = spans[place + max(count, 1) - 1][1]
        word = text[begin:end]
        if count or allowed(word):
            yield gap, word
        else:
            for piece in _inside(word, wanted):
                yield gap, piece
                gap = ""
        place += max(count, 1)


def _inside(word: str, wanted: Fits) -> Iterator[str]:
    """A word in pieces, no mark taken from its letter. Nothing is smaller than one character."""
    begin = 0
    while begin < len(word):

        def fits(count: int, begin: int = begin) -> bool:
            return wanted(word[begin : begin + count])

        size = max(furthest(fits, len(word) - begin), 1)
        end = begin + size
        while begin < end < len(word) and unicodedata.combining(word[end]):
            end -= 1
        end = end if end > begin else begin + size
        yield word[begin:end]
        begin = end
