"""Text cut into the units whose vectors stand for single statements.

A chunk of several hundred tokens has one vector, in which any one fact is diluted. The vectors of
its sentences find the fact again: how near the best of them is to a question is the strongest
signal that the chunk answers it.
"""

import re
from collections.abc import Iterator

MIN_BYTES = 20
"""A shorter sentence ("Yes.", "See above.") says nothing alone and joins its neighbour.

In UTF-8, where an ideograph counts three: it says about as much as three Latin letters."""

MAX_CHARS = 400
"""A longer one dilutes like a chunk and is cut into windows, about 60 words of Latin script."""

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_QUOTE = re.compile(r"^\s*>+\s?")

# A full stop, then closing quotes and brackets, then a space. Full-width marks need no space.
_END = re.compile(r"""(?:[.!?…]+[)\]"'”’»*_]*(?=\s)|[。！？]+[」』”）]*)\s*""")
# Words whose full stop is part of them, in lower case; initials are handled apart.
_ABBREVIATIONS = frozenset(
    """dr dra sr sra srta mr mrs ms prof profa st sto jr art arts inc núm num nº no vol cap fig pág
    pag pp vs etc ed eds exmo exma av avda tel cf aprox ref obs ex tp ths ts gs pgs uu ee ltda cia
    jan feb mar apr jun jul aug sep sept oct nov dec fev abr mai ago set out dez ene dic""".split()
)
_LAST_WORD = re.compile(r"(\w+)\.$")
_CLAUSE = re.compile(r"(?<=[;:,、，；：])\s*|\s+(?=[—–-]\s)")


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, each stripped and with its white space folded.

    Markdown is understood as far as it matters: list items and table rows are sentences of their
    own (a row carries its column names), headings, fences and rules are not mixed into prose.
    Sentences over `MAX_CHARS` are cut into windows, those under `MIN_BYTES` joined to a neighbour.
    Text without any sentence, such as white space or a lone rule, gives an empty list.
    """
    found: list[str] = []
    for block in _blocks(text):
        parts = [w for s in _split(block) for w in _windows(s)]
        found.extend(_join_tiny(parts))
    return _join_tiny(found)


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, list items, headings, table rows and lines of code, one after another."""
    prose: list[str] = []
    header: list[str] | None = None
    in_fence = False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            yield from _flush(prose)
            in_fence = not in_fence
            continue
        line = _QUOTE.sub("", line)
        is_row = "|" in line and line.strip().startswith("|")
        if in_fence or not line.strip() or _RULE.match(line) or _TABLE_RULE.match(line) or is_row:
            yield from _flush(prose)
            if in_fence and line.strip():
                yield " ".join(line.split())
            elif is_row and not _TABLE_RULE.match(line):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if number + 1 < len(lines) and _TABLE_RULE.match(lines[number + 1]):
                    header = cells
                else:
                    yield _row(header, cells)
            elif not is_row and not _TABLE_RULE.match(line):
                header = None
            continue
        header = None
        if _HEADING.match(line) or _ITEM.match(line):
            yield from _flush(prose)
        heading = _HEADING.match(line)
        stripped = _ITEM.sub("", _HEADING.sub("", line), count=1)
        prose.append(stripped.strip())
        if heading:
            yield from _flush(prose)
    yield from _flush(prose)


def _flush(lines: list[str]) -> Iterator[str]:
    """The gathered lines as one block, after which `lines` is empty."""
    block = " ".join(" ".join(lines).split())
    lines.clear()
    if block:
        yield block


def _row(header: list[str] | None, cells: list[str]) -> str:
    """A table row as a statement: `Prize: voucher; Points: 500`."""
    if header is None or len(header) != len(cells):
        return "; ".join(cell for cell in cells if cell)
    pairs = zip(header, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _split(block: str) -> Iterator[str]:
    start = 0
    for mark in _END.finditer(block):
        head = block[start : mark.end()].rstrip()
        word = _LAST_WORD.search(head)
        if word and _is_abbreviated(word[1], block[mark.end() : mark.end() + 1]):
            continue
        yield head
        start = mark.end()
    rest = block[start:].strip()
    if rest:
        yield rest


def _is_abbreviated(word: str, following: str) -> bool:
    """Whether the full stop after `word` is its own, and `following` goes on with the sentence."""
    if word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isascii() and word.isupper()):
        return True
    # Hurried text begins sentences in lower case; only a short word then looks abbreviated.
    return following.islower() and len(word) < 4


def _windows(sentence: str) -> Iterator[str]:
    """`sentence` in pieces of at most `MAX_CHARS`, cut after clauses, else words, else anywhere."""
    if len(sentence) <= MAX_CHARS:
        yield sentence
        return
    pieces = -(-len(sentence) // MAX_CHARS)
    size = min(MAX_CHARS, len(sentence) // pieces + MAX_CHARS // 8)
    while len(sentence) > MAX_CHARS:
        cut = _last_break(sentence, size)
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def _last_break(sentence: str, size: int) -> int:
    """Where to cut so that the first piece has at most `size` characters."""
    clauses = [m.end() for m in _CLAUSE.finditer(sentence, size // 2, size) if m.end() > size // 2]
    if clauses:
        return clauses[-1]
    space = sentence.rfind(" ", 1, size)
    return space if space > 0 else size


def _join_tiny(parts: list[str]) -> list[str]:
    """Each part under `MIN_BYTES` put before the next one, a last one behind the one before."""
    joined: list[str] = []
    waiting = ""
    for part in parts:
        part = f"{waiting} {part}" if waiting else part
        waiting = ""
        if len(part.encode()) < MIN_BYTES:
            waiting = part
        else:
            joined.append(part)
    if waiting and joined:
        joined[-1] = f"{joined[-1]} {waiting}"
    elif waiting:
        joined.append(waiting)
    return joined
