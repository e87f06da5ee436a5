"""The terms of the keyword index, one definition for chunks and for queries.

A word gives itself, folded, and its first four letters. The beginning stands in for a stem: it
joins inflected forms as a stemmer does, needs no knowledge of the language, and lets a question
find cognates, names and half-typed words in a text of another language. Measured against the
Snowball stemmers in docs/decisions/0004-similarity-reranker.md.
"""

import re
import unicodedata
from itertools import pairwise

BEGINNING = 4
"""Length, in letters, of the beginning that a longer word also gives."""

MARK = "~"
"""Comes before a beginning, so that `~port` is not the word `port`."""

MAX_LETTERS = 64
"""A run of letters beyond this is data (base64, hashes), kept by its beginning alone."""

_LATIN_GREEK_CYRILLIC_MARKS = re.compile("[\u0300-\u036f]+")
_SEMITIC_MARKS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u0640]+"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")
# Letters that Unicode does not decompose into a base and a mark.
_STROKED = str.maketrans({"đ": "d", "ł": "l", "ø": "o", "ħ": "h", "ŧ": "t", "ı": "i"})

# Vowel signs and viramas of the Indic and South-East Asian scripts are part of words, but not
# matched by \w.
_MARKS = "".join(
    chr(code) for code in range(0x0370, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
# Scripts that put no space between words, or (Hangul) glue particles to them.
_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # kana, Han, Hangul
    "\U00020000-\U0003ffff"
    "]+"
)


def fold(text: str) -> str:
    """`text` without the differences that people don't type: case, accents, width, `đ`.

    NFKC and full case folding, then marks taken off Latin, Greek, Cyrillic, Hebrew and Arabic
    letters. Marks of other scripts are vowels and stay. Composed and decomposed input, also with
    any number of stacked marks, fold to the same string.
    """
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    text = unicodedata.normalize("NFKD", text)
    text = _LATIN_GREEK_CYRILLIC_MARKS.sub("", text)
    text = _SEMITIC_MARKS.sub("", text).translate(_STROKED)
    return unicodedata.normalize("NFC", text)


def words(text: str) -> list[str]:
    """The folded words of `text` in order; punctuation, symbols and underscores separate them."""
    return [word[:MAX_LETTERS] for word in _WORD.findall(fold(text))]


def terms(text: str, language: str | None) -> list[str]:
    """The index terms of `text`, with repeats: a term's count is its frequency.

    `language` is an ISO 639-1 code, None when unknown. It matters for Vietnamese alone, whose words
    are mostly two syllables written apart: there each pair of neighbours is a term too. Scripts
    that don't separate words give pairs of characters. Text without letters and digits gives an
    empty list.
    """
    found: list[str] = []
    plain: list[str] = []
    for word in words(text):
        if _UNSPACED.search(word):
            found.extend(_split_unspaced(word))
            continue
        plain.append(word)
        found.append(word)
        if len(word) > BEGINNING:
            found.append(MARK + word[:BEGINNING])
    if language == "vi":
        found.extend(f"{first} {second}" for first, second in pairwise(plain))
    return found


def _split_unspaced(word: str) -> list[str]:
    """Pairs of neighbouring characters of an unspaced run; what stands between runs is a word."""
    found: list[str] = []
    start = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > start:
            found.append(word[start : run.start()])
        text = run[0]
        found.extend(text[i : i + 2] for i in range(max(1, len(text) - 1)))
        start = run.end()
    if start < len(word):
        found.append(word[start:])
    return found
