"""The words and marks around figures, in Portuguese, English, Spanish and Vietnamese.

Units, months and currencies are read in all four languages at once. Number words are not: "dos" is
two in Spanish and "of the" in Portuguese, "once" is eleven only in Spanish.
"""

from __future__ import annotations

import re

MONTHS: dict[str, int] = {}
for _names in (
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
):
    MONTHS.update((name, number) for number, name in enumerate(_names.split(), 1))
MONTHS |= {"marco": 3, "setiembre": 9}

SHORT_MONTHS: dict[str, int] = {}
for _names in (
    "jan fev mar abr mai jun jul ago set out nov dez",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "ene feb mar abr may jun jul ago sep oct nov dic",
):
    SHORT_MONTHS.update((name, number) for number, name in enumerate(_names.split(), 1))
SHORT_MONTHS["sept"] = 9

VIETNAMESE_MONTHS = {
    "một": 1,
    "giêng": 1,
    "hai": 2,
    "ba": 3,
    "tư": 4,
    "năm": 5,
    "sáu": 6,
    "bảy": 7,
    "tám": 8,
    "chín": 9,
    "mười": 10,
    "mười một": 11,
    "mười hai": 12,
    "chạp": 12,
}

_BUSINESS_DAY = (
    r"dias?[ ]+[úu]teis|dia[ ]+[úu]til|d[íi]as?[ ]+(?:h[áa]bil(?:es)?|laborables?)"
    r"|(?:business|working|work)[ -]days?|ngày[ ]+làm[ ]+việc"
)

UNITS = (
    ("business day", _BUSINESS_DAY),
    ("day", r"(?:(?:calendar|consecutive|full)[ -])?days?|d[ií]as?|ngày"),
    ("hour", r"horas?|hours?|hrs?|hs|h|giờ|tiếng"),
    ("minute", r"minutos?|minutes?|mins?|phút"),
    ("second", r"segundos?|seconds?|secs?|seg|giây"),
    ("week", r"semanas?|weeks?|tuần"),
    ("month", r"m[êe]s(?:es)?|months?|tháng"),
    ("year", r"a[nñ]os?|years?|yrs?|năm"),
    ("point", r"pontos?|puntos?|points?|pts|điểm"),
    ("time", r"vez(?:es)?|veces|times?|lần|x"),
    ("percent", r"%|por[ ]?c[ie]+nto|per[ ]?cent|phần[ ]+trăm"),
)
"""Canonical unit and the pattern of its names. The order decides: business days before days."""

TIME_UNITS = frozenset(("business day", "day", "hour", "minute", "second", "week", "month", "year"))

CURRENCIES = (
    ("BRL", r"R\$|BRL", r"R\$|BRL|reais|real"),
    ("USD", r"US\$|U\$S|USD", r"US\$|USD|d[óo]lar(?:es)?|dollars?|đô[ ]la"),
    ("EUR", r"€|EUR", r"€|EUR|euros?"),
    ("GBP", r"£|GBP", r"£|GBP|pounds?|libras?"),
    ("VND", r"₫|VND|VNĐ", r"₫|VND|VNĐ|đồng|đ|dong"),
    ("peso", r"MX\$|MXN|ARS|COP|CLP", r"MXN|ARS|COP|CLP|pesos?"),
    ("USD or peso", r"\$", r"\$"),
)
"""Canonical currency, marks before an amount, marks and words after it. A bare "$" is a dollar's
or a peso's."""

MULTIPLIERS = (
    (1_000_000_000, r"mil millones"),
    (1_000, r"mil|thousand|nghìn|ngàn"),
    (1_000_000, r"milh(?:ão|ões|ao|oes)|mill[óo]n(?:es)?|millions?|triệu"),
    (1_000_000_000, r"bilh(?:ão|ões|ao|oes)|billions?|tỷ"),
)


def _count(first: int, words: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


def _tens(first: int, step: int, words: str) -> dict[str, int]:
    return {word: first + step * index for index, word in enumerate(words.split())}


NUMBER_WORDS: dict[str, dict[str, int]] = {
    "pt": _count(
        1,
        "um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze "
        "dezesseis dezessete dezoito dezenove vinte",
    )
    | {"uma": 1, "duas": 2, "tres": 3, "catorze": 14, "dezasseis": 16, "dezassete": 17}
    | _tens(30, 10, "trinta quarenta cinquenta sessenta setenta oitenta noventa cem")
    | {"dezanove": 19, "cento": 100, "mil": 1000}
    | _tens(200, 100, "duzentos trezentos quatrocentos quinhentos seiscentos setecentos")
    | _tens(200, 100, "duzentas trezentas quatrocentas quinhentas seiscentas setecentas")
    | {"oitocentos": 800, "oitocentas": 800, "novecentos": 900, "novecentas": 900},
    "en": _count(
        1,
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty",
    )
    | _tens(30, 10, "thirty forty fifty sixty seventy eighty ninety hundred")
    | {"thousand": 1000},
    "es": _count(
        1,
        "un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
        "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés "
        "veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve",
    )
    | {"uno": 1, "una": 1, "dieciseis": 16, "veintiún": 21, "veintidos": 22, "veintitres": 23}
    | _tens(30, 10, "treinta cuarenta cincuenta sesenta setenta ochenta noventa cien")
    | {"veintiseis": 26, "ciento": 100, "mil": 1000}
    | _tens(200, 100, "doscientos trescientos cuatrocientos quinientos seiscientos setecientos")
    | {"ochocientos": 800, "novecientos": 900, "doscientas": 200, "trescientas": 300},
    "vi": _count(1, "một hai ba bốn năm sáu bảy tám chín mười")
    | {
        "mốt": 1,
        "tư": 4,
        "lăm": 5,
        "nhăm": 5,
        "mươi": 10,
        "trăm": 100,
        "nghìn": 1000,
        "ngàn": 1000,
    },
}

SCALES = frozenset(("hundred", "thousand", "mil", "mươi", "trăm", "nghìn", "ngàn"))
"""Number words that multiply what stands before them."""

JOINERS = {"pt": "e", "en": "and", "es": "y", "vi": "lẻ"}


def pattern(*alternatives: str) -> str:
    """One group that matches any of `alternatives`, the longest first where one begins another."""
    return "(?:" + "|".join(alternatives) + ")"


FULL_MONTH = pattern(*sorted(MONTHS, key=len, reverse=True))
SHORT_MONTH = pattern(*sorted(SHORT_MONTHS, key=len, reverse=True))
UNIT = re.compile(
    "|".join(f"(?P<u{index}>(?:{names})(?!\\w))" for index, (_, names) in enumerate(UNITS)),
    re.IGNORECASE,
)
