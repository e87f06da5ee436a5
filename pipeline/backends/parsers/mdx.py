"""MDX made plain: imports, exports, tags and comments out, prose in, code untouched.

MDX is not markdown: a fence may stand right under a tag and text anywhere between tags, where a
markdown parser sees HTML. So this goes by lines and tags, and the result is what is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_IMPORT = re.compile(r"import\s*(?:['\"]|[^'\"]*?\bfrom\s*['\"])")
_EXPORT = re.compile(r"export\s+(?:const|let|var|default|async|function|class|type|[{*])")
_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(
    r"""</?>|                                   # <> and </>
        </?[A-Za-z][\w.:-]*                    # <Name and </Name, then what is no blank line
        (?:\s(?!\s*\n)(?:[^<>"'{}\n]|\n(?![ \t]*\n)|"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*)?
        /?>""",
    re.VERBOSE,
)


def strip(text: str) -> str:
    """``text`` as plain markdown."""
    parts = [
        part if is_code else _without_tags("\n".join(_without_modules(part.split("\n"))))
        for is_code, part in _parts(text)
    ]
    # A blank line on each side of a fence: what is left of a tag must not run into it.
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).strip("\n") + "\n"


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in turns of (False, prose) and (True, a fence with its marks)."""
    part: list[str] = []
    mark = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            part.append(line)
            if fence and fence[1].startswith(mark) and not fence[2].strip():
                yield True, "\n".join(part)
                part, mark = [], ""
        elif fence and "`" not in fence[2]:
            yield False, "\n".join(part)
            part, mark = [line], fence[1]
        else:
            part.append(line)
    yield bool(mark), "\n".join(part)


def _without_modules(lines: list[str]) -> Iterator[str]:
    """The lines that belong to no import or export, which end with a blank line."""
    place = 0
    while place < len(lines):
        end = place + 1
        if _EXPORT.match(lines[place]) or (
            lines[place].startswith("import") and _IMPORT.match("\n".join(lines[place:]))
        ):
            # An object may hold blank lines: the export goes on until its brackets are closed.
            while end < len(lines) and (lines[end].strip() or _open(lines[place:end])):
                end += 1
        else:
            yield lines[place]
        place = end


def _open(lines: list[str]) -> bool:
    text = "".join(lines)
    return any(text.count(left) > text.count(right) for left, right in ("{}", "[]", "()"))


def _without_tags(text: str) -> str:
    text = _COMMENT.sub("", text)
    out = []
    last = 0
    for span in _CODE_SPAN.finditer(text):
        out += [_TAG.sub("", text[last : span.start()]), span[0]]
        last = span.end()
    out.append(_TAG.sub("", text[last:]))
    # A line of tags becomes blank, so that what stands below it begins a block.
    return "\n".join(line if line.strip() else "" for line in "".join(out).split("\n"))
