"""Texts, documents and bytes that are almost right: valid ones with a few changes, drawn from a ``Random``."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

_TOKEN = re.compile(r'"[^"\n]*"|\w+|\s+|[^\w\s]')

#: Words that are trouble for somebody, in any language.
_EDGES = [
    *["0", "-1", "1", "2147483647", "2147483648", "-2147483649", "9" * 30, "9" * 5000, "1.5", "1e400", "nan", "_"],
    *[
        '""',
        '"',
        "'",
        "\\",
        "\0",
        "\ufeff",
        "\u2028",
        "\u202e",
        "é",
        "日本",
        "\t",
        "\n",
        "\r\n",
        "\f",
        " ",
        "",
        "x" * 300,
    ],
    *[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ",",
        ";",
        ":",
        ":-",
        "@",
        "@next",
        "@async",
        "#",
        "//",
        "/*",
        "*/",
        "&",
        "*",
    ],
    *["true", "null", "None", "-", "--", "---", "...", "|", ">", "!", "%", "=", "==", "!=", "+", "/", "**", "~"],
]

_VALUES: list[Any] = [
    *[None, True, False, 0, 1, -1, 2, 7, 2**31 - 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.0, -0.0, 1.5, 1e308],
    *[
        "",
        "a",
        "b",
        "x" * 400,
        "\0",
        "\ud800",
        "é",
        "1",
        "-",
        "/etc/passwd",
        "../x",
        ".",
        "a\nb",
        [],
        {},
        [[]],
        [{}],
    ],
    *[{"": None}, ["a", "b"], float("nan"), float("inf")],
]


def mutated_text(source: Random, texts: Sequence[str]) -> str:
    """Return one of the texts, with tokens, lines and characters changed; what is new comes from all of them."""
    text = source.choice(texts)
    if source.random() < 0.1:
        text = _spliced(source, text, source.choice(texts))
    tokens = _TOKEN.findall(text)
    for _ in range(source.choice([1, 1, 1, 2, 3, 6])):
        source.choice(_TOKEN_CHANGES)(source, tokens, texts)
    text = "".join(tokens)
    return source.choice(_TEXT_CHANGES)(source, text) if source.random() < 0.1 else text


def mutated_document(source: Random, documents: Sequence[Any]) -> Any:
    """Return one of the documents, with values, names and parts changed."""
    document = json.loads(json.dumps(source.choice(documents)))
    for _ in range(source.choice([1, 1, 1, 2, 4])):
        document = _changed(source, document)
    return document


def likely_document(source: Random, document: Any) -> Any:
    """Return the document with a few numbers, texts or truths that another command could have written there."""
    document = json.loads(json.dumps(document))
    leaves = list(_leaves(document))
    for _ in range(source.choice([1, 1, 2, 4])):
        holder, at = source.choice(leaves)
        value = holder[at]
        same = [other[place] for other, place in leaves if type(other[place]) is type(value)]
        nudged = value + source.choice([-1, 1]) if type(value) is int else source.choice(same)
        holder[at] = source.choice([nudged, source.choice(same)])
    return document


def _leaves(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where there is a number, a text, a truth or null: in which object or list, and at which place."""
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for at, value in list(inside):
        if isinstance(value, dict | list):
            yield from _leaves(value)
        else:
            yield document, at


def mutated_bytes(source: Random, data: bytes) -> bytes:
    """Return the bytes with a few of them changed, missing or repeated."""
    for _ in range(source.choice([1, 1, 2, 5])):
        begin = source.randrange(len(data) + 1)
        end = min(len(data), begin + source.choice([0, 1, 1, 2, 8, 100, 1000]))
        new = source.choice(
            [b"", source.randbytes(end - begin), source.randbytes(3), data[begin:end] * 2, b"\xff"]
        )
        data = data[:begin] + new + data[end:]
    return data


# -- tokens ------------------------------------------------------------------------------------------------------


def _place(source: Random, tokens: list[str]) -> int:
    """Return the place of a token, rather one that is no space."""
    if not tokens:
        tokens.append("")
    at = source.randrange(len(tokens))
    return at if tokens[at].strip() else source.randrange(len(tokens))


