"""What the stages ask of a model or a parser. Each backend is one file that satisfies one of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline.types import Candidate, Document, Generation, Prompt, Retrieval, Track

Vectors = npt.NDArray[np.float32]


class Parser(Protocol):
    """Turns a file into a document."""

    name: str

    def parse(self, data: bytes, path: str, track: Track) -> Document:
        """Read a file's bytes; ``path`` is its name inside the content folder.

        Raises PermanentError with the reason when the file can't be indexed.
        """


class Embedder(Protocol):
    """Turns text into unit vectors; the prefixes that the model wants are added inside, once."""

    model: str
    revision: str
    dimension: int
    query_prefix: str
    passage_prefix: str

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, rows of length 1. Raises TransientError or InvalidVectorError."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, rows of length 1. Raises TransientError or InvalidVectorError."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage as the model counts them, prefix and special tokens included."""


class Reranker(Protocol):
    """Scores candidates against their query."""

    name: str

    def score(self, retrieval: Retrieval) -> list[float]:
        """One probability in [0, 1] per candidate, in the candidates' order."""


class Generator(Protocol):
    """Writes the answer."""

    name: str

    def generate(self, prompt: Prompt) -> Generation:
        """Raises TransientError when another try may help, PermanentError when not."""
