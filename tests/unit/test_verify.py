from collections import Counter

import pytest
from claims import LATER, PAIRS
from hypothesis import given
from hypothesis import strategies as st

from pipeline.inference.verify import cited, strip_unknown_citations, unsupported


def test_the_table_covers_all_languages_and_both_verdicts() -> None:
    counts = Counter((language, supported) for language, _, _, supported in PAIRS)
    assert len(PAIRS) >= 60
    assert all(
        counts[code, kind] >= 4 for code in ("pt", "en", "es", "vi") for kind in (True, False)
    )


@pytest.mark.parametrize(("language", "evidence", "answer", "supported"), [*PAIRS, *LATER])
def test_pairs(language: str, evidence: str, answer: str, supported: bool) -> None:
    missing = unsupported(answer, [evidence], language=language)
    assert (missing == []) is supported, missing


def test_what_is_missing_is_named_as_written_once() -> None:
    answer = "Leva 10 dias úteis e custa R$ 99,90. São 10 dias úteis."
    assert unsupported(answer, ["Leva 3 dias úteis."], language="pt") == [
        "10 dias úteis",
        "R$ 99,90",
    ]


def test_several_texts_are_evidence_together() -> None:
    evidence = ["The fee is $5.", "I have 300 points, is that enough?"]
    assert unsupported("Yes: 300 points, and a fee of $5.", evidence) == []
    assert unsupported("300 points", []) == ["300 points"]


def test_an_answer_without_figures_needs_no_evidence() -> None:
    assert unsupported("Abra o aplicativo e toque em Esqueci a senha.", []) == []


def test_citation_marks() -> None:
    assert cited("A [1], b [2, 3] and c【4】; [text](https://example.com) [a1]") == {1, 2, 3, 4}
    assert strip_unknown_citations("A [1] and b [2, 7]. C [9].", 2) == "A [1] and b [2]. C."
    assert (
        strip_unknown_citations("See [1](https://example.com).", 0)
        == "See [1](https://example.com)."
    )


WORDS = """
o prazo é de até custa R$ € $ % dias úteis horas h às das e a 1 3 12 05 2027 1.234,56 1,234.56 três
twenty-two dos once năm mươi hai 5/3 05/03/2027 março March may tháng ngày 12:30 9 pm 0800 123 4567
(11) 91234-5678 www.a.com.br x@y.com A4 v1.2.3 1. 2) - | : , ; [1] **5** 10%
""".split()

TEXTS = st.lists(st.sampled_from([*WORDS, "\n"]), max_size=30).map(" ".join)


@given(TEXTS, st.sampled_from(["pt", "en", "es", "vi"]))
def test_a_text_supports_itself(text: str, language: str) -> None:
    assert unsupported(text, [text], language=language) == []


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert unsupported(text, [text]) == []
    strip_unknown_citations(text, 3)
