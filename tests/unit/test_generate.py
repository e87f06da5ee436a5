from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from builders import ASSISTANT, candidate

from pipeline.backends.generators.extractive import Extractive
from pipeline.errors import (
    BackendRejectedError,
    BackendTimeoutError,
    BackendUnavailableError,
    ContextOverflowError,
    EmptyAnswerError,
    PipelineError,
)
from pipeline.inference.generate import answer, clarification, refusal, sources
from pipeline.inference.prompt import build
from pipeline.inference.texts import texts
from pipeline.types import Answer, Candidate, Generation, Message, Prompt, Source, Track

PASSAGES = (
    candidate("O desbloqueio leva até 3 dias úteis.", title="Login", heading="Login > Prazo"),
    candidate("1. Abra o app.\n2. Toque em Senha.", title="Senha", track=Track.SKILL, name="senha"),
)


def prompt(
    passages: Sequence[Candidate] = PASSAGES,
    question: str = "Quanto demora?",
    language: str = "pt",
    history: Sequence[Message] = (),
) -> Prompt:
    return build(
        assistant=ASSISTANT,
        question=question,
        history=history,
        passages=passages,
        catalogue=(),
        language=language,
        context_chars=12_000,
        window_tokens=8192,
        answer_tokens=700,
    )


class Scripted:
    """Says or raises one thing after another; the last one for ever."""

    name = "scripted"

    def __init__(self, *script: str | PipelineError | Generation) -> None:
        self.script = list(script)
        self.asked: list[Prompt] = []

    def generate(self, prompt: Prompt) -> Generation:
        self.asked.append(prompt)
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Generation) else Generation(said)


def answered(
    generator: Scripted | Extractive,
    asked: Prompt | None = None,
    *,
    background: Sequence[str] = (),
    last_attempt: bool = True,
    smaller: Callable[[], Prompt] | None = None,
) -> Answer:
    return answer(
        asked or prompt(),
        generator,
        Extractive(),
        assistant=ASSISTANT,
        background=background,
        last_attempt=last_attempt,
        smaller=smaller,
    )


QUOTED = "Encontrei isto em “Login”:\n\nO desbloqueio leva até 3 dias úteis."


def test_what_the_passages_say_is_the_answer() -> None:
    model = Scripted("<think>hm</think>O desbloqueio leva até três dias úteis [1].<|im_end|>")
    found = answered(model)
    assert found.text == "O desbloqueio leva até três dias úteis [1]."
    assert found.grounded
    assert found.language == "pt"
    assert found.degraded == ()
    assert found.sources == (
        Source(
            "document",
            "documents/prazos.md",
            "documents/prazos.md#0",
            0.8765,
            "Login",
            "Login > Prazo",
        ),
        Source("skill", "senha", "senha#0", 0.8765, "Senha", ""),
    )
    assert len(model.asked) == 1


def test_an_invented_figure_gets_one_more_try_that_names_it() -> None:
    model = Scripted("Leva 5 dias úteis.", "Leva 3 dias úteis.")
    found = answered(model)
    assert (found.text, found.degraded) == ("Leva 3 dias úteis.", ())
    question = model.asked[1].messages[-1].content
    assert question.startswith("Quanto demora?\n\n")
    assert "5 dias úteis" in question
    assert model.asked[1].messages[:-1] == model.asked[0].messages[:-1]


def test_after_two_inventions_the_passage_is_the_answer() -> None:
    model = Scripted("Leva 5 dias úteis.", "Leva 10 horas, veja www.exemplo.com.")
    found = answered(model)
    assert (found.text, found.degraded) == (QUOTED, ("unverified_answer",))
    assert found.grounded
    assert len(model.asked) == 2


def test_figures_of_question_history_and_background_may_be_used() -> None:
    asked = prompt(question="Tenho 700 pontos?", history=[Message("user", "Sou da filial 12")])
    model = Scripted("Com 700 pontos na filial 12, e desde 1998: até 3 dias úteis.")
    assert answered(model, asked, background=["Fundado em 1998."]).degraded == ()
    assert answered(model, asked).degraded == ("unverified_answer",)


