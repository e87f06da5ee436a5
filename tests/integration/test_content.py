"""Publishing: the whole old text or the whole new one, and nothing of what is gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, text

from pipeline.db import index_sets, publishing
from pipeline.db.engine import engine, snapshot, transaction
from pipeline.db.search import SearchIndex
from pipeline.errors import ConflictError, IndexMismatchError
from pipeline.types import Track
from tests.corpus import DIMENSION, TOY, index_set, put, stage, unit


@pytest.fixture
def reader(database: str) -> Iterator[Connection]:
    index_set()
    with engine().connect() as conn:
        yield conn


def seen(conn: Connection) -> list[str]:
    """The texts that a search for everything finds, by both legs."""
    index = SearchIndex(conn, index_set().id, DIMENSION, "default")
    if Track.DOCUMENT not in index.tracks():
        return []
    chunks, average = index.tracks()[Track.DOCUMENT]
    dense = index.dense(Track.DOCUMENT, chunks, unit(1), 100)
    keyword = index.keyword(Track.DOCUMENT, {"word": 1.0}, average, 100)
    assert {chunk for chunk, _ in dense} == {chunk for chunk, _ in keyword}
    ids = [chunk for chunk, _ in dense]
    return sorted(
        fact.text for fact in index.facts(Track.DOCUMENT, ids, unit(1), {"word": 1.0}, average)
    )


def count(table: str) -> int:
    with transaction() as conn:
        return int(conn.execute(text(f"SELECT count(*) FROM rag.{table}")).scalar_one())


def test_readers_see_the_old_text_until_the_new_is_whole(reader: Connection) -> None:
    put("a.md", ["word one", "word two"], [unit(1), unit(2)])
    staged, terms = stage("a.md", ["word three"], [unit(3)])
    assert seen(reader) == ["word one", "word two"]
    with transaction() as conn:
        publishing.publish(conn, staged, terms)
        assert seen(reader) == ["word one", "word two"]
    assert seen(reader) == ["word three"]
    assert count("chunks") == 1
    assert count("postings") == 2


def test_a_snapshot_never_mixes_two_versions(reader: Connection) -> None:
    put("a.md", ["word old"], [unit(1)])
    with snapshot() as conn:
        before = SearchIndex(conn, index_set().id, DIMENSION, "default")
        found = before.dense(Track.DOCUMENT, 1, unit(1), 10)
        put("a.md", ["word new"], [unit(1)])
        facts = before.facts(Track.DOCUMENT, [found[0][0]], unit(1), {"word": 1.0}, 2)
        assert [fact.text for fact in facts] == ["word old"]
    assert seen(reader) == ["word new"]


def test_what_is_removed_is_found_no_more(reader: Connection) -> None:
    put("a.md", ["word a"], [unit(1)])
    put("b.md", ["word b"], [unit(2)])
    with transaction() as conn:
        publishing.remove(conn, "default", "a.md")
        publishing.remove(conn, "default", "a.md")
    assert seen(reader) == ["word b"]
    for table in ("documents", "document_versions", "chunks", "embeddings"):
        assert count(table) == 1
    with transaction() as conn:
        statistics = conn.execute(text("SELECT chunks, terms FROM rag.track_statistics")).one()
    assert tuple(statistics) == (1, 2)


def test_a_run_that_was_overtaken_does_not_bring_the_old_text_back(reader: Connection) -> None:
    older, older_terms = stage("a.md", ["word old"], [unit(1)])
    newer, newer_terms = stage("a.md", ["word new"], [unit(2)])
    with transaction() as conn:
        publishing.publish(conn, newer, newer_terms)
    with transaction() as conn:
        publishing.publish(conn, older, older_terms)
    assert seen(reader) == ["word new"]
    assert count("document_versions") == 1


def test_equal_text_keeps_its_vectors(reader: Connection) -> None:
    put("a.md", ["word same", "word old"], [unit(1), unit(2)])
    staged, terms = stage("a.md", ["word same", "word new"], [unit(9), unit(3)])
    with transaction() as conn:
        publishing.publish(conn, staged, terms)
        kept = conn.execute(
            text(
                "SELECT e.embedding <=> :vector < 1e-6, s.embedding <=> :vector < 1e-6"
                " FROM rag.chunks c JOIN rag.embeddings e ON e.chunk_id = c.id"
                " JOIN rag.sentence_embeddings s ON s.chunk_id = c.id WHERE c.text = 'word same'"
            ),
            {"vector": str(unit(1).tolist())},
        ).one()
    assert tuple(kept) == (True, True), "made from the same text, so not made again"


def test_a_document_is_not_published_without_all_its_vectors(reader: Connection) -> None:
    put("a.md", ["word old"], [unit(1)])
    staged, terms = stage("a.md", ["word new", "word more"], [unit(2), unit(3)])
    with transaction() as conn:
        conn.execute(text("DELETE FROM rag.embeddings WHERE chunk_id = :id"), {"id": min(terms)})
    with pytest.raises(ConflictError), transaction() as conn:
        publishing.publish(conn, staged, terms)
    assert seen(reader) == ["word old"]


def test_another_models_vectors_are_refused_also_of_the_same_dimension(database: str) -> None:
    index_set()
    other = index_sets.Identity("other", "1", DIMENSION, "", "")
    with transaction() as conn, pytest.raises(IndexMismatchError, match=r"toy.*other"):
        index_sets.live_for(conn, other)
    with transaction() as conn:
        assert index_sets.live_for(conn, TOY).identity == TOY
