"""``lastro up`` and the other commands on a real instance, which is killed and started again."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from redis import Redis

from pipeline.local.processes import MARK
from tests.running import Running, running, until

QUESTION = "my login is locked, what now?"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory, small_pack: Path) -> Path:
    """A copy of the pack that the tests of this file may change."""
    copy = tmp_path_factory.mktemp("pack") / "content"
    shutil.copytree(small_pack, copy)
    return copy


@pytest.fixture(scope="module")
def instance(new_home: Callable[[], Path], content: Path) -> Iterator[Running]:
    with running(new_home(), content, {"LASTRO_LEASE_S": "3"}) as found:
        yield found
    assert left_of(found) == []


def left_of(instance: Running) -> list[str]:
    """Command lines of the processes that carry the home's mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(instance.home):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def healthy(instance: Running) -> bool:
    return instance.lastro("status", check=False).returncode == 0


def printed(instance: Running, *arguments: str) -> dict[str, Any]:
    """The one JSON document that a command prints."""
    document: dict[str, Any] = json.loads(instance.lastro(*arguments, "--json").stdout)
    return document


def test_ask_prints_the_answer_and_its_source(instance: Running) -> None:
    said = instance.lastro("ask", QUESTION).stdout
    assert "Wait 60 minutes" in said
    assert "skills/unlock-login/SKILL.md#0" in said


def test_reading_commands_print_one_document_in_the_shapes_of_the_api(instance: Running) -> None:
    asked = printed(instance, "ask", QUESTION)
    with instance.client as client:
        assert asked == client.get(f"/chat/status/{asked['job_id']}").json()
        assert printed(instance, "status").keys() == client.get("/health").json().keys()
        found = printed(instance, "search", QUESTION, "-k", "2")
        assert found == client.get("/search", params={"q": QUESTION, "k": 2}).json()
        run = printed(instance, "ingest")
        assert run == client.get(f"/ingest/{run['run_id']}").json()
    assert run["counts"]["unchanged"] == 3
    report = printed(instance, "report")
    assert report["outcomes"]["grounded"] >= 1
    assert "unlock-login" in {source["name"] for source in report["sources"]}


def test_a_session_goes_on(instance: Running) -> None:
    first = printed(instance, "ask", QUESTION, "--session", "terminal")
    second = printed(instance, "ask", "how do I get missing points?", "--session", "terminal")
    assert {first["session_id"], second["session_id"]} == {"terminal"}


def test_ingest_takes_one_track_one_part_or_another_folder(
    instance: Running, content: Path, tmp_path: Path
) -> None:
    assert printed(instance, "ingest", "--track", "skill")["counts"]["unchanged"] == 2
    assert printed(instance, "ingest", str(content / "documents"))["counts"]["unchanged"] == 1
    assert printed(instance, "reindex", "--track", "document")["counts"]["changed"] == 1
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(content, elsewhere)
    assert printed(instance, "ingest", str(elsewhere))["counts"]["unchanged"] == 3
    missing = instance.lastro("ingest", str(tmp_path / "missing"), check=False)
    assert missing.returncode == 2
    assert "is neither in" in missing.stderr


def test_a_file_that_fails_is_told_with_its_reason(instance: Running, content: Path) -> None:
    broken = content / "documents" / "broken.md"
    broken.write_bytes(b"\x00\xff\xfe\xff broken")
    done = instance.lastro("ingest", check=False)
    assert done.returncode == 1
    assert "failed   documents/broken.md: " in done.stdout
    assert done.stdout.splitlines()[-1].endswith("1 failed")
    broken.unlink()
    assert "0 failed" in instance.lastro("ingest").stdout


def test_keys_are_made_listed_and_revoked(instance: Running) -> None:
    key = printed(instance, "keys", "create", "web", "--scope", "chat")["key"]
    with instance.client as client:
        client.headers["X-API-Key"] = key
        assert client.get("/search", params={"q": "points"}).status_code == 403
        taken = instance.lastro("keys", "create", "web", check=False)
        assert (taken.returncode, taken.stderr.count("\n")) == (1, 1)
        assert {one["name"]: one["scopes"] for one in printed(instance, "keys", "list")["keys"]}[
            "web"
        ] == ["chat"]
        instance.lastro("keys", "revoke", "web")
        assert client.get("/search", params={"q": "points"}).status_code == 401
    assert instance.lastro("keys", "revoke", "web", check=False).returncode == 1


