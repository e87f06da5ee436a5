"""The normal form of text that goes into the database, and the hash of what it came from."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# The other C0 and C1 controls but tab and newline, and the byte order mark.
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """``text`` in NFC, with ``\\n`` line ends, without control characters or a byte order mark.

    Form feeds and Unicode's own line ends become ``\\n`` too. A lone surrogate, which no encoding
    can carry, becomes U+FFFD. A text in this form stays as it is.
    """
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", text))


def says_something(text: str) -> bool:
    """Whether a letter or figure is in ``text``: white space and rules are nothing to find."""
    return any(sign.isalnum() for sign in text)


def text_hash(text: str) -> bytes:
    """16 bytes of the SHA-256 of ``text``: what its vectors are found by."""
    return hashlib.sha256(text.encode()).digest()[:16]


def content_hash(*parts: str | bytes) -> str:
    """SHA-256 in hex over ``parts`` with their boundaries."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
