"""docling's readers of office files, CSV and HTML, called one by one: they need no model.

``DocumentConverter`` would bring docling's whole pipeline, and torch with it; what it does for
these formats is to call the same readers.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

from docling.backend.csv_backend import CsvDocumentBackend
from docling.backend.html_backend import HTMLDocumentBackend
from docling.backend.msexcel_backend import MsExcelDocumentBackend
from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend
from docling.backend.msword_backend import MsWordDocumentBackend
from docling.datamodel.backend_options import MsExcelBackendOptions
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling_core.types.doc import DoclingDocument
from docling_core.types.doc.document import Formatting, GroupItem, TableItem, TextItem
from docling_core.types.doc.labels import GroupLabel
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.backends.parsers.converted import Converted, first_heading
from pipeline.backends.parsers.converters import html
from pipeline.backends.parsers.options import ParseOptions
from pipeline.text.decode import decode

_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d) 00:00:00\b")
_BEFORE_POINT = re.compile(r"(\]\([^()\s]+\)) (?=[.,;:!?)])")
"""docling puts a space behind every link."""

_PICTURE = re.compile(r"<!-- image -->\n*")


def convert(data: bytes, path: str, _options: ParseOptions) -> Converted:
    """See ``converted.Converter``."""
    kind, reader, clean, show = _READERS[PurePosixPath(path).suffix.lower()]
    with _warnings() as said:
        opened = InputDocument(
            path_or_stream=io.BytesIO(clean(data, path)),
            format=kind,
            backend=reader,
            filename=PurePosixPath(path).name,
            backend_options=_OPTIONS.get(reader),
        )
        if not opened.valid:
            raise ValueError("; ".join(said) or "it is not valid")
        text = show(opened._backend.convert())
    title = "" if show is _sheets else first_heading(text)
    if not title and clean is html.clean:
        title = html.title(data, path)
    return Converted(text, title=title, warnings=tuple(dict.fromkeys(said)))


class _Word(MsWordDocumentBackend):
    """Runs keep their text and lose their looks: half a word in bold is still one word."""

    @classmethod
    def _get_format_from_run(cls, *_: Any, **__: Any) -> Formatting | None:
        return None


class _Excel(MsExcelDocumentBackend):
    """Blank columns are closed first: one in the middle would make two tables of one."""

    def convert(self) -> DoclingDocument:
        for sheet in self.workbook.worksheets if self.workbook else ():
            _close_blank_columns(sheet)
        return super().convert()


def _close_blank_columns(sheet: Worksheet) -> None:
    if sheet.merged_cells.ranges:
        return  # deleting a column would leave the merged cells where they were
    # Not by rows: openpyxl makes every cell of the used range then, which may be a million rows.
    cells = sheet._cells
    for place in [place for place, cell in cells.items() if cell.value is None]:
        del cells[place]
    used = {column for _, column in cells}
    for column in sorted(set(range(min(used, default=0), max(used, default=0))) - used)[::-1]:
        sheet.delete_cols(column)


def _markdown(document: DoclingDocument) -> str:
    text = document.export_to_markdown(escape_underscores=False)
    return _PICTURE.sub("", _BEFORE_POINT.sub(r"\1", text))


def _sheets(document: DoclingDocument) -> str:
    """A section per sheet, which docling's own export leaves without its name."""
    parts = []
    for item, _ in document.iterate_items(with_groups=True):
        if isinstance(item, GroupItem) and item.label == GroupLabel.SHEET:
            parts.append(f"## {item.name}")
        elif isinstance(item, TableItem):
            parts.append(_MIDNIGHT.sub(r"\1", item.export_to_markdown(document)))
        elif isinstance(item, TextItem):
            parts.append(item.text)
    return "\n\n".join(parts)


def _as_it_is(data: bytes, _path: str) -> bytes:
    return data


def _as_utf8(data: bytes, path: str) -> bytes:
    return decode(data, path).encode()


_Reader = tuple[
    InputFormat, type[Any], Callable[[bytes, str], bytes], Callable[[DoclingDocument], str]
]
_READERS: dict[str, _Reader] = {
    ".docx": (InputFormat.DOCX, _Word, _as_it_is, _markdown),
    ".pptx": (InputFormat.PPTX, MsPowerpointDocumentBackend, _as_it_is, _markdown),
    ".xlsx": (InputFormat.XLSX, _Excel, _as_it_is, _sheets),
    ".csv": (InputFormat.CSV, CsvDocumentBackend, _as_utf8, _markdown),
    ".html": (InputFormat.HTML, HTMLDocumentBackend, html.clean, _markdown),
    ".htm": (InputFormat.HTML, HTMLDocumentBackend, html.clean, _markdown),
}
_OPTIONS = {_Excel: MsExcelBackendOptions(treat_singleton_as_text=True)}


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What docling logs as warnings meanwhile: its only word on a part that it left out."""
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(" ".join(record.getMessage().split())[:300])

    listener = Listener(logging.WARNING)
    logger = logging.getLogger("docling")
    logger.addHandler(listener)
    try:
        yield said
    finally:
        logger.removeHandler(listener)
