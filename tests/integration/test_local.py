"""The embedded instance: real servers under a real supervisor, killed and started again."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from pipeline.errors import InstanceError
from pipeline.local import instance
from pipeline.local.instance import Instance
from pipeline.local.processes import MARK
from pipeline.settings import load
from tests.running import until


class Tiny:
    """A supervisor process of ``home``."""

    def __init__(self, home: Path, *arguments: str, port: int = 0) -> None:
        self.home = home
        own = {name: value for name, value in os.environ.items() if not name.startswith("LASTRO_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.tiny_instance", *arguments],
            env=own | {"LASTRO_HOME": str(home), "LASTRO_PORT": str(port)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> Instance:
        def look() -> bool:
            assert self.process.poll() is None, self.process.communicate()[1]
            found = instance.running(self.home)
            return found is not None and found.ready

        until(look, what="the instance is ready")
        found = instance.running(self.home)
        assert found is not None
        return found

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@contextmanager
def tiny(home: Path) -> Iterator[Instance]:
    supervisor = Tiny(home)
    try:
        yield supervisor.ready()
    finally:
        status, errors = supervisor.end()
    assert status == 0, errors
    assert processes_of(home) == []


def processes_of(home: Path) -> list[psutil.Process]:
    """All that works for ``home``: what carries its mark, and what stands in its folders."""
    found = []
    for process in psutil.process_iter():
        try:
            marked = process.environ().get(MARK) == str(home)
            if marked or Path(process.cwd()).is_relative_to(home):
                found.append(process)
        except psutil.Error:
            continue
    return found


def query(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def answers(url: str) -> bool:
    try:
        return query(url, "SELECT 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def pongs(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="module")
def used_home(new_home: Callable[[], Path]) -> Path:
    """A home that was started, used and stopped once."""
    home = new_home()
    with tiny(home) as found:
        query(found.database_url, "CREATE TABLE kept AS SELECT 42 AS value")
        with redis.Redis.from_url(found.redis_url) as client:
            client.set("kept", "42")
    return home


def assert_data_is_there(found: Instance) -> None:
    assert query(found.database_url, "SELECT value FROM kept") == [(42,)]
    with redis.Redis.from_url(found.redis_url) as client:
        assert client.get("kept") == b"42"


@pytest.fixture(scope="class")
def found(used_home: Path) -> Iterator[Instance]:
    with tiny(used_home) as running:
        yield running


class TestRunning:
    """What is true of an instance while it runs; started once for all of these."""

    def test_the_servers_have_vectors_passwords_and_loopback_only(
        self, used_home: Path, found: Instance
    ) -> None:
        assert query(found.database_url, "SELECT '[1,2]'::vector <=> '[1,2]'::vector") == [(0.0,)]
        assert query(found.database_url, "SHOW fsync") == [("on",)]
        assert pongs(found.redis_url)
        passwords = instance.credentials(used_home)
        assert not answers(found.database_url.replace(passwords["postgres"], "wrong"))
        assert not pongs(found.redis_url.replace(passwords["valkey"], "wrong"))
        listening = {
            connection.laddr.ip
            for process in processes_of(used_home)
            for connection in process.net_connections()
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}

    def test_what_is_secret_is_readable_by_the_owner_alone(
        self, used_home: Path, found: Instance
    ) -> None:
        for name in ("instance.json", "api-key", "credentials.json", "valkey/valkey.conf"):
            assert stat.S_IMODE((used_home / name).stat().st_mode) == 0o600, name
        commands = " ".join(" ".join(one.cmdline()) for one in processes_of(used_home))
        for secret in instance.credentials(used_home).values():
            assert secret not in commands
            assert secret not in repr(found)

    def test_data_outlives_a_restart(self, found: Instance) -> None:
        assert_data_is_there(found)

    def test_the_key_outlives_a_restart(self, used_home: Path, found: Instance) -> None:
        kept = instance.api_key(used_home)
        assert kept is not None
        hashed = hashlib.sha256(kept.encode()).hexdigest()
        assert query(found.database_url, "SELECT key_hash FROM rag.api_keys") == [(hashed,)]

    def test_a_second_supervisor_says_which_process_runs(
        self, used_home: Path, found: Instance
    ) -> None:
        status, errors = Tiny(used_home).ended()
        assert status == 1
        assert f"runs in {used_home} already (process {found.pid})" in errors
        assert answers(found.database_url)

    def test_commands_find_it(self, used_home: Path, found: Instance) -> None:
        connected = instance.connect(load({"LASTRO_HOME": str(used_home)}))
        assert connected.api_url == found.api_url
        assert connected.database_url is not None
        assert connected.database_url.get_secret_value() == found.database_url
        assert connected.api_key is not None
        assert connected.api_key.get_secret_value() == instance.api_key(used_home)


def test_a_dead_child_is_started_again(used_home: Path) -> None:
    with tiny(used_home) as found:
        for _ in range(5000):  # however many signals come at once, none stalls it
            os.kill(found.pid, signal.SIGCHLD)
        grandchild = psutil.Process(found.children["worker"]["pid"]).children()[0]
        for name in ("worker", "api", "postgres", "valkey"):
            os.kill(found.children[name]["pid"], signal.SIGKILL)

        def restarted() -> bool:
            now = instance.running(used_home)
            return now is not None and all(one["restarts"] == 1 for one in now.children.values())

        until(restarted, what="all children are restarted")
        until(lambda: answers(found.database_url), what="PostgreSQL answers at the same address")
        until(lambda: pongs(found.redis_url), what="Valkey answers at the same address")
        assert_data_is_there(found)
        until(lambda: not grandchild.is_running(), what="the dead worker's own child is gone")


def test_nothing_outlives_a_killed_supervisor_for_long(used_home: Path) -> None:
    killed = Tiny(used_home)
    killed.ready()
    killed.end(signal.SIGKILL)
    with tiny(used_home) as found:
        assert_data_is_there(found)
        assert {one.pid for one in psutil.Process(found.pid).children()} == {
            child["pid"] for child in found.children.values()
        }
        mine = psutil.Process(found.pid).children(recursive=True)
        assert {one.pid for one in processes_of(used_home)} == {one.pid for one in mine}


def test_what_a_dead_supervisor_left_running_is_ended_first(used_home: Path) -> None:
    killed = Tiny(used_home)
    found = killed.ready()
    # Stopped processes can't act on the signal that the kernel sends them when their parent dies.
    left = [psutil.Process(found.children[name]["pid"]) for name in ("postgres", "worker")]
    for process in left:
        process.suspend()
    killed.end(signal.SIGKILL)
    for process in left:
        process.resume()
    with tiny(used_home) as again:
        assert_data_is_there(again)
        assert not any(process.is_running() for process in left)


def test_two_homes_do_not_meet(used_home: Path, home: Path) -> None:
    with tiny(used_home) as first, tiny(home) as second:
        assert_data_is_there(first)
        assert query(second.database_url, "SELECT to_regclass('kept')") == [(None,)]
        with redis.Redis.from_url(second.redis_url) as client:
            assert client.dbsize() == 0
        crossed = first.database_url.split("@")[0] + "@" + second.database_url.split("@")[1]
        assert not answers(crossed)


def test_a_stale_pid_file_is_taken_over(used_home: Path) -> None:
    # The number in it belongs to a live process, as after a reboot; this one.
    lines = [str(os.getpid()), str(used_home / "postgres"), "1", "1", "", "127.0.0.1", "", "ready"]
    (used_home / "postgres" / "postmaster.pid").write_text("\n".join(lines) + "\n")
    with tiny(used_home) as found:
        assert_data_is_there(found)


def test_an_interrupted_first_start_is_begun_again(home: Path) -> None:
    cut_short = Tiny(home)
    until(lambda: (home / "postgres.new" / "PG_VERSION").exists(), what="initdb is at work")
    cut_short.end(signal.SIGKILL)
    assert not (home / "postgres").exists()
    with tiny(home) as found:
        assert answers(found.database_url)
    assert not (home / "postgres.new").exists()


def test_an_unusable_data_folder_is_set_aside(home: Path) -> None:
    folder = home / "postgres"
    folder.mkdir()
    (folder / "PG_VERSION").write_text("18\n")
    with tiny(home) as found:
        assert answers(found.database_url)
    assert [one.name for one in (home / "postgres.broken").iterdir()] == ["PG_VERSION"]


def test_an_unreadable_broker_starts_empty(home: Path) -> None:
    data = home / "valkey" / "appendonlydir"
    data.mkdir(parents=True)
    (data / "appendonly.aof.manifest").write_text("nonsense\n")
    with tiny(home) as found:
        assert pongs(found.redis_url)


def test_a_child_that_can_not_start_is_reported_with_its_last_words(used_home: Path) -> None:
    status, errors = Tiny(used_home, "broken").ended()
    assert status == 1
    assert "worker ended 3 times, the last with exit status 1" in errors
    assert "no such model: nonsense" in errors
    assert processes_of(used_home) == []


def test_a_taken_port_is_named(used_home: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        status, errors = Tiny(used_home, port=port).ended()
    assert status == 1
    assert f"Port {port} of 127.0.0.1 is taken" in errors


def test_a_lost_password_is_named(used_home: Path) -> None:
    credentials = used_home / "credentials.json"
    right = credentials.read_text()
    credentials.write_text(json.dumps({"postgres": "wrong", "valkey": "wrong"}))
    try:
        status, errors = Tiny(used_home).ended()
    finally:
        credentials.write_text(right)
    assert status == 1
    assert "credentials.json does not hold the password" in errors


def test_without_an_instance_commands_need_both_servers(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match="No instance runs in"):
        instance.connect(load({"LASTRO_HOME": str(tmp_path)}))
    elsewhere = load(
        {
            "LASTRO_HOME": str(tmp_path),
            "LASTRO_DATABASE_URL": "postgresql://elsewhere/lastro",
            "LASTRO_REDIS_URL": "redis://elsewhere",
        }
    )
    assert instance.connect(elsewhere) == elsewhere
