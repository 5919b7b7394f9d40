"""Files to one program: reading within bounds, includes, and the defaults a program states for itself.

``include "path";`` looks beside the including file first, then beside the first program file.  A file is
loaded once however often it is included, so include cycles are fine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from clew.bounds import Bounds
from clew.dedalus.lexer import Text
from clew.dedalus.params import (
    DeclaredParam,
    Settings,
    declare_params,
    notice_misspelt,
    notice_params,
    resolve_params,
)
from clew.dedalus.parser import Clause, Durable, Include, Persist, Written, parse_text
from clew.dedalus.patterns import expand_facts, expand_interval
from clew.errors import Notice, Position, ProgramError, is_quotable
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input
from clew.names import nearest_name
from clew.node_lists import NodeListError, WrittenNode, read_nodes
from clew.program.ir import Fact, InputRule, Premise, Program, Rule, Timing, Value, Var

#: A protocol model is a few kilobytes; a file beyond this is a mistake and is not read into memory.
LARGEST_FILE = 1_000_000

#: Programs include a file of assertions or two; a chain beyond this is a mistake.
DEEPEST_INCLUDE = 50

#: One default of a ``//!`` line.  There may be spaces in the name of a node, in quotes.
_DEFAULT = re.compile(r"""(?:"[^"]*(?:"|$)|[^\s"])+""")
_PARAM = re.compile(r"[a-z][A-Za-z0-9_]*")
#: Nodes that are called by numbers: 1..3 or 1..replicas.
_NODE_INTERVAL = re.compile(r"([0-9]{1,9}|[a-z][A-Za-z0-9_]*)\.\.([0-9]{1,9}|[a-z][A-Za-z0-9_]*)")


#: What includes, params and patterns have become of.
LoadedClause = Fact | Rule | InputRule | Durable | Persist


class NamedNumber(NamedTuple):
    """The name of a param where a ``//!`` line has a number."""

    name: str
    position: Position


class NodeInterval(NamedTuple):
    """``1..replicas`` where a ``//!`` line has nodes: those that are called by these numbers."""

    ends: tuple[int | NamedNumber, int | NamedNumber]
    position: Position


#: What a ``//!`` line says of one bound.
Stated = int | tuple[WrittenNode | NodeInterval, ...] | NamedNumber


class Loaded(NamedTuple):
    """A program, and in ``defaults`` what ``//! nodes=a,b eot=6 eff=3 crashes=1 delays=0`` states in it."""

    program: Program
    defaults: Bounds
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Template:
    """The files of a program, read once; ``instantiate`` gives the program for values of its params.

    ``stated``: what the ``//!`` lines say, where the name of a param may stand for a number.
    """

    clauses: tuple[Written, ...]
    stated: Mapping[str, Stated]
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
        used |= {number.name for value in self.stated.values() for number in _named_numbers(value)}
        named = self.stated.get("nodes", ())
        nodes = [node for node in named if isinstance(node, str)] if isinstance(named, tuple) else []
        misspelt = notice_misspelt(self.params, self.clauses)
        return (*notice_params(self.params, used, nodes, self.texts), *misspelt)

    def instantiate(self, given: Settings | None = None) -> Loaded:
        """Return the program with these values; raise ``UsageError`` for what cannot be set."""
        params = resolve_params(self.params, given or {})
        values = {param.name: param.value for param in params}
        clauses = [_reread(written, values) for written in self.clauses]
        program = _make_program([clause for clause in expand_facts(clauses) if isinstance(clause, LoadedClause)])
        defaults = _resolve_defaults(self.stated, values)
        return Loaded(replace(program, params=params) if params else program, defaults, self._notices)


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
    defaults = [loader.load(Path(path)) for path in paths]
    # The first file that states any speaks for all: a file of assertions may come with defaults of its own.
    stated = next(filter(None, defaults), {})
    return Template(tuple(loader.clauses), stated, tuple(loader.texts))


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
    return Template(tuple(clauses), {}, (source,)).instantiate(params).program


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
        self.clauses: list[Written] = []
        self.texts: list[Text] = []

    def load(self, path: Path, wanted_by: Include | None = None) -> dict[str, Stated]:
        if self._depth > DEEPEST_INCLUDE:
            raise ProgramError(
                f"files include each other more than {DEEPEST_INCLUDE} deep",
                position=wanted_by.position if wanted_by else None,
                remedy="include them from one file",
            )
        identity = os.path.realpath(path)  # two names for one file are one file
        if identity in self._seen:
            return {}
        self._seen.add(identity)
        text = _read(path, wanted_by)
        self._depth += 1
        try:
            return self._load(path, text)
        except ProgramError as error:
            # Of a file that is no program, no line may be shown: it may be a key, named by mistake or by an
            # include.
            if is_quotable(str(path), ".ded") or error.position is None or error.position.file != str(path):
                raise
            raise ProgramError(
                f"{path}: is not a Dedalus program, and its name does not end in .ded",
                position=wanted_by.position if wanted_by else None,
                remedy=f"name a program; to see what is wrong in line {error.position.line}, rename it",
            ) from None
        finally:
            self._depth -= 1

    def _load(self, path: Path, text: str) -> dict[str, Stated]:
        source = Text(text, str(path))
        self.texts.append(source)
        for written in parse_text(source):
            if isinstance(written.clause, Include):
                self.load(self._find(written.clause, path.parent), written.clause)
            else:
                self.clauses.append(written)
        return _defaults_of(source)

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


