import random

import pytest

from pipeline.text.language import detect, has_words

LANGUAGES = ("pt", "en", "es", "vi")

TOLD = {
    "pt": [
        "e para a outra?",
        "quanto demora?",
        "nao consigo entrar",
        "esqueci a senha",
        "Cadê meus pontos",
        "QUAL É O PRAZO DE ENTREGA?",
        "bom dia, quero falar com uma pessoa",
        "cartão",
    ],
    "en": [
        "and for Basic?",
        "how long does it take",
        "I forgot my password",
        "What is the refund window of plan Pro?",
        "thanks!",
    ],
    "es": [
        "¿y si no llega?",
        "y si no llega",
        "olvidé mi contraseña",
        "cuanto tarda",
        "¿Cuál es el plazo de entrega?",
        "gracias",
    ],
    "vi": [
        "còn gói Basic thì sao?",
        "con goi Basic thi sao",
        "quên mật khẩu",
        "toi quen mat khau roi",
        "Phí bao nhiêu?",
    ],
}


@pytest.mark.parametrize(
    ("language", "text"), [(code, text) for code, texts in TOLD.items() for text in texts]
)
def test_short_messages_are_told_apart(language: str, text: str) -> None:
    other = "en" if language != "en" else "vi"
    assert detect(text, languages=LANGUAGES, fallback=other) == language


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "404 error",
        "kjb xx",
        "Hello world",
        "login",
        "👍👍",
        "???",
        "12345",
        ":)",
        "",
        " \u200b ",
    ],
)
@pytest.mark.parametrize("fallback", LANGUAGES)
def test_what_cant_be_told_is_the_sessions_language(text: str, fallback: str) -> None:
    assert {detect(text, languages=LANGUAGES, fallback=fallback) for _ in range(20)} == {fallback}


def test_links_and_addresses_say_nothing() -> None:
    text = "https://example.com/what-is-the-price-of-this ana@what-is-this.com"
    assert detect(text, languages=LANGUAGES, fallback="pt") == "pt"


def test_the_order_of_calls_and_languages_changes_nothing() -> None:
    texts = [text for group in TOLD.values() for text in group]
    expected = [detect(text, languages=LANGUAGES, fallback="en") for text in texts]
    draw = random.Random(5)
    for _ in range(3):
        shuffled = draw.sample(LANGUAGES, len(LANGUAGES))
        detect("something in between", languages=("en", "es"), fallback="en")
        assert [detect(text, languages=shuffled, fallback="en") for text in texts] == expected


def test_only_the_given_languages_are_found() -> None:
    question = "¿Cuál es el plazo de entrega?"
    assert detect(question, languages=("pt", "en"), fallback="en") in ("pt", "en")
    assert detect(question, languages=("es",), fallback="pt") == "pt"


def test_a_region_is_kept_and_an_unknown_code_never_found() -> None:
    languages = ("pt-BR", "en", "tlh")
    assert detect("esqueci a minha senha", languages=languages, fallback="en") == "pt-BR"


def test_decomposed_letters_read_like_composed_ones() -> None:
    assert (
        detect("que\u0302n ma\u0323\u0302t kha\u0302\u0309u", languages=LANGUAGES, fallback="en")
        == "vi"
    )


@pytest.mark.parametrize(
    "text", ["👍👍", "???", ":)", ":D", "", "  \n", "\u200b\ufeff", "12345", "…"]
)
def test_no_words(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["ok", "có", "é", "sim 👍", "ừ", "pontos?", "密码"])
def test_words(text: str) -> None:
    assert has_words(text)
