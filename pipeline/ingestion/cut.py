"""Cutting a text that is too long, between words where possible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

Fits = Callable[[str], bool]

_WORD = re.compile(r"\S+")


def furthest(ok: Callable[[int], bool], most: int, guess: int) -> int:
    """The largest n from 1 to ``most`` for which ``ok`` holds, 0 when it doesn't for 1.

    ``ok`` has to hold up to some n and not beyond. The better the ``guess``, the fewer times it is
    asked: about twice the logarithm of how far it is off.
    """
    good, bad = 0, most + 1
    step, place = 1, max(1, min(guess, most))
    while bad - good > 1:
        if ok(place):
            good = place
            place = min(place + step, bad - 1) if bad > most else (good + bad) // 2
        else:
            bad = place
            place = max(place - step, good + 1) if good == 0 else (good + bad) // 2
        step *= 2
    return good


def cut(text: str, wanted: Fits, allowed: Fits) -> Iterator[tuple[str, str]]:
    """(white space before, piece) of ``text``: as many words as ``wanted`` allows.

    A word alone may be as long as ``allowed`` says; only a longer one is cut inside.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    place = end = 0
    count = 16
    while place < len(spans):
        begin = spans[place][0]

        def fits(count: int, begin: int = begin, place: int = place) -> bool:
            return wanted(text[begin : spans[place + count - 1][1]])

        gap = text[end:begin]
        count = furthest(fits, len(spans) - place, count)
        end = spans[place + max(count, 1) - 1][1]
        piece = text[begin:end]
        if count or allowed(piece):
            yield gap, piece
        else:
            for part in _inside(piece, wanted):
                yield gap, part
                gap = ""
        place += max(count, 1)


def _inside(word: str, wanted: Fits) -> Iterator[str]:
    """A word in pieces, no mark taken from its letter. Nothing is smaller than one character."""
    begin = 0
    size = 64
    while begin < len(word):

        def fits(count: int, begin: int = begin) -> bool:
            return wanted(word[begin : begin + count])

        size = max(furthest(fits, len(word) - begin, size), 1)
        end = begin + size
        while begin < end < len(word) and unicodedata.combining(word[end]):
            end -= 1
        end = end if end > begin else begin + size
        yield word[begin:end]
        begin = end
