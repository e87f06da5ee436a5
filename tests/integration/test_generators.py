"""Generators against a real HTTP server, and the contract that all of them keep."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from builders import candidate
from model_server import ModelServer, Reply

from pipeline.backends.generators.extractive import CUT, QUOTE_CHARS, Extractive
from pipeline.backends.generators.factory import build
from pipeline.backends.generators.openai import OpenAIGenerator, Sampling
from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    ContextOverflowError,
    EmptyAnswerError,
    PipelineError,
    SettingsError,
)
from pipeline.inference.verify import unsupported
from pipeline.ports import Generator
from pipeline.settings import load
from pipeline.types import Candidate, Message, Prompt, Track

TEXT = "O desbloqueio leva até 3 dias úteis e custa R$ 5,00."


def passage(text: str = TEXT, title: str = "Prazos", track: Track = Track.DOCUMENT) -> Candidate:
    return candidate(text, title=title, track=track)


def prompt(*passages: Candidate, question: str = "Quanto tempo?", language: str = "pt") -> Prompt:
    return Prompt(
        messages=(
            Message("system", f'Regras.\n<passage id="1" title="Prazos">\n{TEXT}\n</passage>'),
            Message("user", "Oi"),
            Message("assistant", "Olá"),
            Message("user", question),
        ),
        passages=passages or (passage(),),
        question=question,
        language=language,
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def client(server: ModelServer, timeout_s: float = 20) -> OpenAIGenerator:
    return OpenAIGenerator(url=server.url, model="m", timeout_s=timeout_s)


# --- the contract


@pytest.fixture(params=["extractive", "openai"])
def generator(request: pytest.FixtureRequest, server: ModelServer) -> Generator:
    if request.param == "extractive":
        return Extractive()
    return client(server)


@pytest.mark.parametrize("language", ["pt", "en", "es", "vi", "de"])
def test_a_generator_answers_from_the_passage(generator: Generator, language: str) -> None:
    generation = generator.generate(prompt(language=language))
    assert TEXT in generation.text
    assert generation.finish_reason == "stop"
    assert generator.name
    assert unsupported(generation.text, [TEXT, "Prazos"], language=language) == []


def test_the_same_prompt_can_be_answered_again(generator: Generator) -> None:
    assert generator.generate(prompt()) == generator.generate(prompt())


def test_failures_are_the_pipelines_own(server: ModelServer) -> None:
    server.script.append(Reply(None))
    for one, asked in (
        (client(server), prompt()),
        (Extractive(), prompt(passage(text=" "))),
    ):
        with pytest.raises(EmptyAnswerError):
            one.generate(asked)


# --- extractive


def test_a_procedure_is_quoted_whole_without_its_triggers() -> None:
    steps = "\n".join(f"{n}. Faça o passo número {n} com calma e atenção." for n in range(1, 60))
    text = f"# Login bloqueado\n\n## Quando usar\n\n- bloqueou\n\n## Procedimento\n\n{steps}"
    skill = passage(text, "Login bloqueado", Track.SKILL)
    answer = Extractive().generate(prompt(skill)).text
    assert answer.startswith("Siga este procedimento, “Login bloqueado”:\n\n## Procedimento")
    assert answer.endswith(steps)
    assert "bloqueou" not in answer
    assert unsupported(answer, [text], language="pt") == []


def test_of_a_long_document_the_section_that_was_asked_for_is_quoted() -> None:
    sections = [
        f"## {name}\n\n" + f"Sobre {name.lower()}, veja o item {n} da lista. " * 20
        for n, name in enumerate(["Pontos", "Frete", "Estorno", "Cadastro"], 11)
    ]
    text = "\n\n".join(sections)
    answer = Extractive().generate(prompt(passage(text), question="Como é o estorno?")).text
    assert "## Estorno" in answer
    assert "## Pontos" not in answer
    assert answer.endswith(CUT)
    assert len(answer) < QUOTE_CHARS + 100
    assert unsupported(answer, [text, "Prazos"], language="pt") == []


# --- OpenAI-compatible servers: what is asked


def test_only_what_is_set_is_asked_for(server: ModelServer) -> None:
    client(server).generate(prompt())
    assert set(server.requests[0]) == {"model", "messages", "max_tokens"}
    assert "authorization" not in server.headers[0]
    sampling = Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, repetition_penalty=1.05)
    one = OpenAIGenerator(
        url=server.url + "/", model="m", api_key="secret", max_tokens=99, sampling=sampling
    )
    generation = one.generate(prompt())
    assert server.requests[1] == {
        "model": "m",
        "messages": server.requests[0]["messages"],
        "max_tokens": 99,
        "temperature": 0.7,
        "top_p": 0.8,
        "top_k": 20,
        "min_p": 0.0,
        "repetition_penalty": 1.05,
    }
    assert server.headers[1]["authorization"] == "Bearer secret"
    assert (generation.prompt_tokens, generation.completion_tokens) == (12, 34)


def test_a_server_without_system_role_gets_the_rules_in_the_first_turn(server: ModelServer) -> None:
    server.refuses_system = True
    one = client(server)
    assert TEXT in one.generate(prompt()).text
    assert [message["role"] for message in server.requests[1]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]
    assert server.requests[1]["messages"][0]["content"].startswith("Regras.")
    assert server.requests[1]["messages"][0]["content"].endswith("\n\nOi")
    one.generate(prompt())
    assert len(server.requests) == 3  # remembered: no request in vain
    assert server.generations == 2


def test_a_strict_server_is_content(server: ModelServer) -> None:
    server.strict = True
    client(server).generate(prompt())
    assert len(server.requests) == 1


def test_the_newer_name_of_the_limit_is_found_out(server: ModelServer) -> None:
    server.script.append(Reply(status=400, error="Use 'max_completion_tokens' instead."))
    client(server).generate(prompt())
    assert "max_tokens" not in server.requests[1]
    assert server.requests[1]["max_completion_tokens"] == 700


# --- what goes wrong


@pytest.mark.parametrize(
    "reply",
    [
        Reply(""),
        Reply("", reasoning="long thoughts"),
        Reply("", reasoning="long thoughts", finish_reason="length"),
        Reply(None, finish_reason="length"),
        Reply("  \n"),
    ],
)
def test_no_content_is_no_answer(server: ModelServer, reply: Reply) -> None:
    server.script.append(reply)
    with pytest.raises(EmptyAnswerError, match="MAX_TOKENS"):
        client(server).generate(prompt())
    assert server.generations == 1


@pytest.mark.parametrize("status", [503, 429])
def test_a_loading_server_is_waited_for(server: ModelServer, status: int) -> None:
    server.script.extend([Reply(status=status, error="loading")] * 3)
    assert TEXT in client(server).generate(prompt()).text
    assert (len(server.requests), server.generations) == (4, 1)


def test_a_server_that_asks_for_patience_gets_it(server: ModelServer) -> None:
    server.script.append(Reply(status=503, headers={"Retry-After": "0"}))
    assert TEXT in client(server).generate(prompt()).text


def test_a_server_that_stays_busy_is_given_up_within_the_limit(server: ModelServer) -> None:
    server.reply = lambda _: Reply(status=503, error="loading weights")
    with pytest.raises(BackendUnavailableError, match="loading weights"):
        client(server, timeout_s=1).generate(prompt())
    assert server.generations == 0


def test_a_server_that_is_not_up_yet_is_waited_for() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    one = OpenAIGenerator(url=f"http://127.0.0.1:{port}/v1", model="m", timeout_s=0.7)
    with pytest.raises(BackendUnavailableError, match="took no request"):
        one.generate(prompt())


@pytest.mark.parametrize("reply", [Reply(silent=True), Reply("x" * 200, trickle=True)])
def test_silence_and_trickling_end_at_the_limit(server: ModelServer, reply: Reply) -> None:
    server.script.append(reply)
    with pytest.raises(BackendTimeoutError, match="LASTRO_GENERATOR_TIMEOUT_S"):
        client(server, timeout_s=1).generate(prompt())
    assert len(server.requests) == 1  # no second generation behind the first


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply("abc" * 50, cut=True), BackendUnavailableError),
        (Reply(status=500, error="CUDA error"), BackendUnavailableError),
        (Reply(status=502), BackendUnavailableError),
        (Reply(status=401, error="bad key"), BackendRejectedError),
        (Reply(status=404, error="no such model"), BackendRejectedError),
        (Reply(status=429, error="insufficient_quota"), BackendRejectedError),
        (
            Reply(status=400, error="This model's maximum context length is 2048 tokens."),
            ContextOverflowError,
        ),
        (
            Reply(status=400, error="the request exceeds the available context size"),
            ContextOverflowError,
        ),
    ],
)
def test_other_failures_are_told_apart_after_one_request(
    server: ModelServer, reply: Reply, error: type[PipelineError]
) -> None:
    server.script.append(reply)
    with pytest.raises(error):
        client(server).generate(prompt())
    assert len(server.requests) == 1


def test_a_wrong_address_is_refused_for_good() -> None:
    with pytest.raises(BackendRejectedError, match="LASTRO_GENERATOR_URL"):
        OpenAIGenerator(url="ftp://host/v1", model="m").generate(prompt())


def test_calls_from_several_threads_keep_apart(server: ModelServer) -> None:
    server.reply = lambda body: Reply(body["messages"][-1]["content"])
    one = client(server)
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = one.generate(prompt(question=f"pergunta {number}")).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"pergunta {number}" for number in range(8)}


# --- the factory


def test_the_factory_builds_what_is_set(server: ModelServer) -> None:
    assert build(load({})).name == "extractive"
    chosen = build(
        load(
            {
                "LASTRO_GENERATOR": "openai",
                "LASTRO_GENERATOR_URL": server.url,
                "LASTRO_GENERATOR_MODEL": "qwen",
                "LASTRO_GENERATOR_API_KEY": "k",
                "LASTRO_TOP_K": "20",
            }
        )
    )
    chosen.generate(prompt())
    assert (server.requests[0]["model"], server.requests[0]["top_k"]) == ("qwen", 20)


def test_a_server_without_address_or_model_is_an_error_of_the_settings() -> None:
    with pytest.raises(SettingsError, match="LASTRO_GENERATOR_MODEL"):
        build(load({"LASTRO_GENERATOR": "openai", "LASTRO_GENERATOR_URL": "http://127.0.0.1/v1"}))


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_only_the_chosen_one_is_imported() -> None:
    code = (
        "from pipeline.backends.generators.factory import build\n"
        "from pipeline.settings import load\nbuild(load({}))"
    )
    assert "httpx" not in loaded_by(code)