def test_a_second_up_says_that_one_runs(instance: Running) -> None:
    second = instance.lastro("up", "--detach", check=False)
    assert second.returncode == 1
    assert f"(process {instance.told()['pid']})" in second.stderr


@pytest.mark.parametrize("child", ["ingest", "inference", "scheduler", "api"])
def test_a_killed_child_comes_back(instance: Running, child: str) -> None:
    instance.restarted(child, instance.kill(child))
    until(lambda: healthy(instance), what="all parts are there again")
    assert printed(instance, "ask", QUESTION)["grounded"]


def test_a_killed_supervisor_leaves_nothing_and_is_taken_over(instance: Running) -> None:
    key = (instance.home / "api-key").read_text()
    waiting = instance.ask(QUESTION)
    os.kill(instance.told()["pid"], signal.SIGKILL)
    said = instance.lastro("up", "--detach").stdout
    assert "API key" not in said  # it is shown at the first start alone
    assert (instance.home / "api-key").read_text() == key
    assert instance.ended(waiting)["status"] == "done"
    mine = psutil.Process(instance.told()["pid"]).children(recursive=True)
    assert len(left_of(instance)) <= len(mine)


def test_down_also_ends_what_a_killed_supervisor_left(instance: Running) -> None:
    workers = [psutil.Process(instance.pid(name)) for name in ("ingest", "postgres")]
    for process in workers:
        process.suspend()  # it can't act on the signal that comes with its parent's death
    os.kill(instance.told()["pid"], signal.SIGKILL)
    assert "No instance runs" in instance.lastro("ask", QUESTION, check=False).stderr
    for process in workers:
        process.resume()
    instance.lastro("down")
    assert left_of(instance) == []
    assert not any(process.is_running() for process in workers)
    assert "No instance runs" in instance.lastro("down").stdout
    instance.lastro("up", "--detach")


def test_two_instances_do_not_meet(instance: Running, content: Path, home: Path) -> None:
    with running(home, content, {}) as other:
        addresses = {one.told()[url] for one in (instance, other) for url in URLS}
        assert len(addresses) == 2 * len(URLS)
        before = printed(instance, "report")["questions"]
        assert printed(other, "ask", QUESTION)["grounded"]
        assert printed(other, "report")["questions"] == 1
        assert printed(instance, "report")["questions"] == before
    assert healthy(instance)


URLS = ("api_url", "database_url", "redis_url")


def waiting_for_messages(broker_url: str) -> bool:
    with Redis.from_url(broker_url) as broker:
        return any(client["cmd"] == "brpop" for client in broker.client_list())


def test_servers_that_are_named_are_used_and_outlive_the_instance(
    home: Path, content: Path, empty_database: str, valkey_url: str
) -> None:
    named = {"LASTRO_DATABASE_URL": empty_database, "LASTRO_REDIS_URL": valkey_url}
    with running(home, content, named) as instance:
        assert set(instance.told()["children"]) == {"ingest", "inference", "scheduler", "api"}
        assert printed(instance, "ask", QUESTION)["grounded"]
        until(lambda: waiting_for_messages(valkey_url), what="workers wait at the named broker")
    with psycopg.connect(empty_database) as connection:
        asked = connection.execute("SELECT question FROM rag.jobs").fetchall()
    assert asked == [(QUESTION,)]
    with Redis.from_url(valkey_url) as broker:
        assert broker.ping()


def test_a_start_that_fails_says_why_and_leaves_nothing(home: Path, content: Path) -> None:
    with pytest.raises(AssertionError, match=r"inference ended 3 times"):  # noqa: SIM117
        with running(
            home,
            content,
            {"LASTRO_EMBEDDER": "openai", "LASTRO_EMBEDDER_URL": "http://127.0.0.1:9/v1"},
        ):
            pass
    assert not (home / "instance.json").exists()
