"""The schema is what the migrations make, and they lead there and back."""

from __future__ import annotations

import pytest
from alembic import command
from sqlalchemy import inspect, text

from pipeline.db import content, index_sets, migrate
from pipeline.db.engine import engine, transaction
from pipeline.db.index_sets import Identity, Recipe
from tests.corpus import put, unit

E5 = Recipe(Identity("intfloat/multilingual-e5-small", "q4", 384, "query: ", "passage: "), {}, {})


def test_no_difference_is_found_also_with_an_index_set(database: str) -> None:
    with transaction() as conn:
        index_sets.ensure_live(conn, E5)
    command.check(migrate.config(database))


def test_down_and_up_again(database: str) -> None:
    with transaction() as conn:
        index_sets.ensure_live(conn, E5)
    migrate.downgrade(database)
    assert inspect(engine()).get_table_names(schema="rag") == ["alembic_version"]
    with transaction() as conn:
        assert not migrate.is_current(conn)
    migrate.upgrade(database)
    with transaction() as conn:
        assert migrate.is_current(conn)
        assert conn.execute(text("SELECT count(*) FROM rag.jobs")).scalar_one() == 0


def test_vectors_of_before_are_found_by_their_text(database: str) -> None:
    put("a.md", ["olá, ação", "second text"], [unit(1), unit(2)])
    command.downgrade(migrate.config(database), "0002")
    command.upgrade(migrate.config(database), "head")
    with transaction() as conn:
        found = content.vectors_of(conn, index_sets.live(conn).id, ["olá, ação", "third text"])
    assert list(found) == ["olá, ação"]
    assert found["olá, ação"] @ unit(1) == pytest.approx(1)
