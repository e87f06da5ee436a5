"""Stage 3: the vectors of chunks and of their sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.ports import Embedder, Vectors
from pipeline.types import Chunk
from pipeline.vectors import unit


@dataclass(frozen=True, slots=True)
class Embedded:
    """(dimension,) for the chunk's search text, (sentences, dimension) for its sentences."""

    vector: Vectors
    sentence_vectors: Vectors


def texts(chunks: Sequence[Chunk]) -> list[str]:
    """What of ``chunks`` gets a vector, each text once, in order."""
    return list(dict.fromkeys(t for one in chunks for t in (one.search_text, *one.sentences)))


def embed(
    chunks: Sequence[Chunk], embedder: Embedder, known: Mapping[str, Vectors] | None = None
) -> list[Embedded]:
    """Embed ``chunks`` in their order, unit length. A text is embedded once, or not if ``known``.

    Raises TransientError when the embedder can't be reached, InvalidVectorError for wrong vectors.
    """
    vectors = dict(known or {})
    unknown = [one for one in texts(chunks) if one not in vectors]
    if unknown:
        made = embedder.embed_passages(unknown)
        rows = unit(made, count=len(unknown), dimension=embedder.dimension)
        vectors |= zip(unknown, rows, strict=True)
    return [
        Embedded(
            vectors[chunk.search_text],
            np.array([vectors[sentence] for sentence in chunk.sentences], np.float32).reshape(
                -1, embedder.dimension
            ),
        )
        for chunk in chunks
    ]
