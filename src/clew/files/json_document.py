"""JSON documents that Clew reads: strictly, within bounds, and with the place of every defect.

A document may have been edited, cut off or made by something else, so nothing in it is trusted.  Every defect is a
``UsageError`` that says where in the document it is, what was expected and what to do.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from clew.errors import Position, UsageError, is_quotable
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input
from clew.program.ir import LARGEST_NUMBER

#: Thousands of counterexamples take a few megabytes; what is larger is a mistake and is not read into memory.
LARGEST_DOCUMENT = 50_000_000

#: Longer integers are not converted: Python refuses to, and next to nothing in a document can be one.
_MOST_DIGITS = 4000

#: Which command writes which kind of document.
_WRITERS = {
    "clew verdict": "clew check ... --json FILE",
    "clew check of code": "clew check ... --json FILE",
    "clew-recording": "clew fuzz ... -o FILE",
}

#: Half a character: JSON can only have it as an escape.
_SURROGATE = re.compile("[\ud800-\udfff]")


def _remedy(kind: object = None) -> str:
    """Say what to do about a defect in a document of this kind; None if nobody can tell which it is."""
    writer = _WRITERS.get(kind) if isinstance(kind, str) else None
    return f"let {writer or _any_writer()} write it anew; docs/json.md describes every field"


def _any_writer() -> str:
    return " or ".join(dict.fromkeys(_WRITERS.values()))


class _Object(dict[str, object]):
    """A JSON object that remembers which of its names stands there twice."""

    twice: str | None = None


@dataclass(frozen=True)
class HugeInteger:
    """An integer with more digits than are converted, kept as text so that messages can tell of it."""

    text: str


@dataclass(frozen=True)
class _NoNumber:
    """NaN and Infinity: Python's reader takes them, JSON does not have them."""

    text: str


@dataclass(frozen=True)
class Item:
    """A value and where it stands in the document, such as ``counterexamples[0].losses[2]``."""

    file: str
    place: str
    value: object
    remedy: str = _remedy()

    def problem(self, message: str) -> UsageError:
        where = f"{self.file}: {self.place}" if self.place else self.file
        return UsageError(f"{where}: {message}", remedy=self.remedy)

    def mismatch(self, expected: str) -> UsageError:
        return self.problem(f"expected {expected}, found {_describe(self.value)}")

    def refuse(self, expected: str) -> NoReturn:
        raise self.mismatch(expected)

    def members(self, *names: str) -> list[Item]:
        """Return the members of an object that has exactly these, in this order."""
        members = self.mapping()
        for name in members:
            if name not in names:
                raise self.problem(f"unknown field {quote_short(name)}; the fields are {', '.join(names)}")
        return [self.member(name) for name in names]

    def member(self, name: str) -> Item:
        members = self.mapping()
        if name not in members:
            raise self.problem(f"the field {quote_short(name)} is missing")
        return Item(self.file, f"{self.place}.{name}" if self.place else name, members[name], self.remedy)

    def mapping(self) -> dict[str, object]:
        if not isinstance(self.value, _Object):
            self.refuse("an object")
        if self.value.twice is not None:
            raise self.problem(f"the field {quote_short(self.value.twice)} stands there twice")
        return self.value

    def items(self) -> list[Item]:
        if not isinstance(self.value, list):
            self.refuse("a list")
        return [Item(self.file, f"{self.place}[{k}]", value, self.remedy) for k, value in enumerate(self.value)]

    def parts(self, *names: str) -> list[Item]:
        """Return the items of a list that has exactly these."""
        if not isinstance(self.value, list) or len(self.value) != len(names):
            self.refuse(f"[{', '.join(names)}]")
        return self.items()

    def text(self, expected: str = "a string") -> str:
        if not isinstance(self.value, str):
            self.refuse(expected)
        return self.value

    def number(self, least: int, most: int = LARGEST_NUMBER) -> int:
        # In Python, true and false are integers.
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not least <= self.value <= most:
            self.refuse(f"an integer from {least} to {most}")
        return self.value

    def one_of(self, names: Iterable[str]) -> str:
        known = list(names)
        if self.value not in known:
            self.refuse(" or ".join(f'"{name}"' for name in known))
        return str(self.value)


