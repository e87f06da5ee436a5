"""Question sets as arrays: what retrieval would measure, without a database.

For fits and experiments, where each question is asked of many indexes. Everything but BM25, which
the product computes in SQL, is the product's own code.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.inference.fuse import fuse
from pipeline.inference.retrieve import idf
from pipeline.inference.signals import (
    Background,
    Signals,
    background,
    best_coverage,
    coverage,
    known,
)
from pipeline.ports import Embedder, Vectors
from pipeline.text.sentences import sentences
from pipeline.text.tokens import terms

LEG = 40
LIMIT = 20
SAMPLE_CHUNKS = 256
SAMPLE_SENTENCES = 512
K1, B = 1.2, 0.75

Mask = npt.NDArray[np.bool_]


class CachedEmbedder:
    """An embedder whose vectors are kept in a file, by kind and text."""

    def __init__(self, embedder: Embedder, folder: Path | None) -> None:
        self._embedder = embedder
        self._file = folder / f"{embedder.revision}.npz" if folder else None
        self._kept: dict[str, Vectors] = {}
        if self._file and self._file.exists():
            try:
                with np.load(self._file) as stored:
                    self._kept = dict(zip(stored["keys"].tolist(), stored["rows"], strict=True))
            except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
                raise SystemExit(
                    f"{self._file} is not a vector cache ({error}). Delete it."
                ) from None

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension), rows of length 1."""
        return self._get("query", texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension), rows of length 1."""
        return self._get("passage", texts)

    def _get(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.sha256(f"{kind}: {text}".encode()).hexdigest() for text in texts]
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept
        }
        embed = self._embedder.embed_queries if kind == "query" else self._embedder.embed_passages
        if missing:
            self._kept.update(zip(missing, embed(list(missing.values())), strict=True))
            if self._file:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                np.savez(
                    self._file, keys=list(self._kept), rows=np.array(list(self._kept.values()))
                )
        return np.array([self._kept[key] for key in keys], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a SQuAD-form file: its vector, and its paragraph and article by number."""

    text: str
    vector: Vectors
    paragraph: int
    article: int


class Corpus:
    """The paragraphs of a SQuAD-form file, each one chunk, with vectors and terms."""

    def __init__(self, file: Path, language: str, embedder: CachedEmbedder) -> None:
        articles = _articles(file)
        texts = [text for article in articles for text, _ in article]
        self.article = np.array([n for n, article in enumerate(articles) for _ in article])
        parts = [sentences(text) or [text] for text in texts]
        self.vectors = embedder.passages(texts)
        flat = embedder.passages([part for chunk in parts for part in chunk])
        ends = np.cumsum([len(chunk) for chunk in parts])
        self.sentence_vectors = np.split(flat, ends[:-1])
        self.sentence_terms = [[terms(part, language) for part in chunk] for chunk in parts]
        self.frequencies = [Counter(terms(text, language)) for text in texts]
        self.lengths = np.array([sum(one.values()) for one in self.frequencies], dtype=float)
        self.postings: dict[str, list[int]] = {}
        for place, one in enumerate(self.frequencies):
            for term in one:
                self.postings.setdefault(term, []).append(place)

    def __len__(self) -> int:
        return len(self.frequencies)


def questions(file: Path, embedder: CachedEmbedder) -> list[Asked]:
    """Every question of a SQuAD-form file."""
    asked, paragraph = [], 0
    for number, article in enumerate(_articles(file)):
        for _, texts in article:
            asked += [(text, paragraph, number) for text in texts]
            paragraph += 1
    vectors = embedder.queries([text for text, _, _ in asked])
    return [
        Asked(text, vector, paragraph, number)
        for (text, paragraph, number), vector in zip(asked, vectors, strict=True)
    ]


def _articles(file: Path) -> list[list[tuple[str, list[str]]]]:
    data = json.loads(file.read_text(encoding="utf-8"))["data"]
    return [
        [(p["context"], [one["question"] for one in p["qas"]]) for p in article["paragraphs"]]
        for article in data
    ]


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a question in fused order: paragraph numbers and signals."""

    paragraphs: tuple[int, ...]
    signals: tuple[Signals, ...]
    background: Background


class Search:
    """One question over one corpus; ``over`` answers for any part of it."""

    def __init__(self, corpus: Corpus, asked: Asked, language: str, seed: int) -> None:
        self._corpus = corpus
        self._terms = sorted(set(terms(asked.text, language)))
        self._dense = corpus.vectors @ asked.vector
        self._sentences = [rows @ asked.vector for rows in corpus.sentence_vectors]
        self._order = np.random.default_rng(seed).permutation(len(corpus))

    def over(self, index: Mask) -> Found:
        """What is found where only the paragraphs of ``index``, (n,), are in the index."""
        corpus = self._corpus
        places = np.flatnonzero(index)
        holders = {
            term: [p for p in corpus.postings.get(term, ()) if index[p]] for term in self._terms
        }
        held = {term: len(where) for term, where in holders.items() if where}
        weights = {term: idf(len(places), held.get(term, 0)) for term in self._terms}
        keyword = self._bm25(holders, weights, corpus.lengths[places].mean())
        by_words = sorted(keyword, key=lambda p: (-keyword[p], p))[:LEG]
        by_vector = places[np.argsort(-self._dense[places], kind="stable")][:LEG].tolist()
        share_known = known(self._terms, held)
        candidates = list(dict.fromkeys([*by_vector, *by_words]))
        signals = [
            Signals(
                dense=float(self._dense[p]),
                sentence=float(self._sentences[p].max()),
                bm25=keyword.get(p, 0.0),
                coverage=coverage(weights, corpus.frequencies[p].keys()),
                sentence_coverage=0.0,
                sentences=len(self._sentences[p]),
                known=share_known,
            )
            for p in candidates
        ]
        kept = fuse(signals)[:LIMIT]
        sample = [p for p in self._order if index[p]][:SAMPLE_CHUNKS]
        parts = np.concatenate([self._sentences[p] for p in sample])[:SAMPLE_SENTENCES]
        return Found(
            tuple(candidates[k] for k in kept),
            tuple(
                replace(
                    signals[k],
                    sentence_coverage=best_coverage(weights, corpus.sentence_terms[candidates[k]]),
                )
                for k in kept
            ),
            background(self._dense[sample], parts),
        )

    def _bm25(
        self, holders: dict[str, list[int]], weights: dict[str, float], average: float
    ) -> dict[int, float]:
        """Okapi BM25 of every paragraph that holds a term, as ``db/search.py`` computes it."""
        scores: dict[int, float] = {}
        for term, where in holders.items():
            for p in where:
                count = self._corpus.frequencies[p][term]
                length = 1 - B + B * self._corpus.lengths[p] / average
                scores[p] = scores.get(p, 0.0) + weights[term] * count * (K1 + 1) / (
                    count + K1 * length
                )
        return scores
