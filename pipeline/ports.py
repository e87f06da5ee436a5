"""What the stages ask of a model or a parser. Each backend satisfies one of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline.types import Document, Generation, Prompt, Retrieval, Track

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

    @property
    def model(self) -> str:
        """The model's id."""

    @property
    def revision(self) -> str:
        """Which build of it; empty when unknown."""

    @property
    def dimension(self) -> int:
        """Length of its vectors."""

    @property
    def query_prefix(self) -> str:
        """What is put before a query."""

    @property
    def passage_prefix(self) -> str:
        """What is put before a passage."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, rows of length 1. Raises TransientError or InvalidVectorError."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) float32, rows of length 1. Raises TransientError or InvalidVectorError."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage as the model counts them, prefix and special tokens included."""


class Reranker(Protocol):
    """Scores candidates against their query. ``cut`` is the score below which they are dropped."""

    name: str
    cut: float

    def score(self, retrieval: Retrieval) -> list[float]:
        """One probability in [0, 1] per candidate, in the candidates' order."""


class Generator(Protocol):
    """Writes the answer."""

    name: str

    def generate(self, prompt: Prompt) -> Generation:
        """Raises TransientError when another try may help, PermanentError when not."""