def _delete(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    at = _place(source, tokens)
    del tokens[at : at + source.choice([1, 1, 1, 3, 20])]


def _replace(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    tokens[_place(source, tokens)] = _new_token(source, texts)


def _insert(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    tokens.insert(_place(source, tokens), _new_token(source, texts))


def _swap(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    first, second = _place(source, tokens), _place(source, tokens)
    tokens[first], tokens[second] = tokens[second], tokens[first]


def _copy(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    """Give one token of the text the place of another: names stay known, and mean something else."""
    tokens[_place(source, tokens)] = tokens[_place(source, tokens)]


def _alike(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    """Give one word of the text the place of another: what is meant changes, and hardly ever the syntax."""
    words = [at for at, token in enumerate(tokens) if token[:1].isalnum() or token[:1] == "_"]
    if words:
        at = source.choice(words)
        same = [w for w in words if tokens[w][0].islower() == tokens[at][0].islower()]
        tokens[at] = tokens[source.choice(same)]


def _renumber(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    numbers = [at for at, token in enumerate(tokens) if token.isdecimal()]
    if numbers:
        tokens[source.choice(numbers)] = source.choice(["0", "1", "2", "3", "-1", "7", "2147483647", "10"])


def _repeat(source: Random, tokens: list[str], texts: Sequence[str]) -> None:
    at = _place(source, tokens)
    part = tokens[at : at + source.choice([1, 2, 8])]
    tokens[at:at] = part * source.choice([1, 1, 2, 30, 1000])


def _new_token(source: Random, texts: Sequence[str]) -> str:
    if source.random() < 0.3:
        return source.choice(_EDGES)
    text = source.choice(texts)
    begin = source.randrange(len(text) + 1)
    found = _TOKEN.search(text, begin)
    return found[0] if found else ""


_TOKEN_CHANGES: list[Callable[[Random, list[str], Sequence[str]], None]] = [
    *[_delete, _replace, _insert, _swap, _copy, _alike, _alike, _alike, _alike, _alike, _renumber, _repeat]
]


def _spliced(source: Random, text: str, other: str) -> str:
    lines, others = text.splitlines(keepends=True), other.splitlines(keepends=True)
    return "".join(lines[: source.randrange(len(lines) + 1)] + others[source.randrange(len(others) + 1) :])


def _cut(source: Random, text: str) -> str:
    return text[: source.randrange(len(text) + 1)]


def _shuffled(source: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    source.shuffle(lines)
    return "".join(lines)


def _nested(source: Random, text: str) -> str:
    at = source.randrange(len(text) + 1)
    bracket = source.choice(["(", "[", "{", "<", "-", "!", "((", "- ", "&a "])
    return text[:at] + bracket * source.choice([10, 200, 5000, 100_000]) + text[at:]


def _characters(source: Random, text: str) -> str:
    at = source.randrange(len(text) + 1)
    new = "".join(chr(source.choice([source.randrange(128), source.randrange(0xD800)])) for _ in range(5))
    return text[:at] + new + text[at + 2 :]


_TEXT_CHANGES: list[Callable[[Random, str], str]] = [_cut, _shuffled, _nested, _characters]

# -- documents ---------------------------------------------------------------------------------------------------


def _changed(source: Random, document: Any) -> Any:
    """Return the document with one change somewhere inside."""
    inside = (
        list(document)
        if isinstance(document, dict)
        else range(len(document))
        if isinstance(document, list)
        else ()
    )
    if not inside or source.random() < 0.12:
        return _other_value(source, document)
    at = source.choice(inside)
    if source.random() < 0.75:
        document[at] = _changed(source, document[at])
    elif isinstance(document, dict):
        _change_names(source, document, at)
    else:
        _change_items(source, document, at)
    return document


def _value(source: Random) -> Any:
    return copy.deepcopy(source.choice(_VALUES))  # it may be changed in turn


def _other_value(source: Random, value: Any) -> Any:
    kind = source.random()
    if kind < 0.15:
        for _ in range(source.choice([1, 2, 50])):
            value = [value] if source.random() < 0.5 else {"a": value}
        return value
    if kind < 0.5 and isinstance(value, int):
        return value + source.choice([-1, 1, -value, 100, 2**31])
    if kind < 0.5 and isinstance(value, str) and value:
        at = source.randrange(len(value))
        return source.choice(
            [value[:at], value[at:], value + value, value.upper(), value[:at] + "\0" + value[at:]]
        )
    return _value(source)


def _change_names(source: Random, document: dict[str, Any], at: str) -> None:
    kind = source.randrange(4)
    if kind == 0:
        del document[at]
    elif kind == 1:
        document[source.choice([at + "s", at.upper(), "", "format", "x"])] = document.pop(at)
    elif kind == 2:
        document[source.choice(list(document))] = copy.deepcopy(document[at])
    else:
        document[source.choice(["", "x", "a\nb", at + "2"])] = _value(source)


def _change_items(source: Random, document: list[Any], at: int) -> None:
    kind = source.randrange(4)
    if kind == 0:
        del document[at]
    elif kind == 1:
        document[at:at] = [copy.deepcopy(document[at]) for _ in range(source.choice([1, 2, 100]))]
    elif kind == 2:
        source.shuffle(document)
    else:
        document.insert(at, _value(source))
