"""The text of a PDF, page by page, by the library that Chromium reads PDFs with."""

from __future__ import annotations

import re

import pypdfium2 as pdfium
from pypdfium2 import raw

from pipeline.backends.parsers.converted import Converted
from pipeline.backends.parsers.options import ParseOptions
from pipeline.errors import EncryptedError, FileTooLargeError, NoTextError, UnreadableError

_HYPHEN = re.compile("[\ufffe\x02]\\s*")
"""How PDFium marks a hyphen at a line's end: the word goes on in the next line."""

_SHOWN_PAGES = 20


def convert(data: bytes, path: str, options: ParseOptions) -> Converted:
    """See ``converted.Converter``.

    Raises EncryptedError, FileTooLargeError, NoTextError or UnreadableError.
    """
    document = opened(data, path, options)
    try:
        texts, broken, pictures = _pages(document)
    finally:
        document.close()
    if not texts:
        if pictures:
            raise NoTextError(
                f"{path} has pictures of pages and no text: run OCR over it and put that version "
                "in its place."
            )
        if broken:
            raise UnreadableError(f"{path} is damaged: none of its pages can be read.")
        raise NoTextError(f"{path} holds no text.")
    lost = [
        *_named(broken, "can't be read"),
        *_named(pictures, "a picture without text: run OCR over it"),
    ]
    return Converted("\n\n".join(texts), lost=tuple(lost))


def opened(data: bytes, path: str, options: ParseOptions) -> pdfium.PdfDocument:
    """The PDF, for the caller to close.

    Raises EncryptedError, FileTooLargeError or UnreadableError.
    """
    document = _open(data, path)
    pages = len(document)
    if pages > options.pages:
        document.close()
        raise FileTooLargeError(
            f"{path} has {pages:,} pages: split it, or raise LASTRO_PARSE_MAX_PAGES "
            f"(now {options.pages:,})."
        )
    return document


def _open(data: bytes, path: str) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise EncryptedError(
                f"{path} is protected by a password: save it without one."
            ) from None
        raise UnreadableError(
            f"{path} is cut off or damaged: no PDF reader's tables are left in it. Save or copy it "
            "again."
        ) from None


def _pages(document: pdfium.PdfDocument) -> tuple[list[str], list[int], list[int]]:
    """(texts, numbers of pages that can't be read, numbers of pages that are a picture)."""
    texts, broken, pictures = [], [], []
    for number in range(1, len(document) + 1):
        try:
            text, is_picture = _page(document, number - 1)
        except pdfium.PdfiumError:
            broken.append(number)
            continue
        if text:
            texts.append(text)
        elif is_picture:
            pictures.append(number)
    return texts, broken, pictures


def _page(document: pdfium.PdfDocument, index: int) -> tuple[str, bool]:
    page = document[index]
    try:
        words = page.get_textpage()
        try:
            text = _HYPHEN.sub("", words.get_text_bounded()).replace("\r\n", "\n").strip()
        finally:
            words.close()
        is_picture = not text and any(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]))
    finally:
        page.close()
    return text, is_picture


def _named(numbers: list[int], reason: str) -> list[str]:
    shown = [f"page {number}: {reason}" for number in numbers[:_SHOWN_PAGES]]
    rest = len(numbers) - len(shown)
    return [*shown, f"{rest} more pages: {reason}"] if rest > 0 else shown