@pytest.mark.parametrize("empty", [EmptyAnswerError("none"), "<think>plan", " \n", "<|end|>"])
def test_an_empty_answer_gets_one_more_try(empty: str | PipelineError) -> None:
    assert answered(Scripted(empty, "Até 3 dias úteis.")).text == "Até 3 dias úteis."
    model = Scripted(empty)
    found = answered(model)
    assert (found.text, found.degraded) == (QUOTED, ("empty_answer",))
    assert len(model.asked) == 2


@pytest.mark.parametrize("error", [BackendUnavailableError("busy"), BackendTimeoutError("slow")])
def test_a_server_that_is_down_is_tried_again_by_the_stage_then_done_without(
    error: PipelineError,
) -> None:
    with pytest.raises(type(error)):
        answered(Scripted(error), last_attempt=False)
    found = answered(Scripted(error))
    assert (found.text, found.degraded) == (QUOTED, ("generator_unavailable",))
    assert found.sources


def test_a_server_that_refuses_for_good_is_done_without_at_once() -> None:
    found = answered(Scripted(BackendRejectedError("bad key")), last_attempt=False)
    assert (found.text, found.degraded) == (QUOTED, ("generator_unavailable",))


def test_a_prompt_that_is_too_long_is_made_smaller_once() -> None:
    model = Scripted(ContextOverflowError("2048"), "Até 3 dias úteis.")
    found = answered(model, smaller=lambda: prompt(PASSAGES[:1]))
    assert (found.text, found.degraded, len(found.sources)) == ("Até 3 dias úteis.", (), 1)
    assert answered(Scripted(ContextOverflowError("2048"))).degraded == ("context_overflow",)


def test_a_model_that_says_it_doesnt_know_refuses() -> None:
    model = Scripted(f'"{ASSISTANT.refusal["pt"].upper()}" [1]')
    assert answered(model) == refusal(ASSISTANT, "pt")


def test_without_passages_nothing_is_asked() -> None:
    model = Scripted("Brasília.")
    assert answered(model, prompt(())) == refusal(ASSISTANT, "pt")
    assert model.asked == []


def test_marks_of_sources_that_dont_exist_are_taken_out() -> None:
    assert answered(Scripted("Até 3 dias úteis [1][7].")).text == "Até 3 dias úteis [1]."


def test_an_answer_that_was_cut_ends_with_a_sentence() -> None:
    cut = Generation("Leva até 3 dias úteis. Depois disso você", finish_reason="length")
    found = answered(Scripted(cut))
    assert (found.text, found.degraded) == ("Leva até 3 dias úteis.", ("truncated_answer",))


def test_rules_are_not_shown() -> None:
    rule = texts("pt").rules.splitlines()[-1]
    model = Scripted(f"Minhas regras: {rule} E também: {texts('pt').rules.splitlines()[4]}")
    assert answered(model).text == QUOTED


def test_the_extractive_generator_is_taken_at_its_word() -> None:
    found = answered(Extractive())
    assert (found.text, found.degraded) == (QUOTED, ())


def test_refusal_and_clarification_are_in_the_persons_language() -> None:
    assert refusal(ASSISTANT, "pt").text == ASSISTANT.refusal["pt"]
    assert refusal(ASSISTANT, "vi").text == texts("vi").refusal
    assert refusal(ASSISTANT, "de").text == ASSISTANT.refusal["pt"]
    assert clarification(ASSISTANT, "pt-BR").text == ASSISTANT.clarification["pt"]
    said = clarification(ASSISTANT, "es")
    assert (said.grounded, tuple(said.sources), said.language) == (False, (), "es")


def test_a_score_that_is_missing_counts_as_none() -> None:
    assert sources([replace(PASSAGES[0], score=None)])[0].score == 0.0
