"""Files to one program: reading within bounds, includes, and the defaults a program states for itself.

``include "path";`` looks beside the including file first, then beside the first program file.  A file is
loaded once however often it is included, so include cycles are fine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from clew.bounds import Bounds
from clew.dedalus.assembling import LoadedClause, make_program
from clew.dedalus.clauses import Clause, Include, Written
from clew.dedalus.lexer import Text
from clew.dedalus.params import (
    DeclaredParam,
    Settings,
    declare_params,
    notice_misspelt,
    notice_params,
    resolve_params,
)
from clew.dedalus.parser import parse_text
from clew.dedalus.patterns import expand_facts
from clew.dedalus.stated import Stated, named_numbers, read_stated, resolve_defaults
from clew.errors import Notice, Position, ProgramError, is_quotable
from clew.expectation import Expectation
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input
from clew.program.ir import Program, Value

#: A protocol model is a few kilobytes; a file beyond this is a mistake and is not read into memory.
LARGEST_FILE = 1_000_000

#: Programs include a file of assertions or two; a chain beyond this is a mistake.
DEEPEST_INCLUDE = 50


class Loaded(NamedTuple):
    """A program, and in ``defaults`` what ``//! nodes=a,b eot=6 eff=3 crashes=1 delays=0`` states in it.

    ``expectation``: what the check of it comes to, by ``//! expect=certified``.
    """

    program: Program
    defaults: Bounds
    notices: tuple[Notice, ...] = ()
    expectation: Expectation | None = None


@dataclass(frozen=True)
class Template:
    """The files of a program, read once; ``instantiate`` gives the program for values of its params.

    ``stated``: what the ``//!`` lines say, where the name of a param may stand for a number.
    """

    clauses: tuple[Written, ...]
    stated: Stated
    texts: tuple[Text, ...]

    @cached_property
    def params(self) -> dict[str, DeclaredParam]:
        """Return the params that are declared, by name."""
        return declare_params(self.clauses)

    @cached_property
    def _notices(self) -> tuple[Notice, ...]:
        """Return what is odd about the params, whatever their values are."""
        if not self.params:
            return ()
        used = frozenset(name for written in self.clauses for name in written.names)
        used |= {number.name for value in self.stated.bounds.values() for number in named_numbers(value)}
        named = self.stated.bounds.get("nodes", ())
        nodes = [node for node in named if isinstance(node, str)] if isinstance(named, tuple) else []
        misspelt = notice_misspelt(self.params, self.clauses)
        return (*notice_params(self.params, used, nodes, self.texts), *misspelt)

    def instantiate(self, given: Settings | None = None) -> Loaded:
        """Return the program with these values; raise ``UsageError`` for what cannot be set."""
        params = resolve_params(self.params, given or {})
        values = {param.name: param.value for param in params}
        clauses = [_reread(written, values) for written in self.clauses]
        program = make_program([clause for clause in expand_facts(clauses) if isinstance(clause, LoadedClause)])
        defaults = resolve_defaults(self.stated.bounds, values)
        program = replace(program, params=params) if params else program
        return Loaded(program, defaults, self._notices, self.stated.expectation)


def _reread(written: Written, params: Mapping[str, Value]) -> Clause:
    # Most clauses mention no param: they are what they were, whatever the values are.
    if written.open or not written.names.isdisjoint(params):
        return written.reread(params)
    return written.clause


def load(paths: Sequence[str | Path], params: Settings | None = None) -> Loaded:
    """Read the files (and what they include) as one program, with these values of its params."""
    return read_template(paths).instantiate(params)


def read_template(paths: Sequence[str | Path]) -> Template:
    """Read the files (and what they include), whatever the values of params are going to be."""
    loader = _Loader(Path(paths[0]).parent)
    stated = [loader.load(Path(path)) for path in paths]
    # The first file that states any speaks for all: a file of assertions may come with defaults of its own.
    defaults = next((one.bounds for one in stated if one.bounds), {})
    # But what a file expects is of that file: with others, it is another program.
    expectation = stated[0].expectation if len(stated) == 1 else None
    return Template(tuple(loader.clauses), Stated(defaults, expectation), tuple(loader.texts))


def read_expectation(path: str | Path) -> Expectation | None:
    """Return what a file says that its check comes to; only its ``//!`` lines are looked at."""
    text = Text(_read(Path(path), None), str(path))
    try:
        return read_stated(text).expectation
    except ProgramError as error:
        _refuse_unquotable(Path(path), error, None)
        raise


def parse_program(text: str, file: str = "<text>", params: Settings | None = None) -> Program:
    """Parse a program from a text without includes, with these values of its params."""
    source = Text(text, file)
    clauses = parse_text(source)
    for clause in (written.clause for written in clauses):
        if isinstance(clause, Include):
            raise ProgramError(
                "a text has no folder to include from",
                position=clause.position,
                remedy="save it as a file and load that",
            )
    return Template(tuple(clauses), Stated(), (source,)).instantiate(params).program


class _Loader:
    def __init__(self, first_folder: Path) -> None:
        self._first_folder = first_folder
        self._seen: set[str] = set()
        self._depth = 0
        self.clauses: list[Written] = []
        self.texts: list[Text] = []

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
        source = Text(text, str(path))
        self.texts.append(source)
        for written in parse_text(source):
            if isinstance(written.clause, Include):
                self.load(self._find(written.clause, path.parent), written.clause)
            else:
                self.clauses.append(written)
        return read_stated(source)

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
