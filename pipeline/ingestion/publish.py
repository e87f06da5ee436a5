"""Stage 4: the keyword side of a chunk. The switch itself is ``db/publishing.py``."""

from __future__ import annotations

from collections import Counter

from pipeline.text.tokens import terms
from pipeline.types import Chunk

MOST_OFTEN = 32_767
"""What the column of frequencies, a SMALLINT, holds; BM25 is flat long before."""


def postings(chunk: Chunk) -> tuple[dict[str, int], int]:
    """How often each term stands in the chunk, and its terms in all.

    Of a skill the body counts too, though only its description and triggers are embedded: a word
    of the procedure that nobody thought of as a trigger still finds it. So does a trigger that the
    search text had no room for.
    """
    own = chunk.search_text
    if chunk.text not in own:
        unsaid = [sentence for sentence in chunk.sentences if sentence not in own]
        own = "\n".join([own, *unsaid, chunk.text])
    found = terms(own, chunk.language or None)
    return {term: min(count, MOST_OFTEN) for term, count in Counter(found).items()}, len(found)
