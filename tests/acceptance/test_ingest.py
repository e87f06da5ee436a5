"""Ingestion as an operator runs it: a folder is edited, `lastro ingest` run, questions asked."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from tests.pack import Pack
from tests.running import Running, running, until

UNLOCK = "How do I unlock my login?"
SKILL = "skills/unlock-login/SKILL.md"
REGULATIONS = "documents/regulations.md"
SECTIONS = ("Hotels", "Trains", "Meals", "Taxis", "Parking", "Receipts")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory, small_pack: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("ingest")
    shutil.copytree(small_pack, folder / "content")
    settings = {"LASTRO_LEASE_S": "3", "LASTRO_SWEEP_S": "1"}
    with running(folder / "home", folder / "content", settings) as found:
        yield found


@pytest.fixture
def pack(instance: Running, small_pack: Path) -> Pack:
    """The folder as it was at first, and so is the index."""
    root = Path(instance.environment["LASTRO_CONTENT_DIR"])
    shutil.rmtree(root)
    shutil.copytree(small_pack, root)
    made = Pack(root, instance)
    made.ingest("--force")
    return made


def edition(name: str) -> str:
    """A document of several chunks, each of which says which edition it is from."""
    return "# Travel\n\n" + "\n\n".join(
        f"## {section}\n\nThis is edition {name} of the travel rules about {section.lower()}."
        for section in SECTIONS
    )


def long_document(name: str) -> str:
    """A document of which every chunk takes the embedder a moment."""
    return f"# {name}\n\n" + "\n\n".join(
        f"## Rule {number}\n\n"
        + " ".join(f"Rule {number} of {name} has detail {part}." for part in range(4))
        for number in range(40)
    )


def test_what_is_unchanged_is_left_alone(pack: Pack, instance: Running) -> None:
    pack.ingest()
    rows = "SELECT chunk_id, xmin::text FROM rag.embeddings ORDER BY chunk_id"
    before = instance.rows(rows)
    counts = pack.ingest()["counts"]
    assert counts == {
        "added": 0,
        "changed": 0,
        "removed": 0,
        "unchanged": 3,
        "failed": 0,
        "total": 0,
        "finished": 0,
    }
    assert instance.rows(rows) == before


def test_the_next_question_uses_the_new_text(pack: Pack, instance: Running) -> None:
    pack.ingest()
    assert "60 minutes" in instance.ended(instance.ask(UNLOCK, "old"))["answer"]
    pack.edit(SKILL, ("60 minutes", "75 minutes"))
    assert pack.ingest()["counts"]["changed"] == 1
    answer = instance.ended(instance.ask(UNLOCK, "new"))["answer"]
    assert "75 minutes" in answer
    assert "60 minutes" not in answer


def test_meanwhile_questions_get_the_old_or_the_new_text(pack: Pack, instance: Running) -> None:
    for number in range(6):
        pack.write(f"documents/rules/{number:02}.md", edition(f"zero of book {number}"))
    pack.write("documents/travel.md", edition("one"))
    pack.ingest()
    for number in range(6):
        pack.write(f"documents/rules/{number:02}.md", edition(f"zero of volume {number}"))
    pack.write("documents/travel.md", edition("two"))
    pack.edit(SKILL, ("60 minutes", "75 minutes"), ("24 hours", "36 hours"))
    answers, editions = set(), set()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(pack.ingest)
        asked = 0
        while not run.done() or asked == 0:
            asked += 1
            answer = instance.ended(instance.ask(UNLOCK, f"meanwhile-{asked}"))["answer"]
            figures = ("60 minutes", "24 hours", "75 minutes", "36 hours")
            answers.add(tuple(figure for figure in figures if figure in answer))
            found = [
                result["text"].partition("edition ")[2].split()[0]
                for result in pack.search("travel rules about hotels, trains, meals and taxis")
                if result["name"] == "documents/travel.md"
            ]
            editions.add(tuple(sorted(set(found))))
        assert run.result()["counts"]["changed"] == 8
    assert answers <= {("60 minutes", "24 hours"), ("75 minutes", "36 hours")}
    assert editions <= {("one",), ("two",)}
    last = instance.ended(instance.ask(UNLOCK, "afterwards"))["answer"]
    assert "75 minutes" in last
    assert "36 hours" in last


def test_a_new_version_replaces_all_chunks_and_a_removed_file_is_found_no_more(
    pack: Pack, instance: Running
) -> None:
    path = "documents/travel.md"
    chunks = (
        "SELECT count(*), count(*) FILTER (WHERE v.live) FROM rag.chunks c"
        " JOIN rag.document_versions v ON v.id = c.version_id"
        f" JOIN rag.documents d ON d.id = v.document_id WHERE d.path = '{path}'"
    )
    pack.write(path, edition("one"))
    pack.ingest()
    assert instance.rows(chunks) == [(6, 6)]
    pack.write(path, "# Travel\n\n## Hotels\n\nThe travel rules about hotels are one line now.")
    pack.ingest()
    assert instance.rows(chunks) == [(1, 1)]
    assert {r["text"] for r in pack.search("travel rules about trains") if r["name"] == path} == {
        "The travel rules about hotels are one line now."
    }
    (pack.root / path).unlink()
    assert pack.ingest()["counts"]["removed"] == 1
    assert path not in pack.paths("travel rules about hotels")
    assert instance.rows(chunks) == [(0, 0)]


def test_a_broken_file_has_its_reason_and_costs_no_other(pack: Pack, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Secret\n\nNobody may read this.")
    pack.write("documents/latin.md", "# Programação\n\nÉ proibido.".encode("latin-1"))
    pack.write("documents/empty.md", "")
    pack.write("skills/nameless/SKILL.md", "---\nname: nameless\n---\n# Nameless\n\nDo it.")
    pack.write("documents/nul.md", b"# Nul\n\nThe zeppelin\x00 lands at noon.")
    pack.write("documents/notes.log", "not content")
    (pack.root / "documents" / "link.md").symlink_to(outside)
    (pack.root / "documents" / "nowhere.md").symlink_to(tmp_path / "nothing")
    told = pack.ingest(status="partial")
    failures = {one["path"]: one for one in told["failures"]}
    assert {path: (one["code"], one["stage"]) for path, one in failures.items()} == {
        "documents/latin.md": ("unreadable", "parse"),
        "documents/empty.md": ("empty", "parse"),
        "skills/nameless/SKILL.md": ("invalid_skill", "parse"),
    }
    assert "UTF-8" in failures["documents/latin.md"]["reason"]
    assert "description" in failures["skills/nameless/SKILL.md"]["reason"]
    assert told["counts"]["failed"] == 3
    warnings = {one["path"]: one["reason"] for one in told["warnings"]}
    assert set(warnings) == {
        "documents/README.md",
        "documents/link.md",
        "documents/notes.log",
        "documents/nowhere.md",
    }
    assert "LASTRO_FOLLOW_LINKS" in warnings["documents/link.md"]
    assert "documents/nul.md" in pack.paths("When does the zeppelin land?")
    assert "documents/link.md" not in pack.paths("Secret that nobody may read")


def test_a_broken_version_leaves_the_old_one(pack: Pack, instance: Running) -> None:
    pack.ingest()
    pack.write(REGULATIONS, b"\xff\xfe\xfd")
    told = pack.ingest(status="partial")
    assert [one["path"] for one in told["failures"]] == [REGULATIONS]
    assert REGULATIONS in pack.paths("How long are points valid?")


def test_a_readme_is_never_found(pack: Pack) -> None:
    pack.write("skills/README.md", "# Notes\n\nWriters of skills keep to these notes.")
    pack.write("skills/unlock-login/readme.md", "# More notes\n\nWriters read these notes too.")
    warnings = {one["path"]: one["reason"] for one in pack.ingest()["warnings"]}
    readmes = {"documents/README.md", "skills/README.md", "skills/unlock-login/readme.md"}
    assert set(warnings) == readmes
    assert all("README" in reason for reason in warnings.values())
    found = pack.paths("Notes for writers: a text that nobody who asks should ever find")
    assert found
    assert not any("readme" in path.lower() for path in found)


def test_one_track_touches_no_other(pack: Pack) -> None:
    pack.ingest()
    pack.edit(SKILL, ("60 minutes", "75 minutes"))
    pack.edit(REGULATIONS, ("18 months", "20 months"))
    pack.write("documents/new.md", "# New\n\nA new document.")
    (pack.root / "skills/missing-points/SKILL.md").unlink()
    counts = pack.ingest("--track", "skill")["counts"]
    assert (counts["added"], counts["changed"], counts["removed"]) == (0, 1, 1)
    assert any("18 months" in result["text"] for result in pack.search("validity of points"))
    counts = pack.ingest("--track", "document")["counts"]
    assert (counts["added"], counts["changed"], counts["removed"]) == (1, 1, 0)
    assert any("20 months" in result["text"] for result in pack.search("validity of points"))


def test_one_path_touches_no_other(pack: Pack) -> None:
    pack.ingest()
    pack.edit(SKILL, ("60 minutes", "75 minutes"))
    pack.write("documents/new/a.md", "# New\n\nA new document.")
    counts = pack.ingest(str(pack.root / "documents" / "new"))["counts"]
    assert (counts["added"], counts["changed"], counts["removed"]) == (1, 0, 0)
    shutil.rmtree(pack.root / "documents" / "new")
    counts = pack.ingest(str(pack.root / "documents" / "new"))["counts"]
    assert (counts["added"], counts["changed"], counts["removed"]) == (0, 0, 1)


def test_who_answers_is_part_of_the_content(pack: Pack, instance: Running) -> None:
    pack.edit("assistant.yaml", ("I could not find that", "I looked and did not find that"))
    pack.ingest()
    capital = "What is the capital of Brazil?"
    assert instance.ended(instance.ask(capital, "who"))["answer"].startswith("I looked")
    pack.write("assistant.yaml", "name: Nova\nrefusals: {}\n")
    [warning] = [w for w in pack.ingest()["warnings"] if w["path"] == "assistant.yaml"]
    assert "refusals" in warning["reason"]
    assert instance.ended(instance.ask(capital, "who-2"))["answer"].startswith("I looked")


def test_a_killed_ingest_process_costs_no_file(pack: Pack, instance: Running) -> None:
    path = "documents/killed.md"
    pack.write(path, long_document("the killed book"))
    item = f"SELECT lease_owner FROM rag.ingest_items WHERE path = '{path}' AND stage = 'embed'"
    vectors = (
        "SELECT count(*), count(e.chunk_id), count(e.chunk_id) FILTER (WHERE e.live)"
        " FROM rag.chunks c JOIN rag.document_versions v ON v.id = c.version_id"
        " JOIN rag.documents d ON d.id = v.document_id"
        f" LEFT JOIN rag.embeddings e ON e.chunk_id = c.id WHERE d.path = '{path}'"
    )
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(pack.ingest)
        until(lambda: 0 < instance.rows(vectors)[0][1] < 40, what="some chunks have vectors")
        [(owner,)] = instance.rows(item)
        killed = int(owner.rpartition(":")[2])
        assert killed != instance.pid("ingest"), "a process of the pool"
        os.kill(killed, signal.SIGKILL)
        assert run.result()["counts"]["failed"] == 0
    assert instance.rows(vectors) == [(40, 40, 40)]
    [(attempts, finisher)] = instance.rows(
        f"SELECT token, lease_owner FROM rag.ingest_items WHERE path = '{path}' AND status = 'done'"
    )
    assert attempts > 4, "one stage was claimed twice"
    assert finisher != owner


def test_an_emptied_broker_costs_no_file(pack: Pack, instance: Running) -> None:
    names = [f"documents/flushed/{number}.md" for number in range(8)]
    for name in names:
        pack.write(name, edition(f"one of {name}"))
    done = (
        "SELECT count(*) FROM rag.ingest_items WHERE status = 'done'"
        " AND path LIKE 'documents/flushed/%'"
    )
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(pack.ingest)
        until(lambda: instance.rows(done)[0][0], what="a file is done")
        Redis.from_url(instance.told()["redis_url"]).flushall()
        assert run.result()["counts"]["added"] == len(names)
    assert set(names) <= pack.paths("travel rules about hotels")
