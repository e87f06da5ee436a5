import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.inference.clean import clean


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Answer", "Answer"),
        ("  Answer\n\n", "Answer"),
        ("<think>plan</think>Answer", "Answer"),
        ("<think>\nplan\n</think>\n\nAnswer", "Answer"),
        ("plan...</think>Answer", "Answer"),
        ("plan</think>more</think>Answer", "Answer"),
        ("<think>plan", ""),
        ("Answer <think>plan", "Answer"),
        ("<think>a<think>b</think>c</think>Answer", "Answer"),
        ("<THINKING>plan</THINKING>Answer", "Answer"),
        ("Hello<|end|>", "Hello"),
        ("Hello<end_of_turn>\n<start_of_turn>user", "Hello"),
        ("Hello<|im_end|>\n<|im_start|>user\nAnd you?", "Hello"),
        ("<|im_start|>assistant\nHello<|im_end|>", "Hello"),
        ("<s>[INST] Hello</s>", "Hello"),
        ("Hello<｜end▁of▁sentence｜>", "Hello"),
        ("<|channel|>analysis<|message|>plan<|end|><|channel|>final<|message|>Answer", "Answer"),
        ("<|im_end|>", ""),
        ("", ""),
    ],
)
def test_what_is_shown(written: str, shown: str) -> None:
    assert clean(written) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` before and `</think>` after.",
        'The token "<|im_end|>" ends a turn.',
        "The token “<end_of_turn>” ends a turn.",
        "```\n<|im_start|>user\nHi<|im_end|>\n```\nThat is a turn.",
        "Use <s>old</s> for struck-out text.",
        "Prices are < 5 and > 3 <b>bold</b>.",
    ],
)
def test_a_text_about_marks_keeps_them(text: str) -> None:
    assert clean(text) == text


def test_marks_that_the_evidence_speaks_of_stay_in_the_middle() -> None:
    evidence = ["Qwen writes <|im_end|> after each turn."]
    assert clean("It writes <|im_end|> there.<|im_end|>", evidence) == "It writes <|im_end|> there."
    assert clean("It writes <|im_end|> there.", []) == "It writes"


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "a", "<|end|>", "`", '"', "\n"]), max_size=9)
)
def test_no_mark_survives_outside_code_and_quotes(parts: list[str]) -> None:
    shown = clean("".join(part for part in parts if part not in '`"'))
    assert "think>" not in shown
    assert "<|end|>" not in shown
    clean("".join(parts))
