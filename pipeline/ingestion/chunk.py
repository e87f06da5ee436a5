"""Stage 2: a document cut into chunks.

First by headings (``#`` and ``##``, deeper ones only where a section is too long), then by a token
window over the section's parts: paragraphs by sentence, lists by item, tables by row with their
header repeated, fences by line. A part is cut inside only when it alone is over the limit. A
section's chunks depend on nothing outside it but its heading path, so an edit elsewhere leaves
them, and their vectors, as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.errors import EmptyDocumentError
from pipeline.ingestion.atoms import Atom, atoms, prose
from pipeline.ingestion.sections import Section, sections
from pipeline.ingestion.window import CountTokens, Packer
from pipeline.text.normalise import content_hash, says_something
from pipeline.text.sentences import sentences
from pipeline.types import Chunk, Document, Track

PATH_SIGN = " > "


def chunk(
    document: Document, *, count_tokens: CountTokens, limit: int, overlap: int
) -> list[Chunk]:
    """The chunks of ``document`` in order; language is left to the caller.

    No chunk's search text is over ``limit`` by ``count_tokens``. Windows of one section share up
    to ``overlap`` tokens of whole sentences. Every word of the document is in some chunk's search
    text. A skill is one chunk. Raises EmptyDocumentError for a document without any word.
    """
    chunker = _Chunker(document, count_tokens, limit, overlap)
    made = [chunker.skill()] if document.track is Track.SKILL else list(chunker.chunks())
    if not made:
        raise EmptyDocumentError(f"{document.path} holds no text.")
    return made


@dataclass(frozen=True)
class _Chunker:
    document: Document
    count_tokens: CountTokens
    limit: int
    overlap: int

    def skill(self) -> Chunk:
        """Found by title, description and triggers, as many as fit; followed by its body.

        Every trigger has a vector of its own, also one that the search text has no room for.
        """
        document = self.document
        parts = [Atom(document.title), Atom(document.summary, "\n")]
        parts += [Atom(trigger, "\n") for trigger in document.triggers]
        search_text = Packer("", self.count_tokens, self.limit, 0).pack(parts)[0]
        return self._chunk(
            0,
            heading="",
            text=document.text,
            search_text=search_text,
            parts=(*sentences(document.summary), *document.triggers),
        )

    def chunks(self) -> Iterator[Chunk]:
        """The chunks of what is no skill."""
        lines = self.document.text.split("\n")
        ordinal = 0
        for section in sections(self.document.text, self._is_long):
            prefix, whole = self._prefix(section.path)
            parts = [atom for block in section.blocks for atom in atoms(block, lines)]
            if not says_something(section.source):
                parts = prose(section.path[-1]) if section.path else []
            if not whole:
                parts = [*prose(PATH_SIGN.join(section.path)), *parts]
            for text in Packer(prefix, self.count_tokens, self.limit, self.overlap).pack(parts):
                if says_something(text):
                    yield self._chunk(
                        ordinal,
                        heading=PATH_SIGN.join(section.path),
                        text=text,
                        search_text=prefix + text,
                        parts=sentences(text),
                    )
                    ordinal += 1

    def _is_long(self, section: Section) -> bool:
        whole = Packer(self._prefix(section.path)[0], self.count_tokens, self.limit, 0)
        return whole.is_long(section.source)

    def _prefix(self, path: Sequence[str]) -> tuple[str, bool]:
        """Title and heading path as they stand before the text, and whether that is all of them.

        They may take half of the limit. Of a longer path the upper headings are left out.
        """
        named = list(path)
        is_file_name = self.document.title == PurePosixPath(self.document.path).stem
        if self.document.title not in named and not is_file_name:
            named.insert(0, self.document.title)
        for first in range(len(named)):
            prefix = PATH_SIGN.join(named[first:]) + "\n"
            if self.count_tokens(prefix) <= self.limit // 2:
                return prefix, len(named) - first >= len(path)
        return "", not path

    def _chunk(
        self, ordinal: int, *, heading: str, text: str, search_text: str, parts: Sequence[str]
    ) -> Chunk:
        return Chunk(
            ordinal=ordinal,
            heading=heading,
            text=text,
            search_text=search_text,
            sentences=tuple(parts),
            language="",
            token_count=self.count_tokens(search_text),
            content_hash=content_hash(search_text, text, *parts),
        )
