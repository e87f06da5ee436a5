"""The one door to PostgreSQL: an engine per process and a transaction per unit of work."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from pipeline.errors import SettingsError
from pipeline.settings import settings

CONNECT_TIMEOUT_S = 5


def database_url(url: str) -> str:
    """``url`` with the psycopg 3 driver named, whatever form the operator wrote."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


@functools.cache
def engine() -> Engine:
    """The engine of this process. Made at first use, so a forked child never shares a socket."""
    url = settings().database_url
    if url is None:
        raise SettingsError(
            "No database: set LASTRO_DATABASE_URL, or start an embedded instance with `lastro up`."
        )
    return create_engine(
        database_url(url.get_secret_value()),
        pool_size=settings().database_pool,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            # A worker whose machine vanished must not keep its row locks for hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "application_name": "lastro",
        },
    )


@contextmanager
def transaction() -> Iterator[Connection]:
    """A connection in a transaction: committed at the end, rolled back on any error."""
    with engine().begin() as connection:
        yield connection


@contextmanager
def snapshot() -> Iterator[Connection]:
    """A read-only transaction in which every statement sees the same state of the database."""
    with engine().connect() as connection:
        connection = connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        with connection.begin():
            yield connection


def forget() -> None:
    """Drop the engine, after a fork (the sockets stay the parent's) or for another database."""
    if engine.cache_info().currsize:
        engine().dispose(close=False)
        engine.cache_clear()


__all__ = ["OperationalError", "database_url", "engine", "forget", "snapshot", "transaction"]
