"""States and messages as text that reads like Python, and where two such texts differ.

The texts are made from JSON (``simulation.values``), so that equal values read the same in every execution.
"""

from __future__ import annotations

import base64
import re
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from clew.simulation.values import to_json

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
#: What may be half a word where a text was cut, and the character that says so.
_PART_AT_START, _PART_AT_END = re.compile(r"^(\w+|.)"), re.compile(r"(\w+|.)$")


def message_text(message: Any) -> str:
    """Write a message in full."""
    return value_text(to_json(message, strict=False))


def value_text(document: Any) -> str:
    """Write a value that was kept as JSON."""
    if isinstance(document, list):
        return f"[{_join_values(document)}]"
    return _object_text(document) if isinstance(document, dict) else repr(document)


def _object_text(document: dict[str, Any]) -> str:
    mark, content = next(iter(document.items()))
    match mark, content:
        case "$tuple", list():
            return f"({_join_values(content)}{',' if len(content) == 1 else ''})"
        case (("$set" | "$frozenset"), list()):
            return f"{{{_join_values(content)}}}" if content else "set()"
        case "$dict", list():
            return f"{{{', '.join(f'{value_text(k)}: {value_text(v)}' for k, v in content)}}}"
        case "$enum", [name, member]:
            return f"{short_name(name)}.{member}"
        case "$bytes", str():
            return repr(base64.b64decode(content))
        case "$float", str():
            return content
        case "$object", str():
            state = document.get("state")
            return f"<{short_name(content)}>" if state is None else f"{short_name(content)}({_fields(state)})"
    return f"{short_name(mark[1:])}({_fields(content)})"


def _join_values(items: list[Any]) -> str:
    return ", ".join(map(value_text, items))


def _fields(content: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value_text(value)}" for name, value in content.items())


def short_name(qualified: str) -> str:
    """Return the name of a class without those of the classes and functions that it stands in."""
    return qualified.rpartition(".")[2]


class Difference(NamedTuple):
    """Two texts as what they begin with in common, what differs, and what they end with in common."""

    start: str
    before: str
    after: str
    end: str


def difference(before: str, after: str) -> Difference:
    """Compare two texts in whole words: half a number would mislead."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    shorter = min(len(old), len(new))
    start = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    rest = shorter - start
    end = next((k for k in range(rest) if old[-1 - k] != new[-1 - k]), rest)
    return Difference(
        "".join(old[:start]),
        "".join(old[start : len(old) - end]),
        "".join(new[start : len(new) - end]),
        "".join(old[len(old) - end :]),
    )


def trim_context(changed: Difference, context: int, more: str = "…") -> Difference:
    """Keep no more than so many characters, in whole words, of what is in common on either side."""
    start, end = changed.start, changed.end
    if len(start) > context + 1:
        start = more + _PART_AT_START.sub("", start[len(start) - context - 1 :])
    if len(end) > context + 1:
        end = _PART_AT_END.sub("", end[: context + 1]) + more
    return changed._replace(start=start, end=end)


class Piece(NamedTuple):
    """A part of a text, and whether it is in this one of two texts only."""

    text: str
    own: bool


#: Texts that differ in more words than this are not compared word by word.
_MANY_WORDS = 400


def pieces(changed: Difference) -> tuple[list[Piece], list[Piece]]:
    """Split two texts that differ, word by word where that is not too much work."""
    old, new = _WORDS.findall(changed.before), _WORDS.findall(changed.after)
    if max(len(old), len(new)) > _MANY_WORDS:
        old, new = [changed.before], [changed.after]
    # Otherwise words that occur often, such as commas, would not count as equal in long texts.
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    sides = (
        [Piece("".join(old[a:b]), how != "equal") for how, a, b, _, _ in blocks if a < b],
        [Piece("".join(new[a:b]), how != "equal") for how, _, _, a, b in blocks if a < b],
    )
    start, end = Piece(changed.start, False), Piece(changed.end, False)
    before, after = ([piece for piece in (start, *side, end) if piece.text] for side in sides)
    return before, after


def abbreviate(text: str, longest: int) -> str:
    """Leave out the middle of a text that is too long, and say how much that is."""
    if len(text) <= longest:
        return text
    left_out = f"… {len(text) - longest} characters …"
    return f"{text[: longest * 2 // 3]} {left_out} {text[len(text) - longest // 3 :]}"
