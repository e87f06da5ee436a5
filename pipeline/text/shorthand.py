"""Chat shorthand spelt out: "n consigo" means "não consigo".

An embedder that has read books and pages places a message full of shorthand far from the text that
answers it, and the keyword index does not know the letters. Only what has one meaning in a chat is
here, per language; a word that is also an ordinary word of the language is left alone.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")

_MEANINGS: dict[str, dict[str, str]] = {
    "pt": {
        "abs": "abraços", "agr": "agora", "blz": "beleza", "c": "com", "cel": "celular",
        "ctg": "contigo", "cmg": "comigo", "d": "de", "dms": "demais", "dnv": "de novo",
        "eh": "é", "fds": "fim de semana", "hj": "hoje", "info": "informação", "kd": "cadê",
        "mds": "meu deus", "msg": "mensagem", "msm": "mesmo", "mt": "muito", "mto": "muito",
        "mta": "muita", "mtos": "muitos", "mtas": "muitas", "n": "não", "nd": "nada",
        "ngm": "ninguém", "nao": "não", "num": "número", "obg": "obrigado", "oq": "o que",
        "p": "para", "pf": "por favor", "pfv": "por favor", "pq": "porque", "pra": "para",
        "pro": "para o", "q": "que", "qd": "quando", "qdo": "quando", "qm": "quem",
        "qq": "qualquer", "qro": "quero", "qnd": "quando", "qnt": "quanto", "qnto": "quanto",
        "qto": "quanto", "qta": "quanta", "qtos": "quantos", "qtas": "quantas", "sdd": "saudade",
        "s": "sim", "so": "só", "ta": "está", "tb": "também", "tbm": "também", "td": "tudo",
        "tds": "todos", "tou": "estou", "to": "estou", "tava": "estava", "tmb": "também",
        "vc": "você", "vcs": "vocês", "vlw": "valeu", "voce": "você", "voces": "vocês",
    },
    "es": {
        "bn": "bien", "cel": "celular", "d": "de", "dnd": "dónde", "gcs": "gracias",
        "grax": "gracias", "k": "que", "msj": "mensaje", "num": "número", "pa": "para",
        "pf": "por favor", "pq": "porque", "porfa": "por favor", "q": "que", "qn": "quién",
        "qndo": "cuándo", "tb": "también", "tmb": "también", "tbn": "también", "toy": "estoy",
        "x": "por", "xfa": "por favor", "xq": "porque", "xk": "porque",
    },
    "en": {
        "abt": "about", "acct": "account", "bc": "because", "cuz": "because", "dont": "don't",
        "doesnt": "doesn't", "cant": "can't", "gonna": "going to", "idk": "I don't know",
        "info": "information", "msg": "message", "pls": "please", "plz": "please",
        "ppl": "people", "pwd": "password", "thx": "thanks", "tmrw": "tomorrow",
        "tmw": "tomorrow", "u": "you", "ur": "your", "wanna": "want to", "wat": "what",
        "wen": "when", "wht": "what",
    },
    "vi": {
        "bn": "bao nhiêu", "bt": "bình thường", "cx": "cũng", "dc": "được", "đc": "được",
        "dk": "đăng ký", "đk": "đăng ký", "ib": "nhắn tin", "j": "gì", "k": "không",
        "ko": "không", "khg": "không", "mk": "mật khẩu", "mn": "mọi người",
        "ng": "người", "nch": "nói chuyện", "ntn": "như thế nào", "r": "rồi",
        "sđt": "số điện thoại", "sdt": "số điện thoại", "tk": "tài khoản", "vs": "với",
        "ns": "nói", "nt": "nhắn tin",
    },
}  # fmt: skip


def spell_out(text: str, language: str) -> str:
    """`text` with the chat shorthand of `language`, an ISO 639-1 code, spelt out.

    Only whole words are replaced, and only in a message that looks typed in haste: one without a
    capital after its first letter. All else stays as it is.
    """
    meanings = _MEANINGS.get(language)
    if not meanings or text[1:] != text[1:].lower():
        return text
    return _WORD.sub(lambda word: meanings.get(word[0].lower(), word[0]), text)
