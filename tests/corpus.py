"""Small ways to put content into a test database without files and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pipeline.db import content, index_sets, publishing
from pipeline.db.content import StagedVectors, Terms
from pipeline.db.engine import transaction
from pipeline.db.index_sets import Identity, IndexSet, Recipe
from pipeline.ports import Vectors
from pipeline.types import Chunk, Document, Track

DIMENSION = 16
TOY = Identity("toy", "1", DIMENSION, "", "")


def unit(*values: float) -> Vectors:
    """A unit vector that begins with ``values``."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def index_set() -> IndexSet:
    """The live index set of toy vectors."""
    with transaction() as conn:
        return index_sets.ensure_live(conn, Recipe(TOY, {"tokens": 400, "overlap": 50}, {}))


def stage(
    path: str,
    texts: Sequence[str],
    vectors: Sequence[Vectors],
    *,
    workspace: str = "default",
    track: Track = Track.DOCUMENT,
) -> tuple[content.Version, Mapping[int, Terms]]:
    """Stage a version with one chunk per text; publish it with ``publishing.publish``."""
    live = index_set()
    terms = [
        Terms({word: text.split().count(word) for word in text.split()}, len(text.split()))
        for text in texts
    ]
    with transaction() as conn:
        version_id = content.stage_version(
            conn,
            workspace=workspace,
            index_set_id=live.id,
            document=Document(path, track, path, "\n".join(texts)),
            content_hash="|".join(texts),
        )
        pieces = [
            Chunk(n, "", text, text, (text,), "en", 1, f"hash of {text}")
            for n, text in enumerate(texts)
        ]
        content.stage_chunks(conn, version_id, pieces, terms)
        staged = content.version(conn, version_id)
        waiting = content.load_chunks(conn, version_id, without_vectors=True)
        known = content.vectors_of(conn, live.id, texts)
        content.stage_vectors(
            conn,
            staged,
            [
                StagedVectors(
                    chunk_id,
                    piece,
                    known.get(piece.text, vectors[piece.ordinal]),
                    known.get(piece.text, vectors[piece.ordinal])[np.newaxis],
                )
                for chunk_id, piece in waiting.items()
            ],
        )
        ids = content.load_chunks(conn, version_id)
        return staged, dict(zip(ids, terms, strict=True))


def put(path: str, texts: Sequence[str], vectors: Sequence[Vectors], **options: object) -> None:
    """Stage a version and publish it."""
    staged, terms = stage(path, texts, vectors, **options)  # type: ignore[arg-type]
    with transaction() as conn:
        publishing.publish(conn, staged, terms)
