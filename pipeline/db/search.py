"""The searches over live chunks: dense, keyword, and what is known of a candidate.

All of them run for one index set, workspace and track, and see live rows only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, text

from pipeline.db.index_sets import vector_type
from pipeline.inference.retrieve import Facts, Sample
from pipeline.ports import Vectors
from pipeline.types import Track

EXACT_BELOW = 20_000
"""Scopes of fewer chunks are scanned exactly: under a filter that leaves few rows HNSW finds almost
none of the true neighbours, while the scan over the filter's index takes milliseconds."""

SAMPLE_CHUNKS = 256
SAMPLE_SENTENCES = 512


@dataclass(frozen=True)
class SearchIndex:
    """One workspace's side of an index set, read through one transaction.

    ``conn`` should be a snapshot, so that all answers speak of the same state. Vectors are
    (dimension,) float32 of length 1.
    """

    conn: Connection
    index_set_id: int
    dimension: int
    workspace: str

    def tracks(self) -> dict[Track, tuple[int, float]]:
        """The tracks that hold anything: number of chunks, and terms per chunk on average."""
        rows = self.conn.execute(
            text(
                "SELECT track, chunks, terms FROM rag.track_statistics"
                " WHERE index_set_id = :index_set_id AND workspace = :workspace AND chunks > 0"
            ),
            self._scope,
        )
        return {Track(row.track): (row.chunks, row.terms / row.chunks) for row in rows}

    def dense(
        self, track: Track, chunks: int, vector: Vectors, limit: int
    ) -> list[tuple[int, float]]:
        """The ``limit`` chunks nearest to ``vector``: (chunk id, cosine), nearest first."""
        kind, _ = vector_type(self.dimension)
        distance = f"embedding::{kind} <=> CAST(:vector AS {kind})"
        if chunks < EXACT_BELOW:
            # Adding zero hides the expression from the HNSW index: the planner scans the scope.
            distance = f"({distance}) + 0"
        else:
            self.conn.execute(text("SET LOCAL hnsw.iterative_scan = relaxed_order"))
            self.conn.execute(text(f"SET LOCAL hnsw.ef_search = {max(100, 2 * limit)}"))
        rows = self.conn.execute(
            text(
                f"""
                SELECT chunk_id, 1 - (embedding::{kind} <=> CAST(:vector AS {kind})) AS cosine
                FROM rag.embeddings
                WHERE live AND index_set_id = {int(self.index_set_id)}
                  AND workspace = :workspace AND track = :track
                ORDER BY {distance} LIMIT :limit
                """
            ),
            self._scope | {"track": track, "vector": _literal(vector), "limit": limit},
        )
        found = [(row.chunk_id, float(row.cosine)) for row in rows]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def document_frequencies(self, track: Track, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks each of ``terms`` stands; terms that stand in none are left out."""
        rows = self.conn.execute(
            text(
                """
                SELECT term, count(*) AS chunks FROM rag.postings
                WHERE index_set_id = :index_set_id AND workspace = :workspace AND track = :track
                  AND term = ANY(:terms)
                GROUP BY term
                """
            ),
            self._scope | {"track": track, "terms": list(terms)},
        )
        return {row.term: row.chunks for row in rows}

    def keyword(
        self, track: Track, weights: Mapping[str, float], average: float, limit: int
    ) -> list[tuple[int, float]]:
        """The ``limit`` best chunks by BM25: (chunk id, score), best first.

        ``weights`` is the idf of each term, ``average`` the terms per chunk of the track.
        """
        rows = self.conn.execute(
            text(
                f"""
                SELECT chunk_id, sum({_BM25}) AS score
                FROM rag.postings JOIN unnest(CAST(:terms AS text[]), CAST(:weights AS float8[]))
                     AS query (term, weight) USING (term)
                WHERE index_set_id = :index_set_id AND workspace = :workspace AND track = :track
                GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT :limit
                """
            ),
            self._keyword(track, weights, average) | {"limit": limit},
        )
        return [(row.chunk_id, float(row.score)) for row in rows]

    def facts(
        self,
        track: Track,
        ids: Sequence[int],
        vector: Vectors | None,
        weights: Mapping[str, float],
        average: float,
    ) -> list[Facts]:
        """All that is known of the chunks ``ids``, in that order; those gone meanwhile left out."""
        kind, _ = vector_type(self.dimension)
        cosines = (
            f"1 - (e.embedding::{kind} <=> CAST(:vector AS {kind})) AS cosine,"
            f" (SELECT max(1 - (s.embedding::{kind} <=> CAST(:vector AS {kind})))"
            "   FROM rag.sentence_embeddings s WHERE s.chunk_id = c.id) AS sentence"
            if vector is not None
            else "NULL::float8 AS cosine, NULL::float8 AS sentence"
        )
        rows = self.conn.execute(
            text(
                f"""
                SELECT c.id, c.ordinal, c.heading, c.text, c.language, c.sentences, d.path, v.title,
                       v.metadata ->> 'name' AS name, {cosines},
                       coalesce(k.score, 0) AS bm25, coalesce(k.terms, '{{}}') AS terms
                FROM rag.chunks c
                JOIN rag.embeddings e ON e.chunk_id = c.id AND e.live
                                     AND e.content_hash = c.content_hash
                JOIN rag.document_versions v ON v.id = c.version_id
                JOIN rag.documents d ON d.id = v.document_id
                LEFT JOIN (
                    SELECT chunk_id, sum({_BM25}) AS score, array_agg(term) AS terms
                    FROM rag.postings
                    JOIN unnest(CAST(:terms AS text[]), CAST(:weights AS float8[]))
                         AS query (term, weight) USING (term)
                    WHERE index_set_id = :index_set_id AND workspace = :workspace
                      AND track = :track AND chunk_id = ANY(:ids)
                    GROUP BY chunk_id
                ) k ON k.chunk_id = c.id
                WHERE c.id = ANY(:ids)
                """
            ),
            self._keyword(track, weights, average)
            | {"ids": list(ids)}
            | ({} if vector is None else {"vector": _literal(vector)}),
        )
        found = {
            row.id: Facts(
                chunk_id=row.id,
                path=row.path,
                name=row.name or row.path if track is Track.SKILL else row.path,
                ordinal=row.ordinal,
                title=row.title,
                heading=row.heading,
                text=row.text,
                language=row.language,
                cosine=None if row.cosine is None else float(row.cosine),
                sentence=None if row.sentence is None else float(row.sentence),
                bm25=float(row.bm25),
                terms=frozenset(row.terms),
                sentences=tuple(row.sentences),
            )
            for row in rows
        }
        return [found[chunk_id] for chunk_id in ids if chunk_id in found]

    def sample(self) -> Sample:
        """The fixed sample of the workspace that stands for the query's background."""
        version = self.conn.execute(
            text(
                "SELECT coalesce(sum(version), 0) FROM rag.track_statistics"
                " WHERE index_set_id = :index_set_id AND workspace = :workspace"
            ),
            self._scope,
        ).scalar_one()
        key = (self.index_set_id, self.workspace)
        kept = _samples.get(key)
        if kept is None or kept[0] != version:
            kept = (version, self._read_sample())
            _samples[key] = kept
        return kept[1]

    def _read_sample(self) -> Sample:
        lowest = (
            f"(SELECT chunk_id, sample_key, embedding FROM rag.embeddings WHERE live"
            f" AND index_set_id = {int(self.index_set_id)} AND workspace = :workspace"
            f" ORDER BY sample_key, chunk_id LIMIT {SAMPLE_CHUNKS}) sample"
        )
        chunks = self.conn.execute(
            text(f"SELECT embedding::text FROM {lowest}"), self._scope
        ).scalars()
        sentences = self.conn.execute(
            text(
                f"SELECT s.embedding::text FROM {lowest}"
                " JOIN rag.sentence_embeddings s ON s.chunk_id = sample.chunk_id"
                f" ORDER BY sample_key, sample.chunk_id, s.ordinal LIMIT {SAMPLE_SENTENCES}"
            ),
            self._scope,
        ).scalars()
        return Sample(self._matrix(chunks.all()), self._matrix(sentences.all()))

    def _matrix(self, rows: Sequence[str]) -> Vectors:
        parsed = [np.fromstring(row[1:-1], dtype=np.float32, sep=",") for row in rows]
        return np.array(parsed, dtype=np.float32).reshape(-1, self.dimension)

    @property
    def _scope(self) -> dict[str, object]:
        return {"index_set_id": self.index_set_id, "workspace": self.workspace}

    def _keyword(
        self, track: Track, weights: Mapping[str, float], average: float
    ) -> dict[str, object]:
        return self._scope | {
            "track": track,
            "terms": list(weights),
            "weights": list(weights.values()),
            "average": average,
        }


_BM25 = (
    "weight * frequency * 2.2"
    " / (frequency + 1.2 * (0.25 + 0.75 * length / CAST(:average AS float8)))"
)
"""Okapi BM25 of one term with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza 2009, section 3.2)."""

_samples: dict[tuple[int, str], tuple[int, Sample]] = {}
"""The last sample per scope, valid while the scope's version stands: 1 MB at most each."""


def forget_samples() -> None:
    """Drop the kept samples: for who rolls back a transaction that changed an index."""
    _samples.clear()


def _literal(vector: Vectors) -> str:
    return "[" + ",".join(map(repr, vector.astype(float).tolist())) + "]"
