"""Stage 3: the vectors of chunks and of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import InvalidVectorError
from pipeline.ports import Embedder, Vectors
from pipeline.types import Chunk


@dataclass(frozen=True, slots=True)
class Embedded:
    """(dimension,) for the chunk's search text, (sentences, dimension) for its sentences."""

    vector: Vectors
    sentence_vectors: Vectors


def embed(chunks: Sequence[Chunk], embedder: Embedder) -> list[Embedded]:
    """Embed ``chunks`` in their order. Equal texts are embedded once.

    Raises TransientError when the embedder can't be reached, InvalidVectorError for wrong vectors.
    """
    texts = [text for chunk in chunks for text in (chunk.search_text, *chunk.sentences)]
    distinct = list(dict.fromkeys(texts))
    vectors = checked(embedder.embed_passages(distinct), len(distinct), embedder.dimension)
    row = {text: place for place, text in enumerate(distinct)}
    return [
        Embedded(
            vectors[row[chunk.search_text]],
            vectors[[row[sentence] for sentence in chunk.sentences]],
        )
        for chunk in chunks
    ]


def checked(vectors: Vectors, count: int, dimension: int) -> Vectors:
    """``vectors`` if they are (count, dimension), finite and of length 1.

    Raises InvalidVectorError that says what they are instead.
    """
    if vectors.shape != (count, dimension):
        raise InvalidVectorError(
            f"The embedder returned vectors of shape {vectors.shape}, not {(count, dimension)}. "
            "LASTRO_EMBEDDER_DIMENSION must be the model's."
        )
    if not np.isfinite(vectors).all():
        raise InvalidVectorError("The embedder returned a vector that is not finite.")
    if count and not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
        raise InvalidVectorError("The embedder returned a vector whose length is not 1.")
    return vectors
