"""From bytes to text, without guessing."""

from __future__ import annotations

import codecs

from pipeline.errors import EmptyDocumentError, UnreadableError
from pipeline.text.normalise import normalise

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, path: str) -> str:
    """The normalised text of ``data``: UTF-8, or UTF-16 with its mark.

    A statistical guess of the charset is right until the day it isn't, and then wrong in silence.
    Raises UnreadableError that says where it fails, EmptyDocumentError for no text.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"{path} is not {encoding.upper()} text (byte {error.start}). "
            "Save it as UTF-8, or give it the ending of its real format."
        ) from None
    if text.count("\x00") > len(text) // 100 + 1:
        raise UnreadableError(f"{path} is binary. Give it the ending of its real format.")
    text = normalise(text)
    if not text.strip():
        raise EmptyDocumentError(f"{path} holds no text.")
    return text
