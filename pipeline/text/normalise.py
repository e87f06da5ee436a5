"""The normal form of text that goes into the database, and the hash of what it came from."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# C0 and C1 controls but tab and newline, the byte order mark, and surrogates that stand alone.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """``text`` in NFC, with ``\\n`` line ends, without control characters or a byte order mark.

    A lone surrogate, which no encoding can carry, becomes U+FFFD.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATE.sub("\ufffd", _UNWANTED.sub("", text))
    return unicodedata.normalize("NFC", text)


def content_hash(*parts: str | bytes) -> str:
    """SHA-256 in hex over ``parts`` with their boundaries."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
