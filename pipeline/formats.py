"""Which parser each format has: the defaults, and what ``LASTRO_PARSERS`` changes of them.

Names alone: the API knows by them what can be ingested, and imports no parser.
"""

from __future__ import annotations

from pipeline.errors import SettingsError

PLAIN = ("markdown", "text")
"""Parsers of text that is read as it stands."""

CONVERTERS = ("docling", "docling_pdf", "markitdown", "pdfium")
"""The modules of ``backends/parsers/converters/``."""

DEFAULTS = {
    ".md": "markdown",
    ".mdx": "markdown",
    ".txt": "text",
    ".pdf": "pdfium",
    ".docx": "docling+markitdown",
    ".pptx": "docling+markitdown",
    ".xlsx": "docling+markitdown",
    ".csv": "docling+markitdown",
    ".html": "docling+markitdown",
    ".htm": "docling+markitdown",
}
"""The parser of each ending: a plain one, or converters joined by ``+`` in the order they are
tried."""

_USAGE = (
    "LASTRO_PARSERS is a list like docx=markitdown,csv=off,odt=my_package:OdtParser; the parsers "
    f"are {', '.join([*PLAIN, *CONVERTERS])}, several joined by +, or off."
)


def choices(changes: str, *, with_layout_models: bool = False) -> dict[str, str]:
    """The parser of each ending, in lower case, after ``changes``.

    With docling's layout models PDFs are read by them first. Raises SettingsError that names what
    is wrong.
    """
    found = dict(DEFAULTS)
    if with_layout_models:
        found[".pdf"] = "docling_pdf+pdfium"
    for entry in filter(None, (part.strip() for part in changes.split(","))):
        ending, _, choice = (part.strip() for part in entry.partition("="))
        if not ending or not choice:
            raise SettingsError(f"{entry!r} names no format or no parser. {_USAGE}")
        ending = "." + ending.lstrip(".").lower()
        if choice == "off":
            found.pop(ending, None)
            continue
        is_known = choice in PLAIN or set(choice.split("+")) <= set(CONVERTERS)
        if ":" not in choice and not is_known:
            raise SettingsError(f"{entry!r} names no parser that there is. {_USAGE}")
        found[ending] = choice
    return found
