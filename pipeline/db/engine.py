"""The one door to PostgreSQL: an engine per process and a transaction per unit of work."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DisconnectionError, OperationalError

from pipeline.errors import SettingsError
from pipeline.settings import settings

CONNECT_TIMEOUT_S = 5


def database_url(url: str) -> str:
    """``url`` with the psycopg 3 driver named, whatever form the operator wrote."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


_engines: dict[bool, Engine] = {}


def engine(*, durable: bool = True) -> Engine:
    """The engine of this process. Made at first use, so a forked child never shares a socket.

    A commit of one that is not ``durable`` doesn't wait for the disk. See ``single``.
    """
    found = _engines.get(durable)
    # Two threads may make one each; the first is kept, and the other has opened nothing.
    return found or _engines.setdefault(durable, _make(durable))


def _make(durable: bool) -> Engine:
    url = settings().database_url
    if url is None:
        raise SettingsError(
            "No database: set LASTRO_DATABASE_URL, or start an embedded instance with `lastro up`."
        )
    made = create_engine(
        database_url(url.get_secret_value()),
        pool_size=settings().database_pool,
        max_overflow=0,
        hide_parameters=True,  # an error goes into the log, and a parameter may be a question
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            # A worker whose machine vanished must not keep its row locks for hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "application_name": "lastro",
            "options": "" if durable else "-c synchronous_commit=off",
        },
        **({} if durable else {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None}),
    )
    event.listen(made, "checkout", _refuse_dead)
    return made


def _refuse_dead(connection: Any, _record: Any, _proxy: Any) -> None:
    """Replace a pooled connection whose server has gone, which its socket tells without a query.

    An idle connection has nothing to read; the end of the stream, or a farewell, is readable.
    """
    socket = select.poll()
    socket.register(connection.fileno(), select.POLLIN)
    if socket.poll(0):
        raise DisconnectionError("the server has closed this connection")


@contextmanager
def transaction() -> Iterator[Connection]:
    """A connection in a transaction: committed at the end, rolled back on any error."""
    with engine().begin() as connection:
        yield connection


@contextmanager
def single(*, durable: bool = False) -> Iterator[Connection]:
    """A connection for one statement that commits itself: a third of the round trips.

    For reads, and for the ledger's steps in the middle of a job: the commit doesn't wait for the
    disk. A database that crashes may forget the last of them, never one before another, and then
    the row stands at an earlier step and the sweep finds it. Whatever comes in or goes out (a
    question, an answer, a failure) is ``durable``.
    """
    with engine(durable=durable).connect() as connection:
        if durable:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
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
    while _engines:
        _engines.popitem()[1].dispose(close=False)


def close() -> None:
    """Close this process's connections."""
    for made in _engines.values():
        made.dispose()
    _engines.clear()


__all__ = [
    "OperationalError",
    "close",
    "database_url",
    "engine",
    "forget",
    "single",
    "snapshot",
    "transaction",
]
