"""What operators do around a run: look first, try again, watch, start two, remove by mistake."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import office
from tests.pack import Pack
from tests.running import Running, running, until
from tests.stub_parser import SETTING


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory, small_pack: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("operations")
    shutil.copytree(small_pack, folder / "content")
    settings = {
        "LASTRO_LEASE_S": "3",
        "LASTRO_SWEEP_S": "1",
        "LASTRO_PARSERS": SETTING,
        "PYTHONPATH": str(Path(__file__).parents[2]),  # of the stub parser
    }
    with running(folder / "home", folder / "content", settings) as found:
        yield found


@pytest.fixture
def pack(instance: Running, small_pack: Path) -> Pack:
    root = Path(instance.environment["LASTRO_CONTENT_DIR"])
    shutil.rmtree(root)
    shutil.copytree(small_pack, root)
    made = Pack(root, instance)
    made.ingest("--force")
    return made


def foretold(pack: Pack, *arguments: str) -> dict[str, list[str]]:
    done = pack.instance.lastro("ingest", "--dry-run", "--json", *arguments)
    told = json.loads(done.stdout)
    return {
        part: [entry["path"] for entry in told[part]]
        for part in ("added", "changed", "removed", "skipped")
    }


def test_a_dry_run_says_what_the_run_then_does(pack: Pack, instance: Running) -> None:
    pack.write("documents/old.md", "# Old\n\nThe old page.")
    pack.ingest()
    pack.write("documents/new.md", "# New\n\nThe new page.")
    pack.write("documents/photo.bmp", b"BM")
    pack.edit("documents/regulations.md", ("18 months", "20 months"))
    (pack.root / "documents/old.md").unlink()
    runs = "SELECT count(*) FROM rag.ingest_runs"
    before = instance.rows(runs)
    assert foretold(pack) == {
        "added": ["documents/new.md"],
        "changed": ["documents/regulations.md"],
        "removed": ["documents/old.md"],
        "skipped": ["documents/README.md", "documents/photo.bmp"],
    }
    assert foretold(pack, "--track", "skill")["added"] == []
    assert instance.rows(runs) == before
    counts = pack.ingest()["counts"]
    assert (counts["added"], counts["changed"], counts["removed"]) == (1, 1, 1)
    words = instance.lastro("ingest", "--dry-run").stdout
    assert "skipped  documents/photo.bmp: not a supported format" in words
    assert "0 added, 0 changed, 0 removed, 4 unchanged. Nothing was done." in words


def test_only_what_failed_is_tried_again(pack: Pack, instance: Running, tmp_path: Path) -> None:
    pack.write("documents/bad.md", b"\xff\xfe\xfd")
    pack.write("documents/die.stub", f"die-once {tmp_path / 'a'}\n")
    pack.write("documents/kills.stub", "die")
    told = pack.ingest(status="partial")
    assert {one["path"] for one in told["failures"]} == {
        "documents/bad.md",
        "documents/kills.stub",
    }
    pack.write("documents/bad.md", "# Good\n\nThe pelican is mended now.")
    pack.write("documents/other.md", "# Other\n\nNot part of the second try.")
    again = pack.ingest("--retry", told["run_id"], status="partial")
    assert again["counts"]["added"] == 1
    assert [one["path"] for one in again["failures"]] == ["documents/kills.stub"]
    assert "documents/bad.md" in pack.paths("pelican")
    assert "documents/other.md" not in pack.paths("second try")
    for run, said in (
        ("00000000-0000-0000-0000-000000000000", "There is no ingest run"),
        (pack.ingest()["run_id"], "No file failed in run"),
    ):
        refused = instance.lastro("ingest", "--retry", run, check=False)
        assert refused.returncode == 1
        assert said in refused.stderr


def test_an_empty_folder_removes_nothing_unasked(pack: Pack, instance: Running) -> None:
    shutil.rmtree(pack.root / "documents")
    shutil.rmtree(pack.root / "skills")
    (pack.root / "documents").mkdir()
    told = pack.ingest(status="failed")
    assert told["error"]["code"] == "mass_removal"
    assert "--force" in told["error"]["detail"]
    assert "documents/regulations.md" in pack.paths("How long are points valid?")
    foreseen = instance.lastro("ingest", "--dry-run", check=False)
    assert foreseen.returncode == 1
    assert "--force" in foreseen.stderr
    assert pack.ingest("--force")["counts"]["removed"] == 3
    assert pack.paths("How long are points valid?") == set()


def test_a_second_run_waits_for_the_first(pack: Pack, instance: Running, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    pack.write("documents/slow.stub", f"wait {mark}")
    statuses = "SELECT status FROM rag.ingest_runs WHERE status IN ('queued', 'running')"
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(pack.ingest)
        until(mark.exists, what="the first run reads its file")
        pack.write("documents/late.md", "# Late\n\nCame while the first run went on.")
        others = [pool.submit(pack.ingest) for _ in "ab"]
        until(
            lambda: sorted(instance.rows(statuses)) == [("queued",), ("queued",), ("running",)],
            what="the others wait",
        )
        assert "documents/late.md" not in pack.paths("Came while the first run went on")
        mark.with_suffix(".go").touch()
        assert first.result()["counts"]["added"] == 1
        told = [other.result()["counts"] for other in others]
    assert sorted(counts["added"] for counts in told) == [0, 1]
    assert [counts["failed"] for counts in told] == [0, 0]
    assert "documents/late.md" in pack.paths("Came while the first run went on")


def test_a_change_is_seen_while_watching(pack: Pack, instance: Running, tmp_path: Path) -> None:
    log = (tmp_path / "log").open("w+")
    watching = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli.main", "ingest", "--watch"],
        env=instance.environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        until(lambda: "unchanged" in Path(log.name).read_text(), what="the first run")
        pack.write("documents/heron.md", "# Heron\n\nThe heron fishes at noon.")
        until(lambda: "documents/heron.md" in pack.paths("heron"), what="the file is found")
        pack.write("documents/broken.md", b"\xff\xfe\xfd")
        until(lambda: "failed   documents/broken.md" in Path(log.name).read_text(), what="a reason")
        (pack.root / "documents/broken.md").unlink()
        (pack.root / "documents/heron.md").unlink()
        until(lambda: "documents/heron.md" not in pack.paths("heron"), what="it is gone")
    finally:
        watching.send_signal(signal.SIGINT)
    assert watching.wait(timeout=30) == 0
    log.close()


def test_a_file_comes_and_goes_over_the_api(pack: Pack, instance: Running) -> None:
    def ended(answer: httpx.Response) -> dict[str, Any]:
        assert answer.status_code == 202, answer.text

        def look() -> dict[str, Any] | None:
            with instance.client as client:
                found: dict[str, Any] = client.get(answer.headers["location"]).json()
                return found if found["status"] not in ("queued", "running") else None

        return until(look, what="the run ends")

    path = "documents/manual.docx"
    data = office.letter("Manual", "The kingfisher is fed with sprats.")
    with instance.client as client:
        files = {"file": ("manual.docx", data)}
        assert ended(client.post("/documents", files=files))["counts"]["added"] == 1
        assert path in pack.paths("What is the kingfisher fed with?")
        assert pack.ingest()["counts"]["unchanged"] == 4
        broken = {"file": ("manual.docx", data[:2000])}
        told = ended(client.post("/documents", files=broken))
        assert [one["code"] for one in told["failures"]] == ["unreadable"]
        assert path in pack.paths("What is the kingfisher fed with?"), "the version before"
        assert ended(client.delete(f"/documents/{path}"))["counts"]["removed"] == 1
    assert path not in pack.paths("What is the kingfisher fed with?")
    assert not (pack.root / path).exists()
