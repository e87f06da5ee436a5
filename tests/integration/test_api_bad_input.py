"""What clients send wrong, by mistake or on purpose: always a problem, never a 500."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx
import psutil
import pytest
from sqlalchemy import func, select

from pipeline.db.engine import transaction
from pipeline.db.tables import jobs
from tests.serving import Served


def problem(answer: httpx.Response, status: int) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told: dict[str, object] = answer.json()
    assert {"type", "title", "status", "detail", "code", "instance"} <= told.keys()
    assert told["status"] == status
    assert told["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"
    return told


def send(api: Served, body: bytes | str, path: str = "/chat") -> httpx.Response:
    with api.client() as client:
        return client.post(path, content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"{",
        b"message=oi",
        b'{"message": "oi",}',
        b"\xff\xfe\xfa",
        b'{"message": "\xff"}',
        b'{"message": NaN}',
        b'{"message": ' + b"9" * 10_000 + b"}",
        b"[" * 50_000,
        b'{"a":' * 10_000,
        b'{"message": "oi", "message": "ola"}',
        b'{"message": "oi", "x": {"a": 1, "a": 2}}',
    ],
)
def test_what_is_not_json_is_400(api: Served, body: bytes) -> None:
    assert problem(send(api, body), 400)["code"] == "malformed"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("[]", None),
        ("null", None),
        ('"oi"', None),
        ("{}", "message"),
        ('{"message": null}', "message"),
        ('{"message": 1}', "message"),
        ('{"message": ["oi"]}', "message"),
        ('{"message": {"a": {"b": []}}}', "message"),
        ('{"message": ""}', "message"),
        ('{"message": " \\n\\t "}', "message"),
        ('{"message": "\\u0000\\u0007"}', "message"),
        ('{"message": "\\u200b\\u200d\\ufeff\\u2060"}', "message"),
        ('{"message": "\\u3164\\u2800"}', "message"),
        ('{"message": "\\ud800"}', "message"),
        ('{"message": "a\\udc00b"}', "message"),
        ('{"message": "%s"}' % ("x" * 201), "message"),
        ('{"message": "oi", "session_id": ""}', "session_id"),
        ('{"message": "oi", "session_id": "a/b"}', "session_id"),
        ('{"message": "oi", "session_id": "a\\nb"}', "session_id"),
        ('{"message": "oi", "session_id": "a\\u0000"}', "session_id"),
        ('{"message": "oi", "session_id": "\\ud800"}', "session_id"),
        ('{"message": "oi", "session_id": "\\u200b"}', "session_id"),
        ('{"message": "oi", "session_id": "%s"}' % ("x" * 129), "session_id"),
        ('{"message": "oi", "session_id": 5}', "session_id"),
        ('{"message": "oi", "sesion_id": "s"}', "sesion_id"),
        ('{"message": "oi", "callback_url": "https://example.org"}', "callback_url"),
        ('{"message": "oi", "metadata": {}}', "metadata"),
        ('{"message": "oi", "deadline_s": 5}', "deadline_s"),
        ('{"message": "oi", "wait": 5}', "wait"),
        ('{"message": "oi", "\\ud800": 5}', None),
    ],
)
def test_a_wrong_shape_is_422_and_names_the_field(
    api: Served, body: str, field: str | None
) -> None:
    told = problem(send(api, body), 422)
    if field:
        assert [error["field"] for error in told["errors"]] == [field]  # type: ignore[attr-defined]
        assert field in str(told["detail"])
    with transaction() as conn:
        assert conn.execute(select(func.count()).select_from(jobs)).scalar_one() == 0


@pytest.mark.parametrize("wait", ["-1", "61", '"5"', "true", "1e400", "[]"])
def test_a_wrong_wait_is_422(api: Served, wait: str) -> None:
    problem(send(api, '{"message": "oi", "wait": ' + wait + "}", "/ask"), 422)


@pytest.mark.parametrize(
    "query", ["wait=-1", "wait=61", "wait=x", "wait=nan", "wait=1&wait=2", "w=1"]
)
def test_a_wrong_query_is_422(api: Served, query: str) -> None:
    with api.client() as client:
        problem(client.get(f"/chat/status/4d5e?{query}"), 422)


@pytest.mark.parametrize(
    "message",
    [
        "x" * 200,
        "🦜" * 200,
        "nulo\x00",
        "a\u202eb",
        "e\u0301",
        "'; DROP TABLE jobs; --",
        '<a@b> "c" : *',
    ],
)
def test_odd_text_is_taken(api: Served, message: str) -> None:
    with api.client() as client:
        taken = client.post("/chat", json={"message": message, "session_id": "š 🦜 '\"%_"})
        assert taken.status_code == 202, taken.text
        assert client.get(f"/chat/status/{taken.json()['job_id']}").status_code == 200


def test_an_idempotency_key_is_refused_rather_than_ignored(api: Served) -> None:
    with api.client() as client:
        refused = client.post("/chat", json={"message": "oi"}, headers={"Idempotency-Key": "1"})
    assert "Idempotency-Key" in str(problem(refused, 422)["detail"])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/chat/", 404),
        ("GET", "/chat/%00", 405),
        ("DELETE", "/chat/a%00b", 422),
        ("DELETE", "/chat/a%FFb", 204),
        ("GET", "/chat/status/%00", 404),
        ("GET", "/chat/status/%2e%2e", 404),
        ("PUT", "/chat", 405),
        ("DELETE", "/chat/status/4d5e", 405),
        ("POST", "/search", 405),
        ("GET", "/docs/assets/../../pyproject.toml", 404),
        ("GET", "/docs/assets/%2e%2e/%2e%2e/METADATA", 404),
        ("GET", "/docs/assets/nothing.js", 404),
    ],
)
def test_wrong_addresses_and_methods(api: Served, method: str, path: str, status: int) -> None:
    with api.client() as client:
        answer = client.request(method, path)
    if status == 204:
        assert answer.status_code == 204
    else:
        problem(answer, status)
    if status == 405:
        assert answer.headers["allow"]


# --- keys


def test_without_a_key_nothing_is_open(api: Served) -> None:
    for method, path in [
        ("POST", "/chat"),
        ("POST", "/ask"),
        ("GET", "/chat/status/4d5e"),
        ("DELETE", "/chat/s"),
        ("DELETE", "/chat/jobs/4d5e"),
        ("GET", "/search?q=oi"),
        ("POST", "/ingest"),
        ("GET", "/ingest/4d5e"),
    ]:
        for headers in ({}, {"X-API-Key": ""}, {"X-API-Key": "lastro_wrong"}, {"X-API-Key": "é"}):
            answer = httpx.request(
                method,
                api.url + path,
                headers={name: value.encode("latin-1") for name, value in headers.items()},
            )
            problem(answer, 401)
            assert answer.headers["www-authenticate"]


def test_a_key_opens_what_its_scopes_say(api: Served) -> None:
    with api.client(scopes=("search",)) as client:
        assert "chat" in str(problem(client.post("/chat", json={"message": "oi"}), 403)["detail"])
        problem(client.post("/ingest", json={}), 403)
        problem(client.get("/search", params={"q": "oi", "k": 0}), 422)
    with api.client(scopes=("chat",)) as client:
        problem(client.get("/search", params={"q": "oi"}), 403)


def test_two_keys_at_once_are_refused(api: Served) -> None:
    with api.client() as client:
        key = client.headers["X-API-Key"]
        problem(
            httpx.get(f"{api.url}/search?q=oi", headers=[("X-API-Key", key), ("X-API-Key", "x")]),
            401,
        )


# --- bodies


def chunks(count: int, size: int = 64 * 1024) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * size


def test_a_long_body_is_refused_by_its_declared_length(api: Served) -> None:
    problem(send(api, b'{"message": "' + b"x" * 100_000 + b'"}'), 413)


def test_a_chunked_body_is_counted(api: Served) -> None:
    with api.client() as client:
        problem(client.post("/chat", content=chunks(2)), 413)


def test_an_endless_body_is_refused_early_and_kept_nowhere(api: Served) -> None:
    """100 MB without a declared length: the answer comes after the first of them."""
    with api.client() as client:
        key = client.headers["X-API-Key"]
    process = psutil.Process(api.process.pid)
    before = process.memory_info().rss
    with socket.create_connection(("127.0.0.1", int(api.url.rpartition(":")[2])), 30) as connection:
        connection.sendall(
            f"POST /chat HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(3):
            connection.sendall(chunk)
        answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413 ")
        for _ in range(1600):
            connection.sendall(chunk)
    assert process.memory_info().rss - before < 20_000_000


def test_a_false_length_gets_no_further_than_the_limit(api: Served) -> None:
    """A declared length that is smaller than the body ends the body there."""
    with api.client() as client:
        key = client.headers["X-API-Key"]
    with socket.create_connection(("127.0.0.1", int(api.url.rpartition(":")[2])), 30) as connection:
        connection.sendall(
            b"POST /chat HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n"
            + f"X-API-Key: {key}\r\n\r\n".encode()
            + b'{"message": "'
            + b"x" * 300_000
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_questions_stand_in_no_log(api: Served) -> None:
    with api.client() as client:
        client.post("/chat", json={"message": "segredo-um", "session_id": "segredo-dois"})
        client.get("/search", params={"q": "segredo-tres", "k": 0})
        client.delete("/chat/segredo-quatro")
        client.post("/chat", content='{"message": 1, "segredo-cinco": 2')
    logged = api.logged()
    assert '"route": "/chat"' in logged
    assert "segredo" not in logged
