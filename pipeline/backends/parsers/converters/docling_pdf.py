"""docling's own way through a PDF, by its layout models: needs the whole of docling, and them."""

from __future__ import annotations

import functools
import io
from pathlib import Path, PurePosixPath

from docling.datamodel.base_models import ConversionStatus, DocumentStream, InputFormat
from docling.datamodel.pipeline_options import PdfPipelineOptions
from docling.document_converter import DocumentConverter, PdfFormatOption

from pipeline.backends.parsers.converted import Converted, first_heading
from pipeline.backends.parsers.converters import pdfium
from pipeline.backends.parsers.options import ParseOptions


def convert(data: bytes, path: str, options: ParseOptions) -> Converted:
    """See ``converted.Converter``. Raises what ``pdfium.opened`` does."""
    pdfium.opened(data, path, options).close()
    made = _converter(options.docling_artifacts).convert(
        DocumentStream(name=PurePosixPath(path).name, stream=io.BytesIO(data))
    )
    errors = tuple(error.error_message for error in made.errors)
    lost = errors if made.status is ConversionStatus.PARTIAL_SUCCESS else ()
    text = made.document.export_to_markdown(escape_underscores=False)
    return Converted(text, title=first_heading(text), lost=lost)


@functools.cache
def _converter(artifacts: Path | None) -> DocumentConverter:
    options = PdfPipelineOptions(artifacts_path=artifacts)
    return DocumentConverter(
        allowed_formats=[InputFormat.PDF],
        format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)},
    )
