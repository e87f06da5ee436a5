import pytest

from pipeline.text.accents import restore, written_forms

FORMS = written_forms(
    [
        "O cartão chega em até 15 dias úteis. Peça o cartão no aplicativo.",
        "Código de segurança: está na mensagem. Esta senha é sua.",
        "Thẻ của bạn: tài khoản bị khóa.",
    ]
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("perdi o cartao, qual o codigo", "perdi o cartão, qual o código"),
        ("tai khoan bi khoa", "tài khoản bị khóa"),
    ],
)
def test_words_are_written_as_the_index_writes_them(typed, meant):
    assert restore(typed, FORMS) == meant


@pytest.mark.parametrize(
    "message",
    [
        "meu cartao não chegou",  # typed with care
        "esta senha",  # written both ways
        "e agora?",
        "Cartao",
        "onibus",  # unknown to the index
        "",
        "👍 123",
    ],
)
def test_all_else_stays(message):
    assert restore(message, FORMS) == message


def test_an_index_without_accents_changes_nothing():
    assert written_forms(["Plain English text.", ""]) == {}
