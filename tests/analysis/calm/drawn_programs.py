"""Bloom programs as text with the rows that are given to them: what the behaviour of a label is tried on.

The first letter of a collection's name says what it is.  Rows have the columns ``k`` and ``v``, small numbers; a
channel has the address ``dst`` besides, at any place, and perhaps ``src``.  Channels, tables and scratches with
other columns are called e, r and x.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.bloom import Bloom

NODES = ("a", "b")
_KINDS = {
    "i": "interface.input",
    "o": "interface.output",
    "t": "table",
    "f": "table",
    "p": "table",
    "s": "scratch",
    "c": "channel",
    "q": "loopback",
    "e": "channel",
    "r": "table",
    "x": "scratch",
}
_LATTICES = {"l": "lset", "m": "lmax", "n": "lmin", "b": "lbool", "g": "lmap(lmax)", "u": "lpset", "h": "lbag"}
#: Functions and variables that rules may use; only those that are used are written.
_HELPERS = {
    "larger": "def larger(row):\n    return (row.k, max(row.k, row.v))",
    "ticket": "ticket = itertools.count()",
    "numbered": "def numbered(row):\n    return (row.k, next(ticket))",
    "through": "def through(row):\n    return numbered(row)",
    "seen_rows": "seen_rows = []",
    "remembered": "def remembered(row):\n    seen_rows.append(row.k)\n    return (row.k, len(seen_rows))",
    "total": "total = 0",
    "summed": "def summed(row):\n    global total\n    total += 1\n    return (row.k, total)",
    "Counter": "class Counter:\n    calls = 0\n\n    def __call__(self, row):\n        self.calls += 1\n"
    "        return (row.k, self.calls)\n\n    def method(self, row):\n        return self(row)",
    "counter": "counter = Counter()",
    "dice": "dice = random.Random()",
    "letters": "letters = iter(range(10**9))",
}
_USES = {
    "numbered": ("ticket",),
    "through": ("numbered", "ticket"),
    "remembered": ("seen_rows",),
    "summed": ("total",),
    "counter": ("Counter",),
}
_MODULES = ("datetime", "functools", "itertools", "os", "random", "time", "uuid")
_BLOOM = (
    *("agg", "bloom", "channel", "interface", "lbag", "lbool", "lmap", "lmax", "lmin", "loopback", "lpset"),
    *("lset", "periodic", "rows", "scratch", "table"),
)


@dataclass(frozen=True)
class Declared:
    """A collection; ``values`` of its columns, the last ones, are no keys.  Lattices have no columns."""

    name: str
    columns: tuple[str, ...] = ("k", "v")
    values: int = 0

    @property
    def kind(self) -> str:
        return self.name[0]

    @property
    def is_lattice(self) -> bool:
        return self.kind in _LATTICES

    @property
    def text(self) -> str:
        if self.kind == "z":
            return f"{self.name} = periodic(1)"
        if self.is_lattice:
            lattice = _LATTICES[self.kind]
            return f"{self.name} = {lattice}" + ("" if lattice.endswith(")") else "()")
        spelled = [f'"@{c}"' if c == "dst" else f'"{c}"' for c in self.columns]
        keys = spelled[: len(spelled) - self.values]
        val = [f"val=[{', '.join(spelled[len(keys) :])}]"] if self.values else []
        return f"{self.name} = {_KINDS[self.kind]}({', '.join([*keys, *val])})"


@dataclass(frozen=True)
class Given:
    """A row from outside.  ``step``: when it comes if nothing is varied; fixed tables have theirs at once."""

    node: str
    into: str
    row: tuple[Any, ...]
    step: int = 0

    def __str__(self) -> str:
        return f"{self.into}{self.row!r} at {self.node}"


@dataclass(frozen=True)
class Drawn:
    declared: tuple[Declared, ...]
    rules: tuple[str, ...]
    given: tuple[Given, ...]

    @property
    def text(self) -> str:
        rules = [f"        {rule}" for rule in self.rules] or ["        pass"]
        collections = [f"    {d.text}" for d in self.declared]
        body = "\n".join(
            ["class Drawn(Bloom):", *collections, "", "    @bloom", "    def rules(self):", *rules, ""]
        )
        helpers = self._helpers()
        used = "\n".join([body, *helpers])
        imports = [f"import {name}" for name in _MODULES if re.search(rf"\b{name}\.", used)]
        names = [name for name in _BLOOM if re.search(rf"\b{name}\b", body)]
        from_bloom = f"from clew.bloom import {', '.join(['Bloom', *names])}"
        return "\n".join([*imports, from_bloom, "", *helpers, "", body])

    def _helpers(self) -> list[str]:
        rules = "\n".join(self.rules)
        wanted = [name for name in _HELPERS if re.search(rf"\b{name}\b", rules)]
        wanted += [other for name in wanted for other in _USES.get(name, ())]
        return [_HELPERS[name] for name in _HELPERS if name in wanted]

    def __getitem__(self, name: str) -> Declared:
        return next(d for d in self.declared if d.name == name)


_numbers = itertools.count()


def loaded(program: Drawn, folder: Path) -> type[Bloom]:
    """Return the class; its text is in a file of its own, as that of every program is that users have."""
    file = folder / f"drawn_{next(_numbers)}.py"
    text = program.text
    file.write_text(text, encoding="utf-8")
    contents: dict[str, Any] = {"__name__": file.stem, "__file__": str(file)}
    exec(compile(text, str(file), "exec"), contents)
    found: type[Bloom] = contents["Drawn"]
    return found


def mentioned(rule: str) -> list[str]:
    """Return the declared collections of a rule: no temps."""
    return re.findall(r"self\.([a-z]\d+)\b", rule)


def target(rule: str) -> str:
    return re.split(r"[. ]", rule.removeprefix("self.").removeprefix("temp."))[0]


def without_unused(program: Drawn) -> Drawn:
    used = {name for rule in program.rules for name in mentioned(rule)}
    return Drawn(
        tuple(d for d in program.declared if d.name in used),
        program.rules,
        tuple(g for g in program.given if g.into in used),
    )


def smaller(program: Drawn) -> Iterator[Drawn]:
    """Programs with a rule, a given row or an operation less."""
    for k in range(len(program.rules)):
        yield without_unused(
            Drawn(program.declared, program.rules[:k] + program.rules[k + 1 :], program.given)
        )
    for k in range(len(program.given)):
        yield Drawn(program.declared, program.rules, program.given[:k] + program.given[k + 1 :])
    for k, rule in enumerate(program.rules):
        for simpler in _simpler(rule):
            rules = (*program.rules[:k], simpler, *program.rules[k + 1 :])
            yield without_unused(Drawn(program.declared, rules, program.given))


def _simpler(rule: str) -> Iterator[str]:
    """Rules in which an operation gives what it is applied to: ``a.filter(f)`` becomes ``a``."""
    for call in ast.walk(ast.parse(rule)):
        if isinstance(call, ast.Call):
            kept = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if "self." in (text := ast.get_source_segment(rule, kept) or ""):
                yield rule[: call.col_offset] + text + rule[call.end_col_offset :]
