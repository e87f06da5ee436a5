"""MDX made plain: imports, exports, tags and comments out, prose in, code untouched."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_MODULE_WORDS = re.compile(
    r"^(?:import\s+(?:[\w*{\"']|type\s)|export\s+(?:const|let|var|default|function|class|type|[{*]))"
)
_TAG = re.compile(
    r"""</?>|                                # <> and </>
        </?[A-Za-z][\w.:-]*                 # <Name and </Name
        (?:\s(?:[^<>"'{}]|"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*)?
        /?>""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def strip(text: str) -> str:
    """``text`` as plain markdown."""
    out: list[str] = []
    prose: list[str] = []
    fence = ""

    def flush() -> None:
        out.extend(_prose("\n".join(prose)).split("\n") if prose else ())
        prose.clear()

    for line in text.split("\n"):
        opened = _FENCE.match(line)
        if fence:
            out.append(line)
            if opened and opened[1].startswith(fence) and line.strip() == opened[1]:
                fence = ""
        elif opened:
            flush()
            fence = opened[1]
            # A fence right after a tag's line would else count as that tag's HTML.
            if out and out[-1].strip():
                out.append("")
            out.append(line)
        else:
            prose.append(line)
    flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n") + "\n"


def _prose(text: str) -> str:
    lines = []
    in_module = False
    for line in text.split("\n"):
        if not in_module and _MODULE_WORDS.match(line):
            in_module = True
        if in_module:
            # An import or export ends with its paragraph.
            in_module = bool(line.strip())
            if not in_module:
                lines.append(line)
            continue
        lines.append(line)
    return _outside_code(_COMMENT.sub("", "\n".join(lines)))


def _outside_code(text: str) -> str:
    parts = []
    last = 0
    for span in _CODE_SPAN.finditer(text):
        parts.append(_untag(text[last : span.start()]))
        parts.append(span[0])
        last = span.end()
    parts.append(_untag(text[last:]))
    return "".join(parts)


def _untag(text: str) -> str:
    def out(match: re.Match[str]) -> str:
        # <https://example.org> and <mail@example.org> are links, not tags.
        return match[0] if re.match(r"<[\w.+-]+(?::/|@)", match[0]) else ""

    # Whole lines of tags become blank, so that what they enclosed parses as markdown.
    return "\n".join(
        stripped.strip()
        if (stripped := _TAG.sub(out, line)) != line and not stripped.strip()
        else stripped
        for line in text.split("\n")
    )
