"""Inputs that were never right: texts from the grammars of Dedalus and of dataflows, with no regard to meaning."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

_NAMES = ["p", "q", "r", "pre", "post", "log", "node", "a"]
_ODD_NAMES = ["crash", "clock", "next", "async", "notin", "P", "good", "p1", "_p", "count", "input", "successor"]
_PROMISES = ["pre_x", "post_x", "never", "never_x"]
_CLAUSES = [
    "durable p;",
    "durable;",
    "persist[p];",
    "persist[p, q]",
    "persist[p, q, 2];",
    "persist[zz];",
    "param n = 3;",
    "param n = a;",
    "param m;",
    "p(1..n, a);",
    "p(a, 1..3);",
    "q(3..1);",
    "q(1..999999);",
]
_VARIABLES = ["X", "X", "X", "Y", "Z", "_", "Long_Name1"]
_TIMES = ["", "", "", "@next", "@next", "@async", "@async"]
_ODD_TIMES = ["@1", "@2", "@0", "@99", "@X", "@2147483647", "@", "@x"]
_PARAMS = ["param n = 2;", "param a = b;", "param n = 3; param m = n / 2;", "param n = m;", "param p = 0;"]
_COMPUTING = ["+", "-", "*"]
_COMPARING = ["<", ">", "<=", ">=", "==", "!="]
_ODD_OPERATORS = ["/", "%", "=", "<>", "&", "", "- -"]


def _rarely(source: Random, usual: Sequence[str], odd: Sequence[str]) -> str:
    return source.choice(usual if source.random() < 0.97 else odd)


def dedalus_program(source: Random) -> str:
    """Return a program: facts, rules and stated bounds."""
    shapes = {name: source.choice([1, 2, 2, 3]) for name in (*_NAMES, *_ODD_NAMES, *_PROMISES)}
    lines = []
    if source.random() < 0.7:
        nodes = _rarely(source, ["a,b", "a", "1,2"], ["a,a", "", "a,b,c,d,e"])
        eot, eff, crashes = source.choice([1, 3, 4]), source.choice([0, 1, 1, 3]), source.choice([0, 1])
        lines.append(f"//! nodes={nodes} eot={eot} eff={eff} crashes={crashes}")
    for _ in range(source.choice([1, 3, 8, 20])):
        kind = source.random()
        if kind < 0.06:
            lines.append(_input(source, shapes))
        elif kind < 0.1:
            lines.append(source.choice(_CLAUSES))
        else:
            lines.append(_fact(source, shapes) if kind < 0.45 else _rule(source, shapes))
    if source.random() < 0.05:
        lines.insert(
            0, source.choice(['include "x.ded";', 'include "given.ded";', 'include "/dev/zero";', "include"])
        )
    if source.random() < 0.2:
        lines.insert(1, source.choice(_PARAMS))
    return "\n".join(lines) + "\n"


def _fact(source: Random, shapes: dict[str, int]) -> str:
    name = _rarely(source, _NAMES, _ODD_NAMES)
    arguments = ", ".join(_constant(source) for _ in range(_arity(source, shapes[name])))
    return f"{name}({arguments}){_rarely(source, ['', '@1', '@2'], _ODD_TIMES)};"


def _input(source: Random, shapes: dict[str, int]) -> str:
    name = _rarely(source, _NAMES, _ODD_NAMES)
    head = ", ".join(_term(source) for _ in range(_arity(source, shapes[name])))
    time = _rarely(source, ["@X", "@T", "@2", ""], _ODD_TIMES)
    body = ", ".join(_premise(source, shapes) for _ in range(source.choice([0, 1, 1, 2])))
    bound = source.choice(["", ", T <= 3", ", X <= 2"])
    return f"input {name}({head}){time} :- {body}{bound};" if body else f"input {name}({head}){time};"


def _rule(source: Random, shapes: dict[str, int]) -> str:
    name = source.choice(_PROMISES) if source.random() < 0.1 else _rarely(source, _NAMES, _ODD_NAMES)
    head = ", ".join(_head(source) for _ in range(_arity(source, shapes[name])))
    body = ", ".join(_premise(source, shapes) for _ in range(source.choice([1, 1, 2, 2, 3, 6])))
    if source.random() < 0.06:
        body += f", choose({source.choice(['(X), (Y)', '(), (Y)', '(Y), (X, Z)', '(X)'])})"
    return f"{name}({head}){_rarely(source, _TIMES, _ODD_TIMES)} :- {body};"


def _arity(source: Random, usual: int) -> int:
    return usual if source.random() < 0.99 else source.choice([0, 1, 2, 40])


def _constant(source: Random) -> str:
    if source.random() < 0.05:
        return source.choice(["n", "1..n", "1..3", "n + 1", "3..1", "1..1000000", "-n", "a..b"])
    return source.choice(["a", "b", "a", "1", "2", "0", "-3", "2147483647", '"a b"', "c1"])


def _term(source: Random) -> str:
    return source.choice(_VARIABLES) if source.random() < 0.8 else _constant(source)


def _head(source: Random) -> str:
    kind = source.random()
    if kind < 0.1:
        return f"{_rarely(source, ['count', 'sum', 'min', 'max'], ['avg', 'mcount', ''])}<{_term(source)}>"
    return _expression(source, 0) if kind < 0.25 else _term(source)


def _expression(source: Random, depth: int) -> str:
    if depth > 3 or source.random() < 0.4:
        return _term(source)
    inner = f"{_expression(source, depth + 1)} {_rarely(source, _COMPUTING, _ODD_OPERATORS)} "
    inner += _expression(source, depth + 1)
    return f"({inner})" if source.random() < 0.3 else inner


def _premise(source: Random, shapes: dict[str, int]) -> str:
    if source.random() < 0.15:
        return f"{_expression(source, 2)} {_rarely(source, _COMPARING, _ODD_OPERATORS)} {_expression(source, 2)}"
    name = _rarely(source, _NAMES, _ODD_NAMES)
    arguments = ", ".join(_term(source) for _ in range(_arity(source, shapes[name])))
    if source.random() < 0.05:
        arguments = source.choice("#@") + arguments
    return (
        f"{'notin ' if source.random() < 0.2 else ''}{name}({arguments}){'@1' if source.random() < 0.03 else ''}"
    )


def dataflow(source: Random) -> Any:
    """Return a dataflow as a document, whose names may lead nowhere."""
    components = [f"C{number}" for number in range(source.choice([0, 1, 2, 3, 6]))]
    document: dict[str, Any] = {name: _component(source) for name in components}
    ends = [f"{name}.{port}" for name in components for port in ("i", "o")] + ["C0", "X.i", "", ".", "C0.i.o"]
    streams = [_stream(source, number, ends) for number in range(source.choice([0, 1, 3, 8]))]
    document["streams"] = streams if source.random() < 0.95 else source.choice([None, {}, "x", 1])
    return document


def _component(source: Random) -> Any:
    paths = [_path(source) for _ in range(source.choice([0, 1, 2, 4]))]
    component: dict[str, Any] = {"annotation": paths if source.random() < 0.9 else (paths or [None])[0]}
    if source.random() < 0.4:
        component["Rep"] = source.choice([True, False, "maybe", 1])
    if source.random() < 0.2:
        component["variant"] = "V"
        component["V"] = _path(source)
    return component


def _path(source: Random) -> Any:
    labels = ["CR", "CW", "OR", "OW", "OR*", "XX", "", 3, None]
    path: dict[str, Any] = {"from": source.choice("io"), "to": source.choice("io"), "label": source.choice(labels)}
    if source.random() < 0.4:
        path["subscript"] = source.choice([["a"], ["a", "b"], [], "a", [1], [None], ["a", "a"]])
    return path


def _stream(source: Random, number: int, ends: list[str]) -> Any:
    stream: dict[str, Any] = {"name": source.choice([f"s{number}", "s0", "", 5])}
    for name, values in (("from", ends), ("to", ends)):
        if source.random() < 0.75:
            stream[name] = source.choice(values)
    for name in ("seal", "attributes", "Rep", "other"):
        if source.random() < 0.2:
            stream[name] = source.choice([["a"], ["a", "b"], [["a"], ["b"]], "a", True, None, []])
    return stream
