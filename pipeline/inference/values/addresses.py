"""E-mail addresses, links, phone and other long numbers, and words with figures in them."""

from __future__ import annotations

import re
from decimal import Decimal

from pipeline.inference.values.found import Fact, Found, plain

_TLD = (
    r"(?:com|org|net|edu|gov|mil|int|info|biz|io|ai|app|dev|co|me|tv|cc|xyz|site|online|store|shop|"
    r"cloud|tech|page|blog|wiki|link|eu|br|pt|es|mx|ar|cl|pe|uy|py|bo|ec|ve|vn|us|uk|ca|au|nz|de|"
    r"fr|it|nl|be|ch|at|ie|jp|kr|cn|in|sg|hk|tw)"
)
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
LINK = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s<>\"'\]})|]+|www\.[^\s<>\"'\]})|]+"
    rf"|(?<![\w@.-])(?:[a-z0-9-]+\.)+{_TLD}(?![\w-])(?!\.\w)(?:[/?#:][^\s<>\"'\]}})|]*)?",
    re.IGNORECASE,
)
"""With a scheme, with www, or a bare name under a common top-level domain."""

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)

DIGITS = re.compile(
    r"(?<![\w/.,-])(?:"
    r"\+\d{1,3}[\s.-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d"  # international
    r"|\(\d{2,4}\)[ ]?\d{3,5}[ .-]?\d{3,4}"  # (11) 91234-5678
    r"|0\d{2,4}(?:[ .-]?\d{2,4}){2,3}"  # 0800 123 4567
    r"|1[ .-]8\d\d[ .-]\d{3}[ .-]\d{4}|1[89]00[ .-]?\d{3,4}(?:[ .-]?\d{2,4})?"  # toll-free US, VN
    r"|\d{2}[ ]\d{4,5}[ -]\d{4}|\d{3}-\d{3,4}-\d{4}|\d{4,5}-\d{4}|\d{4}[ ]\d{4}|\d{3}-\d{4}"
    r"|\d{3}[ ]\d{3}[ ]\d{3}|\d{3}[ ]\d{2}[ ]\d{2}[ ]\d{2}"  # Spain
    r"|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}|\d{5}-\d{3}"  # CPF, CNPJ, CEP
    r"|\d{7,}"
    r")(?![\w/])(?![.,-]\d)"
)
"""Phone numbers by their usual groups, registry numbers and postcodes."""

MIN_DIALLED = 8
"""A phone number may be given without its country or area code, down to so many digits."""

CODE = re.compile(r"(?<![\w-])[^\W\d_][\w]*(?:[-_]\w+|(?<=\d)\.\d+)*")


def email(match: re.Match[str]) -> list[Found]:
    """An e-mail address; case doesn't matter."""
    address = match[0].rstrip(".-").lower()
    return [plain(match, "email", address, length=len(address))]


def link(match: re.Match[str]) -> list[Found]:
    """A link without its scheme, "www." and last slash. It gives its host and its page too."""
    surface = match[0].rstrip(".,;:!?…")
    host, slash, path = _SCHEME.sub("", surface).partition("/")
    host = host.lower().removeprefix("www.")
    canonical = (host + slash + path).rstrip("/")
    page = canonical.partition("#")[0]
    return [
        plain(match, "link", canonical, ("link", host), ("link", page), length=len(surface)),
    ]


def digits(match: re.Match[str]) -> list[Found]:
    """A number that is dialled or copied, not counted: its digits without leading zeros.

    Groups that may as well be numbers of their own ("3000-5000") are supported one by one too.
    """
    if re.search(r"[$€£₫][ ]?$", match.string[max(0, match.start() - 4) : match.start()]):
        return []
    groups = re.findall(r"\d+", match[0])
    if len(groups) == 2 and all(re.fullmatch(r"(?:19|20)\d\d", group) for group in groups):
        return []  # two years
    number = "".join(groups).lstrip("0")
    shorter = [("digits", number[cut:]) for cut in range(1, max(1, len(number) - MIN_DIALLED + 1))]
    single: list[Fact] = [("number", str(Decimal(group))) for group in groups]
    if len(groups) == 1:
        return [plain(match, "digits", number, *shorter, *single)]
    parts = [] if match[0].startswith(("+", "(", "0")) else single
    return [plain(match, "digits", number, *shorter, *parts, parts=parts)]


def code(match: re.Match[str]) -> list[Found]:
    """A word with figures in it: "A4", "bge-m3", "PRO2027"; of "covid-19" the number alone too."""
    if not any(character.isdigit() for character in match[0]):
        return []
    numbers = re.findall(r"(?<=[-_])\d+(?=s?(?!\w))", match[0])  # "mid-1990s" too
    letters = re.sub(r"[-_]\d+s?(?!\w)", "", match[0])
    apart = not any(character.isdigit() for character in letters)
    parts: list[Fact] = [("number", str(Decimal(number))) for number in numbers] if apart else []
    return [plain(match, "code", match[0].lower(), *parts, parts=parts)]
