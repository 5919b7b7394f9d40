"""Plain text: numbers with their nouns, how many columns text takes on a terminal, and text that fits."""

from __future__ import annotations

import unicodedata
from functools import cache


def pluralize(number: int, noun: str, several: str | None = None) -> str:
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def columns(text: str) -> int:
    """Count the columns of a terminal that a text takes."""
    return len(text) if text.isascii() else sum(map(char_columns, text))


@cache
def char_columns(char: str) -> int:
    # Combining marks stand on the character before them.
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    # Ambiguous characters (A) count as one: that is what terminals outside East Asia do.
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, room: int, more: str = "…") -> str:
    """Leave out the middle of a text that is too long: the ends tell names apart, and faults end in their time."""
    if columns(text) <= room:
        return text
    head, tail = "", ""
    while columns(head + tail) < room - 1:
        # Two characters of the beginning for one of the end.
        if len(head) <= 2 * len(tail):
            head += text[len(head)]
        else:
            tail = text[-len(tail) - 1] + tail
    # A wide character may have been one column too much.
    return (head if columns(head + tail) < room else head[:-1]) + more + tail


def printable(text: str) -> str:
    """Replace control characters of a program, which must not reach the terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def in_ascii(text: str) -> str:
    return printable(text.encode("ascii", "backslashreplace").decode("ascii"))
