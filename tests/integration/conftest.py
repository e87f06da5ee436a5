"""One API process for all tests over HTTP: they keep apart by workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from pydantic import SecretStr
from sqlalchemy import delete

from pipeline.db.engine import transaction
from pipeline.db.tables import ingest_runs, jobs
from pipeline.settings import Settings
from tests.serving import Served, served


@pytest.fixture(scope="session")
def _api(
    fresh_database: Callable[[], AbstractContextManager[str]],
    shared_valkey_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Served, str]]:
    folder = tmp_path_factory.mktemp("api")
    with fresh_database() as url:
        chosen = Settings(
            home=folder / "home",
            content_dir=folder / "content",
            database_url=SecretStr(url),
            redis_url=SecretStr(shared_valkey_url),
            max_body_bytes=100_000,
            max_message_chars=200,
            queue_limit=20,
            ask_wait_s=2,
        )
        with served(chosen, folder) as api:
            yield api, url


@pytest.fixture
def api(_api: tuple[Served, str], valkey_url: str, use_database: Callable[[str], None]) -> Served:
    """A running API without workers, jobs and runs; this process uses its database."""
    running, url = _api
    use_database(url)
    with transaction() as conn:
        conn.execute(delete(jobs))
        conn.execute(delete(ingest_runs))
    return running
