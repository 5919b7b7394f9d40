"""Files to one program: reading within bounds, includes, and the defaults a program states for itself.

``include "path";`` looks beside the including file first, then beside the first program file.  A file is
loaded once however often it is included, so include cycles are fine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from clew.bounds import Bounds
from clew.dedalus.lexer import Text
from clew.dedalus.parser import Durable, Include, Persist, parse_clauses
from clew.errors import Notice, Position, ProgramError, is_quotable
from clew.expectation import KEYS, Expectation, ExpectationError, make_expectation
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input
from clew.names import nearest_name
from clew.node_lists import NodeListError, WrittenNode, read_nodes
from clew.program.ir import Fact, InputRule, Premise, Program, Rule, Timing, Var

#: A protocol model is a few kilobytes; a file beyond this is a mistake and is not read into memory.
LARGEST_FILE = 1_000_000

#: Programs include a file of assertions or two; a chain beyond this is a mistake.
DEEPEST_INCLUDE = 50

#: One default of a ``//!`` line.  There may be spaces in the name of a node, in quotes.
_DEFAULT = re.compile(r"""(?:"[^"]*(?:"|$)|[^\s"])+""")


#: What includes have become of.
LoadedClause = Fact | Rule | InputRule | Durable | Persist


class Loaded(NamedTuple):
    """A program, and in ``defaults`` what ``//! nodes=a,b eot=6 eff=3 crashes=1 delays=0`` states in it.

    ``expectation``: what the check of it comes to, by ``//! expect=certified``.
    """

    program: Program
    defaults: Bounds
    notices: tuple[Notice, ...] = ()
    expectation: Expectation | None = None


class Stated(NamedTuple):
    """What the ``//!`` lines of one file state."""

    bounds: Bounds = Bounds()
    expectation: Expectation | None = None


def load(paths: Sequence[str | Path]) -> Loaded:
    """Read the files (and what they include) as one program."""
    loader = _Loader(Path(paths[0]).parent)
    stated = [loader.load(Path(path)) for path in paths]
    # The first file that states any speaks for all: a file of assertions may come with defaults of its own.
    defaults = next((s.bounds for s in stated if s.bounds != Bounds()), Bounds())
    # But what a file expects is of that file: with others, it is another program.
    expectation = stated[0].expectation if len(stated) == 1 else None
    return Loaded(_make_program(loader.clauses), defaults, expectation=expectation)


def read_expectation(path: str | Path) -> Expectation | None:
    """Return what a file says that its check comes to; only its ``//!`` lines are looked at."""
    text = Text(_read(Path(path), None), str(path))
    try:
        return _read_stated(text).expectation
    except ProgramError as error:
        _refuse_unquotable(Path(path), error, None)
        raise


def parse_program(text: str, file: str = "<text>") -> Program:
    """Parse a program from a text without includes."""
    clauses: list[LoadedClause] = []
    for clause in parse_clauses(text, file):
        if isinstance(clause, Include):
            raise ProgramError(
                "a text has no folder to include from",
                position=clause.position,
                remedy="save it as a file and load that",
            )
        clauses.append(clause)
    return _make_program(clauses)


def _make_program(clauses: Sequence[LoadedClause]) -> Program:
    """Return the program of these clauses; refuse what is called durable and is no relation of it."""
    durable = [clause for clause in clauses if isinstance(clause, Durable)]
    inputs = tuple(clause for clause in clauses if isinstance(clause, InputRule))
    others = tuple(
        _persistence_rule(clause, clauses) if isinstance(clause, Persist) else clause
        for clause in clauses
        if not isinstance(clause, Durable | InputRule)
    )
    if not durable:
        return Program(others, inputs=inputs)
    defined = {clause.relation for clause in (*others, *inputs)}
    for relation, position in (named for clause in durable for named in clause.relations):
        if relation not in defined:
            nearest = nearest_name(relation, defined)
            raise ProgramError(
                f"no fact or rule defines '{relation}', which is to survive restarts",
                position=position,
                remedy=f"did you mean '{nearest}'?"
                if nearest
                else "name a relation of the program, or leave it out",
            )
    named = frozenset(name for clause in durable for name, _ in clause.relations)
    return Program(others, durable=named, inputs=inputs)


def _persistence_rule(persist: Persist, clauses: Sequence[LoadedClause]) -> Rule:
    """Return what ``persist[p]`` stands for: a row stays until one like it is in the relation of deleted ones.

    Without a name for that, it is ``p_neg``, as in the thesis, if the program has such a relation.
    """
    arities = {c.relation: len(c.args) for c in reversed(clauses) if isinstance(c, Fact | Rule | InputRule)}
    for rule in (c for c in clauses if isinstance(c, Rule)):
        for premise in rule.premises:
            arities.setdefault(premise.relation, len(premise.args))
    arity = arities.get(persist.relation, persist.arity)
    if arity is None or (persist.arity not in (None, arity)):
        uses = "has" if arity is None else f"has {arity} columns, not {persist.arity}"
        raise ProgramError(
            f"no fact or rule defines '{persist.relation}', which is to persist"
            if arity is None
            else f"'{persist.relation}' {uses}",
            position=persist.position,
            remedy="name a relation of the program"
            if arity is None
            else f"write persist[{persist.relation}]; the number of columns is known",
        )
    deleted = persist.deleted or f"{persist.relation}_neg"
    columns = tuple(Var(f"A{number}") for number in range(1, arity + 1))
    body = [Premise(persist.relation, columns, position=persist.position)]
    if persist.deleted or deleted in arities:
        body.append(Premise(deleted, columns, negated=True, position=persist.position))
    return Rule(persist.relation, columns, Timing.NEXT, tuple(body), persist.position)


