"""markitdown, the second choice for office files, CSV and HTML."""

from __future__ import annotations

import io
from pathlib import PurePosixPath

from markitdown import MarkItDown, StreamInfo

from pipeline.backends.parsers.converted import Converted, first_heading
from pipeline.backends.parsers.converters import html
from pipeline.backends.parsers.options import ParseOptions
from pipeline.text.decode import decode

_BLANK = "NaN"
_converter = MarkItDown(enable_plugins=False)


def convert(data: bytes, path: str, _options: ParseOptions) -> Converted:
    """See ``converted.Converter``."""
    ending = PurePosixPath(path).suffix.lower()
    named, charset = "", None
    if ending in (".html", ".htm"):
        named, data, charset = html.title(data, path), html.clean(data, path), "utf-8"
    elif ending == ".csv":
        data, charset = decode(data, path).encode(), "utf-8"
    made = _converter.convert_stream(
        io.BytesIO(data), stream_info=StreamInfo(extension=ending, charset=charset)
    )
    text = made.markdown
    if ending == ".xlsx":
        text = "\n".join(map(_without_nan, text.split("\n")))
        return Converted(text)
    return Converted(text, title=first_heading(text) or named)


def _without_nan(line: str) -> str:
    """A row of a sheet without what pandas shows for blank cells and nameless columns."""
    if not line.startswith("|"):
        return line
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    shown = ["" if cell == _BLANK or cell.startswith("Unnamed: ") else cell for cell in cells]
    return f"| {' | '.join(shown)} |"
