from collections import Counter

import pytest
from follow_ups import FOLLOW_UPS

from pipeline.inference.follow_up import (
    Dependence,
    belongs,
    content_words,
    depends,
    queries,
    relates,
)


def test_every_language_has_dialogues_of_both_kinds() -> None:
    counts = Counter((language, follows) for language, *_, follows in FOLLOW_UPS)
    assert len(FOLLOW_UPS) >= 40
    assert all(
        counts[language, follows] >= 4
        for language in ("pt", "en", "es", "vi")
        for follows in (True, False)
    )


@pytest.mark.parametrize(("language", "previous", "passage", "message", "follows"), FOLLOW_UPS)
def test_dialogues(language: str, previous: str, passage: str, message: str, follows: bool) -> None:
    assert belongs(message, language, passage) is follows
    if follows:
        assert queries(message, previous, language) == (message, f"{previous}\n{message}")


def test_the_first_message_and_one_that_stands_alone_are_searched_alone() -> None:
    assert queries("e quanto demora?", None, "pt") == ("e quanto demora?",)
    assert queries("e quanto demora?", "  ", "pt") == ("e quanto demora?",)
    question = "qual é a capital do Brasil?"
    assert queries(question, "esqueci a senha", "pt") == (question,)


@pytest.mark.parametrize("message", ["???", "👍", "", " \u200b"])
def test_nothing_is_searched_without_words(message: str) -> None:
    assert queries(message, "esqueci a senha", "pt") == ()
    assert depends(message, "pt") is Dependence.NONE


@pytest.mark.parametrize(
    ("message", "language", "reply", "offer"),
    [
        (
            "yes",
            "en",
            "Refunds take 14 days. Shall I explain the yearly plan?",
            "Shall I explain the yearly plan?",
        ),
        ("sim, por favor", "pt", "Pronto! Quer saber como resgatar?", "Quer saber como resgatar?"),
        ("sí", "es", "Listo.\n¿Le explico el envío exprés?", "¿Le explico el envío exprés?"),
        (
            "có",
            "vi",
            "Xong. Bạn có muốn biết cách đổi điểm không?",
            "Bạn có muốn biết cách đổi điểm không?",
        ),
        (
            "ừ",
            "vi",
            "Bạn có muốn biết cách đổi điểm không?",
            "Bạn có muốn biết cách đổi điểm không?",
        ),
    ],
)
def test_yes_to_an_offer_searches_the_offer(
    message: str, language: str, reply: str, offer: str
) -> None:
    assert queries(message, "refund?", language, reply=reply) == (offer,)


def test_yes_to_nothing_stays_itself() -> None:
    assert queries("yes", "refund?", "en", reply="Refunds take 14 days.") == ("yes",)
    assert queries("and for Basic?", "refund?", "en", reply="14 days. Anything else?") == (
        "and for Basic?",
        "refund?\nand for Basic?",
    )


def test_what_a_message_is_about() -> None:
    assert content_words("E para o cartão pré-pago, quanto custa?", "pt") == (
        "cartao",
        "pre",
        "pago",
    )
    assert content_words("e quanto demora?", "pt") == ()
    assert depends("e quanto demora?", "pt") is Dependence.STRONG
    assert depends("and for Basic?", "en") is Dependence.WEAK


def test_is_is_not_and() -> None:
    long = "o resgate por cartão virtual internacional liberado hoje"
    assert depends(f"é possível {long}?", "pt") is Dependence.NONE


def test_inflected_words_relate() -> None:
    assert relates("e os cartões?", "pt", "O cartão chega em 10 dias.")
    assert relates("e o resgate?", "pt", "Para resgatar, abra o aplicativo.")
    assert not relates("e o capítulo?", "pt", "A capital do estado.")


def test_a_language_without_words_of_its_own_still_works() -> None:
    assert queries("Und für Basic?", "Rückgabe im Tarif Pro?", "de")[0] == "Und für Basic?"
    assert (
        depends("Was ist die Hauptstadt von Brasilien heute noch einmal?", "de") is Dependence.NONE
    )
