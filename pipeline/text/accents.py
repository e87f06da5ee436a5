"""Accents put back into messages typed without them, as the indexed texts write the words.

To an embedder "cartao" is hardly the word "cartão". The index knows how its words are written, in
whatever language, so no dictionary is needed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from pipeline.text.tokens import fold

DOMINANT = 0.9
"""Share of a word's occurrences that must be written alike. Below it, as with "esta" and "está",
nobody can tell which was meant."""

SHORTEST = 2
"""A single letter is left alone: "e" and "é" are both words."""

_WORD = re.compile(r"[^\W\d_]+")


def written_forms(texts: Iterable[str]) -> dict[str, str]:
    """How `texts` write the words that they write with accents, by the folded word."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for word in _WORD.findall(text.lower()):
            counts[fold(word)][word] += 1
    forms = {}
    for folded, written in counts.items():
        form, count = written.most_common(1)[0]
        if form != folded and len(folded) >= SHORTEST and count >= DOMINANT * written.total():
            forms[folded] = form
    return forms


def restore(message: str, forms: Mapping[str, str]) -> str:
    """`message` with the accents of ``forms``, when it was typed without any.

    A message with an accent anywhere was typed with care and stays as it is; so do words with a
    capital, which are mostly names.
    """
    if fold(message) != message.casefold():
        return message
    return _WORD.sub(lambda word: forms.get(word[0], word[0]), message)
