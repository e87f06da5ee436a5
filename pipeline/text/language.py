"""Which language a message is written in, among those that an assistant speaks.

py3langid judges, and is right on whole questions. On one or two words it rarely is sure, and a
reply in the wrong language is worse than one in the language of the conversation so far: so words
and letters that point to one language add their weight, and what is still unsure is left undecided.
"""

from __future__ import annotations

import copy
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

SURE = 0.85
"""Probability that decides a text of fewer than `ENOUGH_WORDS`."""

LIKELY = 0.6
"""Probability that decides a longer one."""

ENOUGH_WORDS = 3

SIGN_WEIGHT = 1.5
"""How much a telling word or letter adds to its language's log-probability.

Chosen with the three above by looking at the first two to five words of the questions of XQuAD and
FaQuAD (even-numbered articles). On the odd-numbered ones: of whole questions .992 to 1.000 right
and at most .003 wrong, of the first three words .81 (pt) to .99 right and .005 to .035 wrong."""

_TELLING_LETTERS = {
    "vi": frozenset("ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"),
    "es": frozenset("ñ¿¡"),
    "pt": frozenset("ãõç"),
}
"""Letters and marks that only one of the four languages uses; ã and õ are Vietnamese too, but
hardly ever without another Vietnamese letter near them."""

_TELLING_WORDS = {
    "pt": frozenset(
        "não nao sim você voce vc cadê cade meu meus minha minhas fiz obrigado obrigada olá oi "
        "dia tarde noite fazer faço foi pra então também tá está esqueci consigo senha pontos "
        "onde quando qual quais uma dos das ao na no em com já ja qto qdo pq tbm vcs".split()
    ),
    "en": frozenset(
        "the is are do does did how what when where which who why my your please thanks yes not "
        "and with this that can will would it for from to of".split()
    ),
    "es": frozenset(
        "sí hola gracias dónde donde cuándo cuál cuáles cómo qué quiero puedo mi mis usted el los "
        "las una del al y pero muy hasta tengo olvidé contraseña puntos con por cuanto cuánto"
        " días".split()
    ),
    "vi": frozenset(
        "tôi toi bạn không khong được duoc làm lam thế nào nao bao nhiêu nhieu là gì gi có cho và "
        "của cua khi còn chưa chua cảm ơn xin chào vâng dạ thì thi sao đổi doi điểm diem mật mat "
        "khẩu khau gói goi muốn muon".split()
    ),
}
"""Frequent words that are rare in the other three languages."""

_ADDRESSES = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def has_words(text: str) -> bool:
    """Whether `text` says anything: false for blanks, emoji, punctuation and figures alone."""
    return any(len(word) > 1 or not word.isascii() for word in _words(text))


def detect(text: str, *, languages: Sequence[str], fallback: str) -> str:
    """The one of `languages` that `text` is written in, or `fallback` where that can't be told.

    Codes are ISO 639-1, a region ("pt-BR") is allowed and handed back as given. The same arguments
    always give the same answer. Text without letters, or too short or mixed to decide, is
    `fallback`'s; a code that the library doesn't know is never found.
    """
    words = _words(text)
    if not words:
        return fallback
    codes = {code.split("-")[0].lower(): code for code in reversed(languages)}
    known = tuple(sorted(code for code in codes if code in _known_codes()))
    if len(known) < 2:
        return fallback
    ranked = _identifier(known).rank(" ".join(words))
    signs = _signs(words, text, known)
    weights = {code: p * math.exp(SIGN_WEIGHT * signs[code]) for code, p in ranked}
    best = max(weights, key=lambda code: weights[code])
    probability = weights[best] / sum(weights.values())
    bar = LIKELY if len(words) >= ENOUGH_WORDS else SURE
    return codes[best] if probability >= bar else fallback


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFC", _ADDRESSES.sub(" ", text)).lower()
    return [match[0] for match in _WORD.finditer(plain)]


def _signs(words: Sequence[str], text: str, known: Sequence[str]) -> dict[str, int]:
    """How many different words and kinds of letters point to each language."""
    letters = set(unicodedata.normalize("NFC", text).lower())
    return {
        code: len(_TELLING_WORDS.get(code, frozenset()) & set(words))
        + bool(letters & _TELLING_LETTERS.get(code, frozenset()))
        for code in known
    }


@cache
def _model() -> LanguageIdentifier:
    # Half a second and 20 MB, spent when the first text comes, not at import.
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _known_codes() -> frozenset[str]:
    return frozenset(_model().labels)


@cache
def _identifier(codes: tuple[str, ...]) -> LanguageIdentifier:
    """The model restricted to `codes`; a copy, since the restriction changes it in place."""
    restricted = copy.copy(_model())
    restricted.set_languages(codes)
    return restricted
