"""Uploads and deletes over HTTP: what lands in the folder, what is refused, what Redis carries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import psutil
import pytest
from redis import Redis
from sqlalchemy import select

from pipeline.db.engine import transaction
from pipeline.db.tables import ingest_runs
from tests.corpus import put, unit
from tests.serving import Served

LARGEST = 20_000_000
"""LASTRO_MAX_FILE_BYTES, its default."""


@pytest.fixture
def folder(api: Served) -> Path:
    """The content folder of the API."""
    content = api.log.parent / "content"
    content.mkdir(exist_ok=True)
    return content


@pytest.fixture
def client(api: Served) -> Iterator[httpx.Client]:
    with api.client("default") as made:
        yield made


def upload(client: httpx.Client, name: str, data: bytes = b"# A\n", **form: str) -> httpx.Response:
    return client.post("/documents", files={"file": (name, data)}, data=form)


def recorded(answer: httpx.Response) -> Any:
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["run_id"]
    assert answer.headers["location"] == f"/ingest/{run_id}"
    with transaction() as conn:
        return conn.execute(select(ingest_runs).where(ingest_runs.c.id == UUID(run_id))).one()


def test_a_file_is_put_into_the_folder_and_ingested(client: httpx.Client, folder: Path) -> None:
    run = recorded(upload(client, "đơn hàng.md", "# Đơn hàng\n".encode()))
    assert (run.prefix, run.allow_removals) == ("documents/đơn hàng.md", False)
    assert (folder / "documents/đơn hàng.md").read_text() == "# Đơn hàng\n"
    run = recorded(upload(client, "x.md", b"# New\n", path="projects/lamps/x.md"))
    assert run.prefix == "projects/lamps/x.md"
    recorded(upload(client, "x.md", b"# Newer\n", path="projects/lamps/x.md"))
    assert (folder / "projects/lamps/x.md").read_bytes() == b"# Newer\n"
    assert [one.name for one in (folder / "projects/lamps").iterdir()] == ["x.md"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("../a.md", 422),
        ("documents/../../a.md", 422),
        ("/etc/a.md", 422),
        ("documents//a.md", 422),
        ("documents/./a.md", 422),
        ("documents\\a.md", 422),
        ("documents/a\x00.md", 422),
        ("documents/.a.md", 422),
        ("documents/a.md~", 422),
        ("documents/" + "a" * 300 + ".md", 422),
        ("a.md", 422),
        ("secrets/a.md", 422),
        ("documents/link/a.md", 422),
        ("documents/a.exe", 415),
        ("documents/README.md", 415),
        ("documents", 415),
        ("assistant.yaml", 422),
        ("skills/a.md", 415),
        ("skills/a/other.md", 415),
    ],
)
def test_no_file_goes_elsewhere(
    client: httpx.Client, folder: Path, tmp_path: Path, path: str, status: int
) -> None:
    (folder / "documents").mkdir(exist_ok=True)
    link = folder / "documents" / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path)
    before = sorted(folder.rglob("*"))
    for answer in (upload(client, "a.md", path=path), client.delete(f"/documents/{quote(path)}")):
        assert answer.status_code in (status, 404), answer.text
        assert str(folder.parent) not in answer.text
    assert sorted(folder.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []


def test_a_form_without_a_file_is_refused(client: httpx.Client, folder: Path) -> None:
    for answer in (
        client.post("/documents", data={"path": "documents/a.md"}),
        client.post("/documents", json={"path": "documents/a.md"}),
        client.post("/documents"),
        client.post("/documents", data={"file": "text", "path": "documents/a.md"}),
        client.post("/documents", files={"file": ("a.md", b"# A")}, data={"other": "x"}),
        client.post(
            "/documents",
            content=b"--x\r\nnonsense",
            headers={"Content-Type": "multipart/form-data; boundary=x"},
        ),
    ):
        assert answer.status_code in (400, 422), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_large_file_is_no_message(client: httpx.Client, folder: Path, valkey_url: str) -> None:
    recorded(upload(client, "large.txt", b"large " * (LARGEST // 6)))
    with Redis.from_url(valkey_url) as broker:
        sizes = [
            len(message)
            for key in broker.scan_iter(_type="list")
            for message in broker.lrange(key, 0, -1)
        ]
    assert 0 < sum(sizes) < 5000


def test_a_file_over_the_limit_is_refused_early(api: Served, folder: Path) -> None:
    process = psutil.Process(api.process.pid)
    before = process.memory_info().rss

    def parts() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        for _ in range(200):
            yield b"x" * 1_000_000

    with api.client("default") as client:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        refused = client.post("/documents", content=parts(), headers=headers)
        assert refused.status_code == 413
    assert process.memory_info().rss - before < 50_000_000
    assert not (folder / "documents" / "a.txt").exists()


def test_what_is_deleted_leaves_folder_and_index(client: httpx.Client, folder: Path) -> None:
    recorded(upload(client, "gone.md"))
    run = recorded(client.delete("/documents/documents/gone.md"))
    assert (run.prefix, run.allow_removals) == ("documents/gone.md", True)
    assert not (folder / "documents/gone.md").exists()
    assert client.delete("/documents/documents/gone.md").status_code == 404
    put("documents/indexed.md", ["word"], [unit(1)])
    assert recorded(client.delete("/documents/documents/indexed.md"))


def test_another_workspace_has_no_folder_here(api: Served, folder: Path) -> None:
    with api.client("other") as client:
        for answer in (upload(client, "a.md"), client.delete("/documents/documents/a.md")):
            assert answer.status_code == 409
    with api.client("default", ("chat", "search")) as client:
        assert upload(client, "a.md").status_code == 403


def test_a_folder_that_is_read_only_says_so(client: httpx.Client, folder: Path) -> None:
    (folder / "documents").mkdir(exist_ok=True)
    (folder / "documents" / "file.md").write_text("# A")
    answer = upload(client, "a.md", path="documents/file.md/a.md")
    assert answer.status_code == 409
    assert "can't be changed in the content folder" in answer.json()["detail"]


def test_a_retry_is_of_a_run_that_exists(client: httpx.Client) -> None:
    unknown = {"retry": "00000000-0000-0000-0000-000000000000"}
    assert client.post("/ingest", json=unknown).status_code == 404
    assert client.post("/ingest", json={"retry": "last"}).status_code == 422
