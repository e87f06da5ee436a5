"""Changing the embedder while questions go on: build beside the live index, switch, go back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.embedding_server import Answer, EmbeddingServer, embedding_server
from tests.pack import Pack
from tests.running import Running, running, until

WIDE = 3072
"""Dimensions, more than an index on pgvector's `vector` takes."""


def by_words(texts: Sequence[str]) -> Answer:
    """Vectors that are near where texts share words."""
    rows = []
    for one in texts:
        words = one.lower().replace(".", " ").replace("?", " ").split()
        seeds = [np.frombuffer(word.encode()[:8].ljust(8, b" "), np.uint64)[0] for word in words]
        rows.append(sum(np.random.default_rng(seed).normal(size=WIDE) for seed in seeds))
    data = [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]
    return 200, {"object": "list", "data": data}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[EmbeddingServer, str]]:
    with embedding_server() as (told, url):
        told.answer = by_words
        yield told, url


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory, small_pack: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("index-sets")
    shutil.copytree(small_pack, folder / "content")
    settings = {"LASTRO_LEASE_S": "3", "LASTRO_SWEEP_S": "1"}
    with running(folder / "home", folder / "content", settings) as found:
        yield found


def other(instance: Running, server: tuple[EmbeddingServer, str], **more: str) -> Running:
    """The same instance, seen by an operator whose settings name the other embedder."""
    own = {
        "LASTRO_EMBEDDER": "openai",
        "LASTRO_EMBEDDER_URL": server[1],
        "LASTRO_EMBEDDER_MODEL": "by-words",
        "LASTRO_EMBEDDER_DIMENSION": str(WIDE),
    }
    return replace(instance, environment=instance.environment | own | more)


def index(instance: Running, *arguments: str) -> Any:
    return json.loads(instance.lastro("index", *arguments, "--json").stdout)


def states(instance: Running) -> dict[int, str]:
    return {one["id"]: one["state"] for one in index(instance, "list")["index_sets"]}


@pytest.fixture
def asking(instance: Running) -> Iterator[list[set[str]]]:
    """Somebody searches all the time; each answer is there, and finds the regulations."""
    pack = Pack(Path(instance.environment["LASTRO_CONTENT_DIR"]), instance)
    found: list[set[str]] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            found.append(pack.paths("How long are points valid?"))

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        yield found
        count = len(found)
        until(lambda: len(found) > count or asked.done(), what="one more answer")
        stop.set()
        asked.result()
    assert all("documents/regulations.md" in paths for paths in found)


def test_another_embedder_takes_over_without_a_pause(
    instance: Running, server: tuple[EmbeddingServer, str], asking: list[set[str]]
) -> None:
    pack = Pack(Path(instance.environment["LASTRO_CONTENT_DIR"]), instance)
    for number in range(30):
        pack.write(f"documents/rooms/{number}.md", f"# Room {number}\n\nRoom {number} is blue.")
    pack.ingest()
    told, operator = server[0], other(instance, server)

    made = index(operator, "create")
    assert (made["state"], made["dimension"], made["documents"]) == ("building", WIDE, 0)
    again = operator.lastro("index", "create", check=False)
    assert again.returncode == 1
    assert f"Index set {made['id']} (building)" in again.stderr
    early = instance.lastro("index", "activate", check=False)
    assert early.returncode == 1
    assert "not up to date: 33 documents differ" in early.stderr

    # A worker is killed while it builds; the build goes on.
    told.requests.clear()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(index, instance, "build")
        until(lambda: len(told.requests) >= 5, what="some documents are embedded")
        owner = "SELECT lease_owner FROM rag.ingest_items WHERE status = 'running' LIMIT 1"
        owners = until(lambda: instance.rows(owner), what="a process has a document")
        os.kill(int(owners[0][0].rpartition(":")[2]), signal.SIGKILL)
        built = run.result()["index_set"]
    assert (built["documents"], built["to_build"]) == (33, 0)
    told.requests.clear()
    assert index(instance, "build")["runs"] == []
    assert told.requests == []

    before = len(asking)
    instance.lastro("index", "activate")
    assert states(instance) == {1: "retired", made["id"]: "live"}
    until(lambda: len(asking) >= before + 3, what="questions go on")
    assert any(text.startswith("How long") for request in told.requests for text in request)
    rooms = pack.search("Room 17 is blue")
    assert rooms[0]["chunk"].startswith("documents/rooms/17.md")

    # New content goes into the live set alone; the one before can be brought up to date.
    pack.write("documents/rooms/new.md", "# Attic\n\nThe attic is green.")
    assert pack.ingest()["counts"]["added"] == 1
    assert "documents/rooms/new.md" in pack.paths("Which colour has the attic?")
    assert instance.lastro("index", "activate", "1", check=False).returncode == 1
    assert index(instance, "build", "1")["index_set"]["to_build"] == 0
    instance.lastro("index", "activate", "1")
    assert "documents/rooms/new.md" in pack.paths("Which colour has the attic?")

    live = instance.lastro("index", "drop", "1", check=False)
    assert live.returncode == 1
    assert "is the live one" in live.stderr
    instance.lastro("index", "drop", str(made["id"]))
    assert states(instance) == {1: "live"}
    assert instance.rows("SELECT count(*) FROM rag.embeddings WHERE index_set_id <> 1") == [(0,)]


def test_other_chunks_are_another_index(instance: Running) -> None:
    pack = Pack(Path(instance.environment["LASTRO_CONTENT_DIR"]), instance)
    long = "\n\n".join(f"Paragraph {n} of the long page says something." for n in range(40))
    pack.write("documents/long.md", f"# Long\n\n{long}")
    pack.ingest()
    operator = replace(instance, environment=instance.environment | {"LASTRO_CHUNK_TOKENS": "64"})
    assert [w for w in pack.ingest()["warnings"] if w["path"] == "."] == []
    made = index(operator, "create")
    assert made["chunking"] == {"tokens": 64, "overlap": 50}
    index(instance, "build")
    chunks = (
        "SELECT v.index_set_id, count(*), max(c.token_count) FROM rag.chunks c"
        " JOIN rag.document_versions v ON v.id = c.version_id WHERE v.live"
        " GROUP BY 1 ORDER BY 1"
    )
    (_, few, _), (_, many, largest) = instance.rows(chunks)
    assert many > few
    assert largest <= 64
    instance.lastro("index", "drop", str(made["id"]))

    # Who sets them and makes no index is told that they are not in force.
    instance.lastro("down")
    operator.lastro("up", "--detach")
    try:
        [warning] = [w for w in pack.ingest()["warnings"] if w["path"] == "."]
        assert "lastro index create" in warning["reason"]
    finally:
        operator.lastro("down")
        instance.lastro("up", "--detach")


def test_a_worker_set_to_another_model_refuses_with_both_names(
    instance: Running, server: tuple[EmbeddingServer, str]
) -> None:
    operator = other(instance, server, LASTRO_EMBEDDER_MODEL="third-model")
    instance.lastro("down")
    operator.lastro("up", "--detach")
    try:
        failed = operator.ended(operator.ask("How long are points valid?"))
        assert failed["status"] == "failed"
        reason = failed["error"]["detail"]
        assert "multilingual-e5-small" in reason
        assert f"third-model ({WIDE} dimensions)" in reason
        assert "lastro index create" in reason
        pack = Pack(Path(operator.environment["LASTRO_CONTENT_DIR"]), operator)
        told_of_run = pack.ingest(status="failed")
        assert "third-model" in told_of_run["error"]["detail"]
    finally:
        operator.lastro("down")
        instance.lastro("up", "--detach")
