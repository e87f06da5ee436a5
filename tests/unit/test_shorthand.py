import pytest

from pipeline.text.shorthand import spell_out


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("n sei qdo vcs respondem?", "pt", "não sei quando vocês respondem?"),
        ("qto custa p sacar", "pt", "quanto custa para sacar"),
        ("xq no llega el msj", "es", "porque no llega el mensaje"),
        ("pls send ur msg", "en", "please send your message"),
        ("tk bị khóa thì phải làm ntn", "vi", "tài khoản bị khóa thì phải làm như thế nào"),
        ("N consigo entrar", "pt", "não consigo entrar"),
    ],
)
def test_shorthand_is_spelt_out(text, language, expected):
    assert spell_out(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Qual a saída da porta C do bloco D?", "pt"),
        ("o prazo do item 4.2 é de quantos dias", "pt"),
        ("d vitamin", "de"),
        ("", "pt"),
        ("👍👍", "pt"),
        ("???", "en"),
    ],
)
def test_all_else_stays(text, language):
    assert spell_out(text, language) == text


def test_letters_inside_a_word_are_not_shorthand():
    assert spell_out("quero pagar com pix", "pt") == "quero pagar com pix"
