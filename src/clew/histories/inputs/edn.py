"""A reader of EDN, the notation of Clojure, as far as histories are written in it.

Maps, vectors, lists, sets, strings, numbers, keywords, symbols, characters, ``nil``, booleans, comments, discarded
forms and tagged ones such as ``#jepsen.history.Op{...}``.  Nothing is evaluated, nesting is bounded, and a defect
is reported with its line.  Of several libraries none is kept up, and all build Clojure's types where hashable
Python values are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from clew.errors import Position, UsageError
from clew.histories.values import DEEPEST, FALSE, TRUE, Pairs, Symbol, Tagged, Value, pairs_of

_TOKEN = re.compile(
    r"""(?P<space>[\s,]+|;[^\n]*)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<open>\#\{|[\[({])
    |(?P<close>[\])}])
    |(?P<discard>\#_)
    |(?P<tag>\#[A-Za-z][^\s,()\[\]{}";]*)
    |(?P<character>\\(?:[A-Za-z0-9]+|.))
    |(?P<atom>[^\s,()\[\]{}";\\\#][^\s,()\[\]{}";]*)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?\d+N?")
_FLOAT = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?")
_RATIO = re.compile(r"[+-]?\d+/\d+")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CLOSES = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_CONSTANTS = {"nil": None, "true": TRUE, "false": FALSE}
#: Longer integers are not converted.
_MOST_DIGITS = 4000
_REMEDY = "give the history as Jepsen writes it (history.edn), or as JSON lines"

#: What ends a collection, and the end of the text.
# No value can be mistaken for it: None and Symbols are values of EDN.
_END = object()


class EdnReader:
    """Reads the values of a text one after the other; ``line`` is where the last one began."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._counted_to = 0
        self.line = 1
        # The same few keywords stand in every line.
        self._symbols: dict[str, Symbol] = {}

    def values(self) -> Iterator[tuple[int, Value]]:
        """Yield each value of the text, with the line in which it begins."""
        while True:
            self._skip_space()
            line = self._line_here()
            value = self._read(0, "")
            if value is _END:
                return
            yield line, value

    def members(self) -> Iterator[tuple[int, Value]]:
        """Yield the same; where the text is one vector or list, what is in it."""
        self._skip_space()
        if not self._text.startswith(("[", "("), self._at):
            yield from self.values()
            return
        closes = _CLOSES[self._text[self._at]]
        self._at += 1
        while True:
            self._skip_space()
            line = self._line_here()
            value = self._read(1, closes)
            if value is _END:
                break
            yield line, value
        # What follows would be lost silently, and with it perhaps the answers to calls.
        for _ in self.values():
            self._refuse("nothing after the end of the history")

    def _skip_space(self) -> None:
        while (found := _TOKEN.match(self._text, self._at)) and found.lastgroup == "space":
            self._at = found.end()

    def _line_here(self) -> int:
        self.line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self.line

    def _read(self, depth: int, closes: str) -> Any:
        """Return the next value, or ``_END`` at ``closes`` ("" for the end of the text)."""
        if depth > DEEPEST:
            self._refuse(f"at most {DEEPEST} levels of nesting")
        while True:
            found = _TOKEN.match(self._text, self._at)
            if found is None:
                if self._at >= len(self._text) and not closes:
                    return _END
                self._refuse(f"'{closes}'" if self._at >= len(self._text) else "a value")
            # From here on the place is behind the token; messages name the line in which it ends.
            self._at, token = found.end(), found.group()
            match found.lastgroup:
                case "atom":
                    return self._atom(token)
                case "string":
                    return _ESCAPE.sub(self._unescape, token[1:-1])
                case "open":
                    return self._collection(token, depth)
                case "close":
                    if token != closes:
                        self._refuse(f"'{closes}'" if closes else "a value", token)
                    return _END
                case "tag":
                    return self._tagged(token[1:], self._one(depth))
                case "discard":
                    self._one(depth)
                case "character":
                    return Symbol(token)

    def _one(self, depth: int) -> Value:
        """Return a value that must be there: after a tag or ``#_``."""
        value: Value = self._read(depth + 1, "")
        if value is _END:
            self._refuse("a value")
        return value

    def _collection(self, opens: str, depth: int) -> Value:
        items: list[Any] = []
        while (value := self._read(depth + 1, _CLOSES[opens])) is not _END:
            items.append(value)
        if opens in "[(":
            return tuple(items)
        if opens == "#{":
            return frozenset(items)
        if len(items) % 2:
            self._refuse("a value for each key of a map")
        # Keys are compared as values of EDN, so that a keyword and a string of the same letters are two.
        mapping = dict(zip(items[::2], items[1::2], strict=True))
        if len(mapping) * 2 < len(items):
            self._refuse("each key of a map once")
        return pairs_of(mapping, lambda item: item)

    def _tagged(self, tag: str, value: Value) -> Value:
        # A record is a map; which kind of record does not matter here.
        return value if isinstance(value, Pairs) else Tagged(tag, value)

    def _atom(self, token: str) -> Value:
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        if len(token) <= _MOST_DIGITS:
            if _NUMBER.fullmatch(token):
                return int(token.rstrip("N"))
            if _FLOAT.fullmatch(token):
                return float(token.rstrip("M"))
        # A ratio stays a symbol: as a float, two that differ could become equal.
        if token[0].isdigit() and not _RATIO.fullmatch(token):
            self._refuse("a number", token)
        return self._symbols.setdefault(token, Symbol(token))

    def _unescape(self, found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2] not in _ESCAPES:
            self._refuse("an escape that EDN knows", found[0])
        return _ESCAPES[found[2]]

    def _refuse(self, expected: str, token: str = "") -> NoReturn:
        line = self._line_here()
        if not token:
            token = self._text[self._at : self._at + 1]
        seen = repr(token[:40]) if token else "the end of the file"
        column = self._at - self._text.rfind("\n", 0, self._at)
        raise UsageError(
            f"not EDN: expected {expected}, found {seen}",
            position=Position(self._file, line, column),
            remedy=_REMEDY,
        )