def read_document(path: str | Path, *, remedy: str | None = None) -> Item:
    """Read the JSON object that a file holds; only that it is one has been checked.

    ``remedy`` is what to do about a document with a defect, where that is not to let a command write it anew.
    """
    text = _read(path, remedy)
    if not text.strip():
        raise UsageError(
            f"{path}: is empty",
            remedy=remedy or "the command that was to write it did not finish: run it again",
        )
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_NoNumber)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg[0].lower()}{error.msg[1:]}"
        position = Position(str(path), error.lineno, error.colno)
        if Path(path).is_file():
            raise UsageError(problem, position=position, remedy=remedy or _remedy()) from None
        # A pipe: its line cannot be shown, for it cannot be read a second time.
        raise UsageError(f"{position}: {problem}", remedy=remedy or _remedy()) from None
    except RecursionError:
        raise UsageError(f"{path}: lists and objects are nested too deeply", remedy=remedy or _remedy()) from None
    kind = value.get("format") if isinstance(value, dict) else None
    document = Item(str(path), "", value, remedy or _remedy(kind))
    if not is_quotable(str(path), ".json") and (not isinstance(value, _Object) or value.twice is not None):
        raise document.problem("is no document of Clew, and its name does not end in .json")
    document.mapping()
    return document


def format_of(document: Item) -> str:
    """Return what the document says it is."""
    if "format" not in document.mapping():
        raise UsageError(
            f"{document.file}: does not say what it is: the field 'format' is missing",
            remedy=f"give a file that {_any_writer()} wrote",
        )
    return document.member("format").text("the name of a format")


def is_below_here(file: str) -> bool:
    """Tell whether a file lies below the working directory, wherever links lead."""
    try:
        real, here = os.path.realpath(file), os.path.realpath(".")
        return os.path.commonpath([real, here]) == here
    except ValueError:  # a NUL in the name, or another drive
        return False


def refuse_elsewhere(document: str, file: str, remedy: str) -> None:
    """Refuse a file that is not below the working directory: documents do not choose what is read or executed."""
    if not is_below_here(file):
        raise UsageError(
            f"{document}: names {quote_short(file)}, which is not below the working directory", remedy=remedy
        )


def json_line(value: object) -> str:
    """Write JSON in one line, with nothing in it that UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def _read(path: str | Path, remedy: str | None = None) -> str:
    try:
        data = read_input(path, LARGEST_DOCUMENT, given_open=True)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", remedy=f"write it first: {_any_writer()}") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder", remedy="name the file that clew wrote there") from None
    except IrregularFileError as error:
        raise UsageError(f"{path}: is {error.kind}, not a regular file", remedy=IRREGULAR_REMEDY) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be read ({why})", remedy="check the path and its permissions") from None
    if len(data) > LARGEST_DOCUMENT:
        raise UsageError(f"{path}: is larger than {LARGEST_DOCUMENT // 1_000_000} MB", remedy=remedy or _remedy())
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: not UTF-8 text, from byte {error.start} on", remedy=remedy or _remedy()
        ) from None


def _object(pairs: list[tuple[str, object]]) -> _Object:
    # Python would silently keep the last of two equal names, and other readers the first.
    made = _Object(pairs)
    if len(made) < len(pairs):
        made.twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return made


def _integer(text: str) -> int | HugeInteger:
    return int(text) if len(text) <= _MOST_DIGITS else HugeInteger(text)


def _describe(value: object) -> str:
    """Describe a value in a message: short, and without characters that a terminal would obey."""
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return f"the string {quote_short(value)}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
        case HugeInteger(text):
            return f"an integer of {len(text)} digits"
        case _NoNumber(text):
            return f"{text}, which JSON does not have"
        case _:
            return shorten(str(value))


def quote_short(text: str) -> str:
    """Quote a text for a message, with escapes for what a terminal would obey."""
    return repr(shorten(text))


def shorten(text: str) -> str:
    """Cut a text to what fits into a message: a document may have a name of megabytes."""
    return text if len(text) <= 60 else f"{text[:57]}..."
