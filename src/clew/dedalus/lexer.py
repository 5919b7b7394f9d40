"""Dedalus text to tokens.

One kind of name serves relations, variables and constants; the parser tells them apart by place and by
their first letter.  Strings have no escapes and end on their line; comments are ``//`` and ``/* */``.  Two dots
are a symbol, as in ``1..3``, so that no name contains them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from clew.dedalus.habits import OF_CHARACTER
from clew.errors import Position, ProgramError

NAME, STRING, SYMBOL, END = "name", "string", "symbol", "end"

#: The word that declares a param; a relation may have this name, too.
PARAM = "param"

#: Alternatives in this order: what is skipped is the most frequent, and a string may contain everything else.
_TOKEN = re.compile(
    r"""(?P<skip>   [ \t\f\r\n]+ | //[^\n]* | /\*.*?\*/ )
      | (?P<string> "[^"\n]*" )
      | (?P<name>   (?: [A-Za-z0-9_?] | \.(?!\.) )+ )
      | (?P<symbol> :- | == | != | <= | >= | \.\. | [()<>@,;+\-*/\#\[\]=] )""",
    re.VERBOSE | re.DOTALL,
)
#: Control characters but for tab, line feed, form feed, carriage return: a file that has one is not text.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


# Tokens keep offsets; lines and columns are counted only for what is complained about.
class Token(NamedTuple):
    kind: str
    text: str
    offset: int


class Text:
    """A source text that knows the line and column of an offset."""

    def __init__(self, text: str, file: str) -> None:
        self.content = text.removeprefix("\ufeff")  # a byte order mark, which some editors write
        self._file = file
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", self.content))]

    def position(self, offset: int) -> Position:
        """Return the line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(self._file, line, offset - self._line_starts[line - 1] + 1)

    def tokens(self) -> list[Token]:
        """Return all tokens and a last one for the end; raise ``ProgramError`` at what is not a token."""
        found: list[Token] = []
        self._refuse_unprintable()
        offset = 0
        while offset < len(self.content):
            match = _TOKEN.match(self.content, offset)
            # "=" belongs to a declaration of a param; anywhere else it is a habit that has a remedy of its own.
            if match is None or (match.group() == "=" and not _declares_param(found)):
                raise self._no_token(offset)
            kind = match.lastgroup
            if kind is not None and kind != "skip":
                found.append(Token(kind, match.group(), offset))
            offset = match.end()
        found.append(Token(END, "the end of the file", len(self.content.rstrip())))
        return self._refuse_open_comments(found)

    def default_comments(self) -> list[tuple[Token, bool]]:
        """Return the comments that start with ``//!``, each with whether it stands before everything else."""
        found: list[tuple[Token, bool]] = []
        offset, leading = 0, True
        while match := _TOKEN.match(self.content, offset):
            if match.lastgroup != "skip":
                leading = False
            elif match.group().startswith("//!"):
                found.append((Token("comment", match.group(), offset), leading))
            offset = match.end()
        return found

    def _refuse_open_comments(self, tokens: list[Token]) -> list[Token]:
        """Refuse ``/*`` without its end, which would otherwise be read as a division and a product."""
        for one, other in pairwise(tokens):
            if one.text == "/" and other.text == "*" and other.offset == one.offset + 1:
                raise ProgramError(
                    "a comment is not closed", position=self.position(one.offset), remedy="close it with */"
                )
        return tokens

    def _refuse_unprintable(self) -> None:
        found = _UNPRINTABLE.search(self.content)
        if found:
            raise ProgramError(
                f"unprintable character U+{ord(found.group()):04X}",
                position=self.position(found.start()),
                remedy="give a text file with a Dedalus program",
            )

    def _no_token(self, offset: int) -> ProgramError:
        character = self.content[offset]
        message, remedy = f"unexpected '{character}'", OF_CHARACTER.get(character, _ANY_OTHER)
        if character == '"':
            message = "a string is not closed on its line"
        return ProgramError(message, position=self.position(offset), remedy=remedy)


def _declares_param(tokens: list[Token]) -> bool:
    """Tell whether these tokens end with the ``param NAME`` of a declaration."""
    return len(tokens) > 1 and tokens[-2].text == PARAM and tokens[-1].kind == NAME


#: The remedy for any other character.
_ANY_OTHER = 'names consist of letters, digits and . _ ?; put other text in "quotes"'
