import pytest

from pipeline.text.sentences import MAX_CHARS, sentences


def test_prose_is_cut_at_full_stops():
    assert sentences(
        "O prazo é de 3 dias úteis. Depois disso, os pontos voltam!  E o saldo? Continua."
    ) == [
        "O prazo é de 3 dias úteis.",
        "Depois disso, os pontos voltam!",
        "E o saldo? Continua.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Fale com o Dr. Silva ou com a Sra. Souza na loja.",
        "O valor é de R$ 1.234,56 conforme o art. 5 do regulamento.",
        "Johann S. Bach wrote it, see fig. 3 for the score.",
        "Em EE. UU. se usa otra regla para este caso.",
        "A versão 2.10.3 corrige o erro da tela inicial.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_cut_it(text):
    assert sentences(text) == [text]


def test_text_that_begins_its_sentences_in_lower_case_is_cut_too():
    found = sentences("a matrícula pode ser feita pelo aluno. o prazo consta do calendário anual.")
    assert len(found) == 2


def test_vietnamese_and_spanish():
    assert sentences("Bạn có thể đổi mật khẩu ở đây. Mã gồm sáu chữ số.") == [
        "Bạn có thể đổi mật khẩu ở đây.",
        "Mã gồm sáu chữ số.",
    ]
    assert sentences("El plazo es de tres días. ¿Y si llego tarde al banco?") == [
        "El plazo es de tres días.",
        "¿Y si llego tarde al banco?",
    ]


def test_full_width_marks_need_no_space():
    assert sentences("退款需要三个工作日才能到账。请在应用里查看进度情况。") == [
        "退款需要三个工作日才能到账。",
        "请在应用里查看进度情况。",
    ]


def test_list_items_are_sentences_without_their_marks():
    text = "Quando usar:\n\n- Não consigo entrar na conta\n- Minha senha foi bloqueada\n"
    assert sentences(text)[-2:] == [
        "Quando usar: Não consigo entrar na conta",
        "Minha senha foi bloqueada",
    ]


def test_table_rows_carry_their_column_names():
    text = "| Prêmio | Pontos |\n|---|--:|\n| Batedeira | 4.500 |\n| Bicicleta aro 29 | 31.000 |"
    assert sentences(text) == [
        "Prêmio: Batedeira; Pontos: 4.500",
        "Prêmio: Bicicleta aro 29; Pontos: 31.000",
    ]


def test_wrapped_lines_are_one_sentence():
    assert sentences("Uma frase que passa\nde uma linha para a outra.") == [
        "Uma frase que passa de uma linha para a outra."
    ]


def test_long_sentences_are_windowed_without_losing_a_word():
    text = ", ".join(f"palavra número {n}" for n in range(300)) + "."
    found = sentences(text)
    assert max(map(len, found)) <= MAX_CHARS
    assert " ".join(found) == text


def test_a_run_without_a_space_is_windowed():
    found = sentences("x" * 3000)
    assert max(map(len, found)) <= MAX_CHARS
    assert "".join(found) == "x" * 3000


@pytest.mark.parametrize("text", ["", " \n\t", "---", "|---|---|", "```\n```"])
def test_nothing_to_say_gives_nothing(text):
    assert sentences(text) == []


def test_a_lone_short_sentence_is_kept():
    assert sentences("Sim.") == ["Sim."]


def test_stacked_marks_and_symbols_pass():
    assert sentences("a" + "\u0300" * 1000)
    assert sentences("👍👍") == ["👍👍"]
