"""Stage 3: the vectors of chunks and of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ports import Embedder, Vectors
from pipeline.types import Chunk
from pipeline.vectors import unit


@dataclass(frozen=True, slots=True)
class Embedded:
    """(dimension,) for the chunk's search text, (sentences, dimension) for its sentences."""

    vector: Vectors
    sentence_vectors: Vectors


def embed(chunks: Sequence[Chunk], embedder: Embedder) -> list[Embedded]:
    """Embed ``chunks`` in their order, unit length. Equal texts are embedded once.

    Raises TransientError when the embedder can't be reached, InvalidVectorError for wrong vectors.
    """
    texts = [text for chunk in chunks for text in (chunk.search_text, *chunk.sentences)]
    row = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    vectors = unit(embedder.embed_passages(list(row)), count=len(row), dimension=embedder.dimension)
    return [
        Embedded(
            vectors[row[chunk.search_text]],
            vectors[[row[sentence] for sentence in chunk.sentences]],
        )
        for chunk in chunks
    ]
