"""From bytes to text, without guessing."""

from __future__ import annotations

import codecs

from pipeline.errors import EmptyDocumentError, UnreadableError
from pipeline.text.normalise import normalise, says_something

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose little-endian mark begins the same.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAVE = "Save it as UTF-8, or give it the ending of its real format."

MOST_NULS = 0.01
"""Share of NUL characters above which a file is no text: stray ones happen, in UTF-16 without its
mark every second one is."""


def decode(data: bytes, path: str) -> str:
    """The normalised text of ``data``: UTF-8, or UTF-16 or UTF-32 with its mark.

    A statistical guess of the charset is right until the day it isn't, and then wrong in silence.
    Raises UnreadableError that says where it fails, EmptyDocumentError for no text.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        shown = encoding.removesuffix("-sig").upper()
        raise UnreadableError(
            f"{path} is not {shown} text (byte {error.start + 1}). {_SAVE}"
        ) from None
    if text.count("\x00") > len(text) * MOST_NULS + 1:
        raise UnreadableError(f"{path} is binary, or UTF-16 without its mark. {_SAVE}")
    text = normalise(text)
    if not says_something(text):
        raise EmptyDocumentError(f"{path} holds no text.")
    return text
