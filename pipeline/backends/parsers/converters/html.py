"""A page's HTML made ready for a converter: decoded, without what is no text, words whole."""

from __future__ import annotations

import codecs

from bs4 import BeautifulSoup
from bs4.dammit import EncodingDetector

from pipeline.errors import UnreadableError
from pipeline.text.decode import decode

_NO_TEXT = ("script", "style", "noscript", "template", "nav", "svg", "iframe", "object")
_LOOKS = (
    *("abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "dfn", "em", "font", "i", "ins"),
    *("label", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "time", "u", "var"),
)
"""Tags inside a line: converters put a space where one begins or ends, in mid-word too."""


def clean(data: bytes, path: str) -> bytes:
    """The page in UTF-8 with only its text and structure."""
    page = _page(data, path)
    for tag in page.find_all(_NO_TEXT):
        tag.decompose()
    for tag in page.find_all(_LOOKS):
        tag.unwrap()
    page.smooth()
    for meta in page.find_all("meta"):
        meta.decompose()  # it may name the charset that the bytes had
    return page.encode("utf-8")


def title(data: bytes, path: str) -> str:
    """What the page calls itself in its head."""
    found = _page(data, path).title
    return " ".join(found.get_text().split()) if found else ""


def _page(data: bytes, path: str) -> BeautifulSoup:
    return BeautifulSoup(_decode(data, path), "html.parser")


def _decode(data: bytes, path: str) -> str:
    """The text by the charset that the page declares, else as ``text.decode`` does.

    Raises UnreadableError when the bytes are not in that charset.
    """
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    marked = data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not declared or marked:
        return decode(data, path)
    try:
        return data.decode(declared)
    except (LookupError, UnicodeDecodeError):
        raise UnreadableError(
            f"{path} says that it is {declared}, and is not. Save it as UTF-8."
        ) from None
