import unicodedata

import pytest

from pipeline.text.tokens import fold, terms, words


def test_words_are_found_whatever_the_accents_and_the_case():
    assert words("Informação NÃO confirmada") == words("informacao nao CONFIRMADA")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_vietnamese_folds_alike_composed_and_decomposed(form):
    text = unicodedata.normalize(form, "Đặng ký tài khoản ở đâu")
    assert words(text) == ["dang", "ky", "tai", "khoan", "o", "dau"]


def test_inflected_forms_and_cognates_share_a_beginning():
    assert set(terms("bloqueado", "pt")) & set(terms("bloqueio", "pt"))
    assert set(terms("organización", "es")) & set(terms("organization", "en"))


def test_a_beginning_is_not_the_word_of_those_letters():
    assert not set(terms("portaria", "pt")) & set(terms("port", "pt"))


def test_the_language_changes_nothing_outside_vietnamese():
    text = "The quick brown fox, o rato roeu 1.234,56"
    assert terms(text, "en") == terms(text, "pt") == terms(text, None) == terms(text, "xx")


def test_vietnamese_neighbours_are_terms_of_their_own():
    found = terms("tài khoản mới", "vi")
    assert {"tai", "khoan", "tai khoan", "khoan moi"} <= set(found)


def test_a_query_without_accents_still_meets_vietnamese_text():
    assert {"tai", "khoan"} <= set(terms("tai khoan", None)) & set(terms("tài khoản", "vi"))


@pytest.mark.parametrize("text", ["", "   ", "?!… — «»", "👍👍 :)", "___", "\u200b\ufeff"])
def test_text_without_letters_and_digits_has_no_terms(text):
    assert terms(text, None) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e-mail@loja.com.br", ["e", "mail", "loja", "com", "br"]),
        ("R$1.234,56/mês", ["r", "1", "234", "56", "mes"]),
        ("«não»—(talvez)…sim", ["nao", "talvez", "sim"]),
        ("snake_case", ["snake", "case"]),
        ("ca\u00adsa", ["casa"]),
        ("ＡＢＣ１２３", ["abc123"]),
    ],
)
def test_punctuation_of_any_kind_separates(text, expected):
    assert words(text) == expected


def test_scripts_without_spaces_give_pairs_of_characters():
    assert terms("退款政策", "zh") == ["退款", "款政", "政策"]
    assert set(terms("退款", None)) <= set(terms("我们的退款政策", None))
    assert terms("猫", "ja") == ["猫"]
    assert {"hello", "世界"} <= set(terms("hello世界", None))


def test_vowel_signs_stay_inside_their_word():
    assert words("मुझे हिन्दी चाहिए") == ["मुझे", "हिन्दी", "चाहिए"]


def test_arabic_vowel_marks_are_not_typed_and_don_t_count():
    assert words("الكِتَابُ") == words("الكتاب")


def test_stacked_marks_fold_away():
    zalgo = "s" + "\u0300\u0325\u0489" * 500 + "enha"
    assert "~senh" not in terms("senh", None)
    assert fold("s" + "\u0300\u0325" * 500 + "enha") == "senha"
    assert terms(zalgo, "pt")


def test_endless_runs_are_kept_by_their_beginning():
    assert max(map(len, terms("a" * 100_000, None))) <= 64


def test_lone_surrogates_don_t_stop_it():
    assert "ok" in terms("\ud800 ok", None)