def _resolve_defaults(stated: Mapping[str, Stated], params: Mapping[str, Value]) -> Bounds:
    """Return the defaults with the numbers that params stand for."""
    known: dict[str, object] = {}
    for key, value in stated.items():
        if isinstance(value, tuple) and not isinstance(value, NamedNumber):
            known[key] = tuple(node for part in value for node in _resolve_nodes(part, params))
        else:
            known[key] = _resolve_number(value, key, params)
    return Bounds(**known)  # type: ignore[arg-type]  # keys and types are those of _parse_default


def _resolve_number(value: int | NamedNumber, key: str, params: Mapping[str, Value]) -> int:
    if isinstance(value, int):
        return value
    number = params.get(value.name)
    if not isinstance(number, int):
        raise ProgramError(
            f"'{key}={value.name}' does not give a number",
            position=value.position,
            remedy=f"write {key}=3, without spaces, or declare it: param {value.name} = 3;",
        )
    return number


def _resolve_nodes(part: WrittenNode | NodeInterval, params: Mapping[str, Value]) -> Sequence[WrittenNode]:
    if not isinstance(part, NodeInterval):
        return (part,)
    first, last = (_resolve_number(end, "nodes", params) for end in part.ends)
    return expand_interval(first, last, part.position)


def _named_numbers(value: Stated) -> Iterator[NamedNumber]:
    """Yield the names of params in what a ``//!`` line says."""
    if isinstance(value, NamedNumber):
        yield value
    elif isinstance(value, tuple):
        ends = [end for part in value if isinstance(part, NodeInterval) for end in part.ends]
        yield from (end for end in ends if isinstance(end, NamedNumber))


def _defaults_of(text: Text) -> dict[str, Stated]:
    """Return what the leading ``//!`` lines state; refuse one further down, which a reader would overlook."""
    stated: dict[str, Stated] = {}
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
            if key in stated:
                position = text.position(offset)
                raise ProgramError(f"'{key}' is stated twice", position=position, remedy="state it once")
            stated[key] = value
    return stated


def _parse_default(text: str, whole: Text, offset: int) -> tuple[str, Stated]:
    """Return one default; it stands at this offset of the whole text."""
    known = list(Bounds._fields)
    key, _, value = text.partition("=")
    position = whole.position(offset)
    if key not in known:
        raise ProgramError(
            f"unknown default '{key}'",
            position=position,
            remedy="use " + ", ".join(f"{k}=..." for k in known),
        )
    if key == "nodes":
        try:
            return key, tuple(_read_node(node, value, position) for node in read_nodes(value))
        except NodeListError as error:
            where = whole.position(offset + len("nodes=") + error.offset)
            raise ProgramError(error.message, position=where, remedy=error.remedy) from None
    if value.isdecimal() and value.isascii() and len(value) < 10:  # other scripts have digits, too
        return key, int(value)
    if _PARAM.fullmatch(value):
        return key, NamedNumber(value, position)
    raise ProgramError(
        f"'{key}={value}' does not give a number", position=position, remedy=f"write {key}=3, without spaces"
    )


def _read_node(node: WrittenNode, text: str, position: Position) -> WrittenNode | NodeInterval:
    is_bare = isinstance(node, str) and f'"{node}"' not in text
    found = _NODE_INTERVAL.fullmatch(node) if isinstance(node, str) and is_bare else None
    if found is None:
        return node
    first, last = (int(end) if end.isdigit() else NamedNumber(end, position) for end in found.groups())
    return NodeInterval((first, last), position)
