"""What a configuration allows and offers its parsers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """Most ``pages`` of a PDF, and the ``inflated_bytes`` that an archive may grow to.

    ``docling_artifacts`` is the folder of docling's layout models, where the operator has them.
    """

    pages: int = 2000
    inflated_bytes: int = 300_000_000
    docling_artifacts: Path | None = None
