"""Office files, pages and PDFs as the tests need them, made by the libraries that people use."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import docx
import openpyxl
from docx.document import Document as WordDocument
from msoffcrypto.format.ooxml import OOXMLFile
from PIL import Image
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

Cells = Sequence[Sequence[Any]]


def saved(thing: Any) -> bytes:
    out = io.BytesIO()
    thing.save(out)
    return out.getvalue()


def word(build: Callable[[WordDocument], object]) -> bytes:
    document = docx.Document()
    build(document)
    return saved(document)


def letter(title: str, *paragraphs: str) -> bytes:
    def build(document: WordDocument) -> None:
        document.add_heading(title, 1)
        for paragraph in paragraphs:
            document.add_paragraph(paragraph)

    return word(build)


def sheet(rows: Cells, name: str = "Sheet") -> bytes:
    return workbook({name: rows})


def workbook(sheets: dict[str, Cells]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        made = book.create_sheet(name)
        for row in rows:
            made.append(list(row))
    return saved(book)


def slides(*texts: tuple[str, str], picture_on: int | None = None) -> bytes:
    """A slide per (title, body), one of them with a picture."""
    show = Presentation()
    for number, (title, body) in enumerate(texts):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
        if number == picture_on:
            slide.shapes.add_picture(io.BytesIO(picture()), Inches(1), Inches(1))
    return saved(show)


def picture(width: int = 40, height: int = 30) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(out, "PNG")
    return out.getvalue()


def pdf(pages: Iterable[str | None], password: str | None = None) -> bytes:
    """A page per text, its lines as they are; None is a page that is a picture."""
    out = io.BytesIO()
    lock = StandardEncryption(password, canPrint=0) if password else None
    canvas = Canvas(out, pagesize=A4, encrypt=lock)
    for page in pages:
        if page is None:
            canvas.drawImage(ImageReader(io.BytesIO(picture())), 50, 300, 400, 300)
        else:
            text = canvas.beginText(60, 780)
            text.textLines(page)
            canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def encrypted(data: bytes, password: str = "secret") -> bytes:
    """An office file as Office saves it with a password."""
    out = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, out)
    return out.getvalue()


def rewritten(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """An archive with each part as ``change(name, content)`` gives it; None leaves it out."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


def bomb(data: bytes, inflated: int) -> bytes:
    """An office file with one part of ``inflated`` bytes that claims to have ten."""
    name = "word/media/image1.bin"
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, bytes(inflated))
    made = bytearray(out.getvalue())
    for mark, size_at, name_at in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        at = made.find(mark)
        while at >= 0:
            if made[at + name_at :].startswith(name.encode()):
                struct.pack_into("<I", made, at + size_at, 10)
            at = made.find(mark, at + 4)
    return bytes(made)
