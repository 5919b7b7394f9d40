"""Python programs that are still programs: names, constants, arguments, operators and statements change places."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

_CONSTANTS: list[Any] = [0, 1, -1, 2**40, "", "a", "payload", "@addr", "@", None, True, 1.5, (), ("a",), b"x"]
_OPERATORS = [ast.LtE, ast.Lt, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is]
_BINARY = [ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.Div, ast.BitOr, ast.BitAnd]


def mutated_python(source: Random, texts: Sequence[str]) -> str:
    """Return one of the programs with a few changes; what is new comes from it or from another one."""
    tree, other = ast.parse(source.choice(texts)), ast.parse(source.choice(texts))
    for _ in range(source.choice([1, 1, 1, 2, 3, 6])):
        # Of a copy: a statement that became part of itself would have no end.
        donor = copy.deepcopy(other if source.random() < 0.2 else tree)
        source.choice(_CHANGES)(source, list(ast.walk(tree)), list(ast.walk(donor)))
    return ast.unparse(ast.fix_missing_locations(tree))


def _some(source: Random, nodes: Sequence[ast.AST], *kinds: type[ast.AST]) -> Any:
    """Return a node of one of these kinds; None if there is none."""
    found = [node for node in nodes if isinstance(node, kinds)]
    return source.choice(found) if found else None


def _rename(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    kind, name = source.choice(
        [(ast.Name, "id"), (ast.Attribute, "attr"), (ast.Attribute, "attr"), (ast.arg, "arg")]
    )
    given, taken = _some(source, nodes, kind), _some(source, donors, kind)
    if given is not None and taken is not None:
        setattr(given, name, getattr(taken, name))


def _define(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    """Give a class or function the name of another, or a class other bases, or a function other decorators."""
    given = _some(source, nodes, ast.ClassDef, ast.FunctionDef)
    taken = _some(source, donors, ast.ClassDef, ast.FunctionDef)
    if given is None or taken is None:
        return
    kind = source.randrange(3)
    if kind == 0:
        given.name = taken.name
    elif kind == 1:
        given.decorator_list = taken.decorator_list
    elif isinstance(given, ast.ClassDef) and isinstance(taken, ast.ClassDef):
        given.bases = taken.bases


def _constant(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    given, taken = _some(source, nodes, ast.Constant), _some(source, donors, ast.Constant)
    if given is not None:
        given.value = taken.value if taken is not None and source.random() < 0.6 else source.choice(_CONSTANTS)


def _arguments(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    given, taken = _some(source, nodes, ast.Call), _some(source, donors, ast.Call)
    if given is None:
        return
    kind = source.randrange(5)
    if kind == 0 and given.args:
        given.args.pop(source.randrange(len(given.args)))
    elif kind == 1:
        given.args = list(taken.args)
    elif kind == 2:
        given.keywords = list(taken.keywords)
    elif kind == 3:
        source.shuffle(given.args)
    else:
        given.args = given.args + copy.deepcopy(given.args)


def _operator(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    given = _some(source, nodes, ast.Compare, ast.BinOp)
    if isinstance(given, ast.Compare):
        given.ops = [source.choice(_OPERATORS)() for _ in given.ops]
    elif isinstance(given, ast.BinOp):
        given.op = source.choice(_BINARY)()


def _operand(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    """Put an expression of a rule in the place of another one."""
    given, taken = _some(source, nodes, ast.Compare, ast.BinOp, ast.Attribute), _some(source, donors, ast.expr)
    if given is None or isinstance(taken, ast.Starred | ast.Slice):
        return
    if isinstance(given, ast.Compare):
        given.comparators = [taken]
    elif isinstance(given, ast.BinOp):
        given.right = taken
    else:
        given.value = taken


def _statements(source: Random, nodes: Sequence[ast.AST], donors: Sequence[ast.AST]) -> None:
    given, taken = _some(source, nodes, ast.ClassDef, ast.FunctionDef), _some(source, donors, ast.stmt)
    kind = source.randrange(4)
    at = source.randrange(len(given.body)) if given is not None else 0
    if given is None or isinstance(taken, ast.Return | ast.Import | ast.ImportFrom):
        return
    if kind == 0 and len(given.body) > 1:
        del given.body[at]
    elif kind == 1:
        given.body.insert(at, taken)
    elif kind == 2:
        source.shuffle(given.body)
    else:
        given.body.insert(at, copy.deepcopy(given.body[at]))


_CHANGES: list[Callable[[Random, Sequence[ast.AST], Sequence[ast.AST]], None]] = [
    *[_rename, _rename, _rename, _rename, _define, _constant, _constant, _arguments, _arguments, _operator],
    *[_operand, _statements],
]
