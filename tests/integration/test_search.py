"""The product's own SQL: filters starve nothing, the index is used, odd words break nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import event, text

from pipeline.db import search
from pipeline.db.engine import engine, snapshot, transaction
from pipeline.db.search import SearchIndex
from pipeline.types import Track
from tests.corpus import DIMENSION, index_set, put, unit

NEAR = unit(1)


def fill(workspace: str, rows: int, seed: int, *, near: bool) -> None:
    """Many live chunks in one document, near the query or anywhere."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=(rows, DIMENSION)) * (0.01 if near else 1)
    vectors = (noise + NEAR * (1 if near else 0)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"word w{n}" for n in range(rows)]
    put(f"{workspace}.md", texts, list(vectors), workspace=workspace)


def of(workspace: str, conn: object) -> SearchIndex:
    return SearchIndex(conn, index_set().id, DIMENSION, workspace)  # type: ignore[arg-type]


@pytest.mark.parametrize("exact_below", [0, search.EXACT_BELOW])
def test_a_filter_that_leaves_few_rows_gets_them_all(
    database: str, monkeypatch: pytest.MonkeyPatch, exact_below: int
) -> None:
    """P01: by the exact scan, and by the iterative scan where the scope looks large."""
    monkeypatch.setattr(search, "EXACT_BELOW", exact_below)
    fill("a", 2000, 1, near=True)
    fill("b", 20, 2, near=False)
    with snapshot() as conn:
        index = of("b", conn)
        chunks, _ = index.tracks()[Track.DOCUMENT]
        assert len(index.dense(Track.DOCUMENT, chunks, NEAR, 10)) == 10


def test_a_large_scope_is_searched_through_the_index(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P02: the plan of the statement that the product sends."""
    monkeypatch.setattr(search, "EXACT_BELOW", 0)
    fill("a", 3000, 1, near=False)
    with transaction() as conn:
        conn.execute(text("ANALYZE rag.embeddings"))
    sent: list[tuple[str, object]] = []

    def keep(_c: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        sent.append((statement, values))

    with snapshot() as conn:
        event.listen(engine(), "before_cursor_execute", keep)
        of("a", conn).dense(Track.DOCUMENT, 3000, NEAR, 10)
        event.remove(engine(), "before_cursor_execute", keep)
        statement, values = next(pair for pair in sent if "ORDER BY" in pair[0])
        plan = conn.exec_driver_sql(f"EXPLAIN {statement}", values).scalars()  # type: ignore[arg-type]
        assert any("hnsw_embeddings" in line for line in plan)


def test_a_vector_of_other_text_is_never_returned(database: str) -> None:
    put("a.md", ["word a"], [NEAR])
    with transaction() as conn:
        conn.execute(text("UPDATE rag.chunks SET content_hash = 'changed'"))
    with snapshot() as conn:
        index = of("default", conn)
        found = index.dense(Track.DOCUMENT, 1, NEAR, 10)
        ids = [chunk for chunk, _ in found]
        assert index.facts(Track.DOCUMENT, ids, NEAR, {"word": 1.0}, 2) == []


def test_bm25_is_the_formula(database: str) -> None:
    put("a.md", ["x x y", "y z"], [unit(1), unit(2)])
    with snapshot() as conn:
        index = of("default", conn)
        assert index.document_frequencies(Track.DOCUMENT, ["x", "y", "q"]) == {"x": 1, "y": 2}
        found = index.keyword(Track.DOCUMENT, {"x": 2.0, "y": 0.5}, 2.5, 10)
        by_hand = [
            2.0 * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2.5))
            + 0.5 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / 2.5)),
            0.5 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 2.5)),
        ]
        assert [score for _, score in found] == pytest.approx(by_hand)
        facts = index.facts(
            Track.DOCUMENT, [chunk for chunk, _ in found], NEAR, {"x": 2.0, "y": 0.5}, 2.5
        )
        assert [fact.bm25 for fact in facts] == pytest.approx(by_hand)
        assert [fact.terms for fact in facts] == [{"x", "y"}, {"y"}]


def test_without_a_vector_the_facts_have_no_cosine(database: str) -> None:
    put("a.md", ["x"], [NEAR])
    with snapshot() as conn:
        index = of("default", conn)
        ids = [chunk for chunk, _ in index.keyword(Track.DOCUMENT, {"x": 1.0}, 1, 10)]
        (fact,) = index.facts(Track.DOCUMENT, ids, None, {"x": 1.0}, 1)
        assert fact.cosine is None
        assert fact.sentence is None


def test_the_sample_stays_while_others_come_and_is_bounded(database: str) -> None:
    fill("a", 600, 1, near=False)
    with snapshot() as conn:
        before = of("a", conn).sample()
    assert before.chunks.shape == (search.SAMPLE_CHUNKS, DIMENSION)
    assert before.sentences.shape[0] <= search.SAMPLE_SENTENCES
    put("more.md", ["one more"], [NEAR], workspace="a")
    with snapshot() as conn:
        after = of("a", conn).sample()
    kept = {row.tobytes() for row in before.chunks} & {row.tobytes() for row in after.chunks}
    assert len(kept) >= search.SAMPLE_CHUNKS - 1
