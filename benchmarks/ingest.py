"""What ingestion costs beside the embedding, on real instances with one and two ingest processes.

    python -m benchmarks.ingest [--documents 300] [--memory-documents 500]

The reference is the embedder alone, asked in this process for the same texts on one thread.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from pipeline.backends.embedders.e5.embedder import E5Embedder
from tests.running import Running, running

WORDS = (
    "point voucher store order delivery return shelf paint brush invoice branch partner desk"
).split()


def document(number: int) -> str:
    """Four sections of prose; no two documents share a sentence."""
    chosen = random.Random(number)

    def sentence() -> str:
        middle = " ".join(chosen.choices(WORDS, k=14))
        return f"The {chosen.choice(WORDS)} {number}-{chosen.randrange(10**6)} has {middle}."

    sections = (
        f"## Part {part} of {number}\n\n" + " ".join(sentence() for _ in range(7))
        for part in range(4)
    )
    return f"# Page {number}\n\n" + "\n\n".join(sections) + "\n"


@contextmanager
def instance(processes: int) -> Iterator[tuple[Running, Path]]:
    """A running instance with an empty pack."""
    with tempfile.TemporaryDirectory(prefix="lastro-bench-") as folder:
        content = Path(folder) / "content"
        (content / "documents").mkdir(parents=True)
        (content / "documents" / "first.md").write_text("# First\n\nThe first page.\n")
        settings = {"LASTRO_INGEST_PROCESSES": str(processes)}
        with running(Path(folder) / "home", content, settings) as found:
            yield found, content


def timed(made: Running) -> float:
    """Seconds of `lastro ingest`, by the record: from the run's start to its end."""
    run = json.loads(made.lastro("ingest", "--json").stdout)
    assert run["status"] == "done", run
    [(seconds,)] = made.rows(
        "SELECT extract(epoch FROM finished_at - created_at) FROM rag.ingest_runs"
        f" WHERE id = '{run['run_id']}'"
    )
    return float(seconds)


def reference(made: Running) -> float:
    """Seconds that the embedder alone takes for every text of the index, each once."""
    rows = made.rows("SELECT search_text, sentences FROM rag.chunks")
    texts = list(dict.fromkeys(t for search, sentences in rows for t in (search, *sentences)))
    embedder = E5Embedder()
    embedder.embed_passages(["warm"])
    begun = time.perf_counter()
    embedder.embed_passages(texts)
    return time.perf_counter() - begun


def speed(count: int) -> None:
    """First run, second run, one changed section, and two processes against one."""
    took = {}
    for processes in (1, 2):
        with instance(processes) as (made, content):
            for number in range(count):
                (content / "documents" / f"{number}.md").write_text(document(number))
            took[processes] = timed(made)
            if processes == 2:
                continue
            alone = reference(made)
            again = timed(made)
            vectors = "SELECT count(DISTINCT text_hash) FROM rag.sentence_embeddings"
            [(before,)] = made.rows(vectors)
            page = content / "documents" / "7.md"
            page.write_text(page.read_text() + "\n## Added\n\nOne new sentence.\n")
            changed = timed(made)
            [(after,)] = made.rows(vectors)
    print(f"{count} documents: {took[1]:.1f} s; the embedder alone {alone:.1f} s")
    print(f"embedding is {alone / took[1]:.3f} of ingesting (bar .90)")
    print(f"a second run {again:.2f} s, {again / took[1]:.4f} of the first (bar .02)")
    print(f"one section added: {changed:.2f} s, {after - before} new sentence embedded")
    print(f"two processes {took[2]:.1f} s, {took[1] / took[2]:.2f} times one (bar 1.6)")


def memory(count: int) -> None:
    """Memory of an ingest worker with all its children after every hundred documents."""
    sizes = []
    with instance(1) as (made, content):
        for begin in range(0, count, 100):
            for number in range(begin, begin + 100):
                (content / "documents" / f"{number}.md").write_text(document(number))
            timed(made)
            worker = psutil.Process(made.pid("ingest"))
            family = [worker, *worker.children(recursive=True)]
            sizes.append(sum(one.memory_full_info().uss for one in family) / 1e6)
    slope = (sizes[-1] - sizes[0]) / max(len(sizes) - 1, 1)
    print(f"memory after each 100 documents: {', '.join(f'{size:.1f}' for size in sizes)} MB")
    print(f"slope after the first 100: {slope:.2f} MB per 100 documents (bar 1)")


def main() -> None:
    """Speed, then memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--memory-documents", type=int, default=500)
    options = parser.parse_args()
    speed(options.documents)
    memory(options.memory_documents)


if __name__ == "__main__":
    main()
