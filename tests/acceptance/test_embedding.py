"""What an embeddings server is asked for when documents are ingested, changed and copied."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.embedding_server import (
    DIMENSION,
    Answer,
    EmbeddingServer,
    answering,
    embedding_server,
)
from tests.pack import Pack
from tests.running import Running, running

SECTIONS = ("Hotels", "Trains", "Meals", "Taxis", "Parking", "Receipts")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[EmbeddingServer, str]]:
    with embedding_server() as told:
        yield told


@pytest.fixture(scope="module")
def instance(
    server: tuple[EmbeddingServer, str], tmp_path_factory: pytest.TempPathFactory, small_pack: Path
) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("embedding")
    shutil.copytree(small_pack, folder / "content")
    settings = {
        "LASTRO_EMBEDDER": "openai",
        "LASTRO_EMBEDDER_URL": server[1],
        "LASTRO_EMBEDDER_MODEL": "some/e5-model",
        "LASTRO_EMBEDDER_DIMENSION": str(DIMENSION),
    }
    with running(folder / "home", folder / "content", settings) as found:
        yield found


@pytest.fixture
def told(server: tuple[EmbeddingServer, str]) -> Iterator[EmbeddingServer]:
    """The server with nothing asked of it yet."""
    yield server[0]
    server[0].answer = answering


@pytest.fixture
def pack(instance: Running, small_pack: Path, told: EmbeddingServer) -> Pack:
    root = Path(instance.environment["LASTRO_CONTENT_DIR"])
    shutil.rmtree(root)
    shutil.copytree(small_pack, root)
    made = Pack(root, instance)
    made.ingest("--force")
    told.requests.clear()
    return made


def document(**changed: str) -> str:
    """Six sections of two sentences, one of them as ``changed`` says."""
    return "# Travel\n\n" + "\n\n".join(
        f"## {name}\n\nAsk the desk about {name.lower()}. "
        + changed.get(name, f"Keep what you paid for {name.lower()}.")
        for name in SECTIONS
    )


def asked(told: EmbeddingServer) -> Counter[str]:
    """The texts that the server was given, without their prefix, which each has once."""
    texts = [text for request in told.requests for text in request]
    assert all(text.startswith("passage: ") and text.count("passage: ") == 1 for text in texts)
    return Counter(text.removeprefix("passage: ") for text in texts)


def test_a_changed_section_is_all_that_is_embedded(pack: Pack, told: EmbeddingServer) -> None:
    pack.write("documents/travel.md", document())
    pack.ingest()
    first = asked(told)
    assert max(first.values()) == 1
    told.requests.clear()
    pack.write("documents/travel.md", document(Meals="Meals need no receipt."))
    pack.ingest()
    again = asked(told)
    assert all("eals" in text for text in again)
    assert not any(text == "Ask the desk about meals." for text in again), "it had its vector"
    assert len(again) == 2, "the chunk and its new sentence"


def test_a_text_is_embedded_once_for_all_documents(pack: Pack, told: EmbeddingServer) -> None:
    pack.write("documents/one.md", document())
    pack.ingest()
    told.requests.clear()
    pack.write("documents/copy/two.md", document())
    shutil.move(pack.root / "documents/one.md", pack.root / "documents/renamed.md")
    pack.ingest()
    assert asked(told) == {}
    assert {"documents/copy/two.md", "documents/renamed.md"} <= pack.paths("hotels")


def test_a_text_that_the_server_refuses_costs_no_other(pack: Pack, told: EmbeddingServer) -> None:
    def at_most(texts: Sequence[str]) -> Answer:
        if any(len(text) > 900 for text in texts):
            return 413, {"error": {"message": "input is too long"}}
        return answering(texts)

    told.answer = at_most
    long = "A sentence of the long section that has no end " * 40
    pack.write("documents/long.md", document(Taxis=long))
    counts = pack.ingest()["counts"]
    assert (counts["added"], counts["failed"]) == (1, 0)
    assert "documents/long.md" in pack.paths("receipts")
    tries = Counter(len(request) for request in told.requests)
    assert sum(tries.values()) < 60, "narrowed down, not asked for ever"