class _Loader:
    def __init__(self, first_folder: Path) -> None:
        self._first_folder = first_folder
        self._seen: set[str] = set()
        self._depth = 0
        self.clauses: list[LoadedClause] = []

    def load(self, path: Path, wanted_by: Include | None = None) -> Stated:
        if self._depth > DEEPEST_INCLUDE:
            raise ProgramError(
                f"files include each other more than {DEEPEST_INCLUDE} deep",
                position=wanted_by.position if wanted_by else None,
                remedy="include them from one file",
            )
        identity = os.path.realpath(path)  # two names for one file are one file
        if identity in self._seen:
            return Stated()
        self._seen.add(identity)
        text = _read(path, wanted_by)
        self._depth += 1
        try:
            return self._load(path, text)
        except ProgramError as error:
            _refuse_unquotable(path, error, wanted_by)
            raise
        finally:
            self._depth -= 1

    def _load(self, path: Path, text: str) -> Stated:
        for clause in parse_clauses(text, str(path)):
            if isinstance(clause, Include):
                self.load(self._find(clause, path.parent), clause)
            else:
                self.clauses.append(clause)
        return _read_stated(Text(text, str(path)))

    def _find(self, include: Include, beside: Path) -> Path:
        # Beside the including file first, so that a folder of programs can be moved as a whole.
        candidates = [beside / include.path, self._first_folder / include.path]
        for candidate in candidates:
            if os.path.exists(candidate):  # noqa: PTH110  # unlike Path.exists, it never raises
                return candidate
        raise ProgramError(
            f"the included file '{_shorten(include.path)}' does not exist",
            position=include.position,
            remedy="looked for " + " and ".join(dict.fromkeys(_shorten(str(c)) for c in candidates)),
        )


def _refuse_unquotable(path: Path, error: ProgramError, wanted_by: Include | None) -> None:
    """Raise another error than this one, if it would show a line of a file that is no program."""
    # It may be a key, named by mistake or by an include.
    if is_quotable(str(path), ".ded") or error.position is None or error.position.file != str(path):
        return
    raise ProgramError(
        f"{path}: is not a Dedalus program, and its name does not end in .ded",
        position=wanted_by.position if wanted_by else None,
        remedy=f"name a program; to see what is wrong in line {error.position.line}, rename it",
    ) from None


def _read(path: Path, wanted_by: Include | None) -> str:
    def problem(message: str, remedy: str) -> ProgramError:
        where = wanted_by.position if wanted_by else None
        return ProgramError(f"{path}: {message}", position=where, remedy=remedy)

    try:
        data = read_input(path, LARGEST_FILE, given_open=wanted_by is None)
    except FileNotFoundError:
        raise problem("no such file", "check the path; programs usually end in .ded") from None
    except IsADirectoryError:
        raise problem("is a folder", "name the program files in it") from None
    except IrregularFileError as error:
        raise problem(f"is {error.kind}, not a regular file", IRREGULAR_REMEDY) from None
    except OSError as error:
        raise problem(f"cannot be read ({error.strerror})", "check the path and its permissions") from None
    if len(data) > LARGEST_FILE:
        raise problem(
            f"is larger than {LARGEST_FILE // 1_000_000} MB",
            "give a Dedalus program, or split this one with include",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise ProgramError(
            "not UTF-8 text",
            position=Position(str(path), line, column),
            remedy="give a text file with a Dedalus program",
        ) from None


def _shorten(path: str) -> str:
    """Return a path that fits into a message."""
    return path if len(path) <= 200 else path[:197] + "..."


def _read_stated(text: Text) -> Stated:
    """Return what the leading ``//!`` lines state; refuse one further down, which a reader would overlook."""
    stated: dict[str, int | str | tuple[WrittenNode, ...]] = {}
    places: dict[str, Position] = {}
    for comment, leading in text.default_comments():
        if not leading:
            raise ProgramError(
                "'//!' states the defaults of a program and stands before its first clause",
                position=text.position(comment.offset),
                remedy="move it to the top, or write an ordinary comment: //",
            )
        for found in _DEFAULT.finditer(comment.text[3:]):
            offset = comment.offset + 3 + found.start()
            key, value = _parse_default(found.group(), text, offset)
            position = text.position(offset)
            if key in stated:
                raise ProgramError(f"'{key}' is stated twice", position=position, remedy="state it once")
            stated[key], places[key] = value, position
    try:
        expectation = make_expectation(*(stated.pop(key, None) for key in KEYS))
    except ExpectationError as error:
        raise ProgramError(error.message, position=places[error.key], remedy=error.remedy) from None
    return Stated(Bounds(**stated), expectation)  # type: ignore[arg-type]  # of the types of _parse_default


def _parse_default(text: str, whole: Text, offset: int) -> tuple[str, int | str | tuple[WrittenNode, ...]]:
    """Return one default; it stands at this offset of the whole text."""
    known = [*Bounds._fields, *KEYS]
    key, _, value = text.partition("=")
    position = whole.position(offset)
    if key not in known:
        nearest = nearest_name(key, known)
        raise ProgramError(
            f"unknown default '{key}'",
            position=position,
            remedy=f"did you mean {nearest}=...?" if nearest else "use " + ", ".join(f"{k}=..." for k in known),
        )
    if key == "expect":  # which answers there are, make_expectation knows
        return key, value
    if key == "nodes":
        try:
            return key, tuple(read_nodes(value))
        except NodeListError as error:
            where = whole.position(offset + len("nodes=") + error.offset)
            raise ProgramError(error.message, position=where, remedy=error.remedy) from None
    if value.isdecimal() and value.isascii() and len(value) < 10:  # other scripts have digits, too
        return key, int(value)
    raise ProgramError(
        f"'{key}={value}' does not give a number", position=position, remedy=f"write {key}=3, without spaces"
    )
