"""What a file really is, told by its bytes, and whether it may be opened at all.

A name can be wrong and an archive's own sizes can lie, so neither is believed.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import PurePosixPath

from pipeline.backends.parsers.options import ParseOptions
from pipeline.errors import (
    EmptyDocumentError,
    EncryptedError,
    FileTooLargeError,
    UnreadableError,
    UnsupportedFormatError,
)

_PDF_MARK_WITHIN = 1024
"""Where ``%PDF-`` may begin: readers have always allowed for that much before it."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_PARTS = {"word/": ".docx", "ppt/": ".pptx", "xl/": ".xlsx"}
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_PIECE = 1 << 20

KINDS = (".pdf", *_PARTS.values())
"""The endings whose files can be told by their bytes."""


def check(data: bytes, path: str, options: ParseOptions) -> None:
    """Refuse what its name, a password, its age or its size make impossible to read.

    Raises EmptyDocumentError, EncryptedError, FileTooLargeError, UnreadableError or
    UnsupportedFormatError, each with what to do.
    """
    if not data:
        raise EmptyDocumentError(f"{path} is empty: it has 0 bytes.")
    ending = PurePosixPath(path).suffix.lower()
    kind = _kind(data, path)
    if kind in _PARTS.values():
        _check_archive(data, path, options)
    if kind == ending:
        return
    if kind:
        raise UnreadableError(f"{path} is not what its name says: it is a {kind} file. Rename it.")
    if ending in KINDS:
        raise UnreadableError(
            f"{path} is not what its name says: it has no {ending[1:].upper()} inside, or its "
            "beginning is lost. Save it again, or give it the ending of its real format."
        )


def _kind(data: bytes, path: str) -> str:
    """The ending that the bytes ask for, "" where they could be any text."""
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise EncryptedError(f"{path} is protected by a password: save it without one.")
        raise UnsupportedFormatError(
            f"{path} is in the Office format of before 2007: save it as docx, xlsx or pptx."
        )
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive_kind(data, path)
    if b"%PDF-" in data[:_PDF_MARK_WITHIN]:
        return ".pdf"
    return ""


def _archive_kind(data: bytes, path: str) -> str:
    names = [entry.filename for entry in _archive(data, path).infolist()]
    for folder, ending in _PARTS.items():
        if any(name.startswith(folder) for name in names):
            return ending
    raise UnsupportedFormatError(
        f"{path} is an archive without a Word, Excel or PowerPoint file's parts: unpack it, or "
        "save it as docx, xlsx or pptx."
    )


def _archive(data: bytes, path: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise UnreadableError(
            f"{path} is cut off or damaged: its end is missing. Save or copy it again."
        ) from None


def _check_archive(data: bytes, path: str, options: ParseOptions) -> None:
    """Inflate every part for its size alone: what the archive says of it may be a lie."""
    inflated = 0
    for entry in _archive(data, path).infolist():
        if entry.flag_bits & 1:
            raise EncryptedError(f"{path} is protected by a password: save it without one.")
        header = data[entry.header_offset : entry.header_offset + _LOCAL_HEADER.size]
        if len(header) < _LOCAL_HEADER.size:
            raise UnreadableError(f"{path} is damaged: {entry.filename} is missing in it.")
        _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        begin = entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        inflated += _inflated_size(
            data[begin : begin + entry.compress_size],
            entry,
            path,
            options.inflated_bytes - inflated,
        )
        if inflated > options.inflated_bytes:
            raise FileTooLargeError(
                f"{path} grows to more than {options.inflated_bytes:,} bytes when it is opened: "
                "split it, or raise LASTRO_PARSE_MAX_INFLATED_BYTES."
            )


def _inflated_size(packed: bytes, entry: zipfile.ZipInfo, path: str, room: int) -> int:
    """Bytes of one part, counted no further than just past ``room``."""
    if entry.compress_type == zipfile.ZIP_STORED:
        return len(packed)
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise UnreadableError(f"{path} is packed in a way that Office files never are: save again.")
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    try:
        while packed and not stream.eof and size <= room:
            size += len(stream.decompress(packed, _PIECE))
            packed = stream.unconsumed_tail
    except zlib.error:
        raise UnreadableError(
            f"{path} is damaged: {entry.filename} in it can't be unpacked."
        ) from None
    return size
