"""The trials that the reranker ``similarity`` is fitted and reported on.

Every question is asked of several indexes, with and without what answers it: the whole set, some
articles, few chunks, one topic. Some are asked once more as people type them, and some that no set
answers are asked of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.offline import Asked, CachedEmbedder, Corpus, Found, Mask, Search, questions
from pipeline.text.tokens import fold

OFF_TOPIC = Path(__file__).with_name("off_topic.jsonl")
THOROUGH = 3
"""Every so many questions one is asked of all indexes; the others of the first two."""

QUARTER = 12  # articles
SMALL, TINY, SINGLE = (30, 100), (5, 25), (1, 4)  # chunks, at least and under
PARTS = 6  # how many parts of a set a question that no set answers is asked of


@dataclass(frozen=True, slots=True)
class Trial:
    """A question asked of one index. ``right`` is the place of its paragraph among the candidates,
    None when it isn't there; ``answerable`` whether it is in the index.
    """

    index: str
    answerable: bool
    odd: bool
    right: int | None
    found: Found


@dataclass(frozen=True, slots=True)
class TrialSet:
    """The trials of one pair of questions and corpus."""

    name: str
    trials: tuple[Trial, ...]


def trials(pair: str, embedder: CachedEmbedder) -> TrialSet:
    """All trials of ``pair``, "questions.en.json" or "questions.es.json=corpus.en.json".

    The language of a file stands in its name.
    """
    first, _, second = pair.partition("=")
    asked_in, read_in = Path(first), Path(second or first)
    language = _language(asked_in)
    corpus = Corpus(read_in, _language(read_in), embedder)
    made: list[Trial] = []
    asked = questions(asked_in, embedder)
    typed = _as_typed(asked, language, embedder)
    for number, one in enumerate(asked):
        made += _ask(corpus, one, language, number, prefix="", thorough=number in typed)
        if number in typed:
            made += _ask(corpus, typed[number], language, number, prefix="typed ", thorough=True)
    made += _off_topic(corpus, language, embedder)
    name = asked_in.stem if not second else f"{asked_in.stem} over {read_in.stem}"
    print(f"{name}: {len(made)} trials", flush=True)
    return TrialSet(name, tuple(made))


def _ask(
    corpus: Corpus, asked: Asked, language: str, number: int, *, prefix: str, thorough: bool
) -> Iterator[Trial]:
    search = Search(corpus, asked, language, seed=number)
    for index, answerable, mask in _indexes(corpus, asked, seed=number):
        if not thorough and index not in ("all", "near"):
            continue
        found = search.over(mask)
        there = answerable and asked.paragraph in found.paragraphs
        right = found.paragraphs.index(asked.paragraph) if there else None
        yield Trial(prefix + index, answerable, asked.article % 2 == 1, right, found)


def _indexes(corpus: Corpus, asked: Asked, seed: int) -> Iterator[tuple[str, bool, Mask]]:
    """The indexes that a question is asked of: name, whether it is answerable there, paragraphs."""
    everything = np.ones(len(corpus), dtype=np.bool_)
    own = np.arange(len(corpus)) == asked.paragraph
    same_article = corpus.article == asked.article
    yield "all", True, everything
    yield "all", False, ~same_article
    yield "near", False, ~own
    half = corpus.article % 2 == asked.article % 2
    yield "half", True, half
    yield "half", False, half & ~same_article
    random = np.random.default_rng(seed)
    others = random.permutation([n for n in np.unique(corpus.article) if n != asked.article])
    yield "quarter", True, np.isin(corpus.article, [*others[: QUARTER - 1], asked.article])
    yield "quarter", False, np.isin(corpus.article, others[:QUARTER])
    yield "topic", True, same_article
    yield "topic", False, corpus.article == others[0]
    strangers = random.permutation(np.flatnonzero(~same_article))
    for name, bounds in (("small", SMALL), ("tiny", TINY), ("single", SINGLE)):
        drawn = np.isin(np.arange(len(corpus)), strangers[: int(random.integers(*bounds))])
        yield name, False, drawn
        yield name, True, (drawn & (np.arange(len(corpus)) != strangers[0])) | own


def _as_typed(asked: list[Asked], language: str, embedder: CachedEmbedder) -> dict[int, Asked]:
    """Every ``THOROUGH``-th question, by number, as it might be typed in a chat."""
    texts = {
        number: roughen(asked[number].text, language, number)
        for number in range(0, len(asked), THOROUGH)
    }
    vectors = embedder.queries(list(texts.values()))
    return {
        number: Asked(text, vector, asked[number].paragraph, asked[number].article)
        for (number, text), vector in zip(texts.items(), vectors, strict=True)
    }


def roughen(text: str, language: str, seed: int) -> str:
    """``text`` in lower case, mostly without accents, often with one letter mistyped."""
    random = np.random.default_rng(seed)
    text = text.lower().strip(" ?.!¿")
    if random.random() < (0.3 if language == "vi" else 0.7):
        text = fold(text)
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) > 4]
    if long and random.random() < 0.6:
        place = long[int(random.integers(len(long)))]
        word = words[place]
        at = int(random.integers(1, len(word) - 1))
        left_out = word[:at] + word[at + 1 :]
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        doubled = word[:at] + word[at] + word[at:]
        words[place] = (left_out, swapped, doubled)[int(random.integers(3))]
    return " ".join(words)


def _off_topic(corpus: Corpus, language: str, embedder: CachedEmbedder) -> Iterator[Trial]:
    """Questions of everyday life, asked of halves, parts and single articles of the set."""
    lines = OFF_TOPIC.read_text(encoding="utf-8").splitlines()
    texts = [one["question"] for one in map(json.loads, lines) if one["language"] == language]
    for number, (text, vector) in enumerate(zip(texts, embedder.queries(texts), strict=True)):
        search = Search(corpus, Asked(text, vector, -1, -1), language, seed=number)
        for odd in (False, True):
            half = corpus.article % 2 == int(odd)
            articles = np.unique(corpus.article[half])
            yield Trial("life half", False, odd, None, search.over(half))
            for part in range(PARTS):
                random = np.random.default_rng([number, part])
                some = half & np.isin(corpus.article, random.permutation(articles)[:QUARTER])
                few = half & (random.random(len(corpus)) < 0.3)
                for name, mask in (
                    ("life quarter", some),
                    ("life small", few),
                    ("life topic", corpus.article == random.choice(articles)),
                ):
                    if mask.any():
                        yield Trial(name, False, odd, None, search.over(mask))


def _language(file: Path) -> str:
    return file.suffixes[-2].removeprefix(".") if len(file.suffixes) > 1 else ""
