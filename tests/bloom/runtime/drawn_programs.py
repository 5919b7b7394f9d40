"""Draws Bloom programs with everything that rules can have, as text, and what happens to their nodes step by step.

A number gives the same program and the same steps everywhere.  Collections have a level: what a rule uses strictly
is of a lower one, so that every program has strata.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LEVELS = 3
STEPS = 8
#: Numbers that are equal, and spelled in several ways: functions of rows that respect that give equal rows.
SPELLINGS = (0, False, 0.0, -0.0, 1, True, 1.0, 2, 2.0, 3)
#: Tables and scratches, with conflicts of keys (k, q) and without (t, s), the rows of an input (i), and lattices.
DECLARATIONS = {
    "t": 'table("x", "y")',
    "k": 'table("x", val=["y"])',
    "s": 'scratch("x", "y")',
    "q": 'scratch("x", val=["y"])',
    "z": "lset()",
    "m": "lmax()",
    "p": "lpset()",
    "b": "lbag()",
    "n": "lmap(lmax)",
}
ROWS = "tksq"
TABLES = "tk"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Event:
    """What happens before a step: rows are inserted into a collection, or deleted from a table."""

    kind: str
    collection: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Drawn:
    """``source``: the text of a class ``Drawn``.  ``steps``: what happens before each of them."""

    number: int
    source: str
    names: tuple[str, ...]
    steps: tuple[tuple[Event, ...], ...]


def draw(number: int, steps: int = STEPS, *, spelled: bool = False) -> Drawn:
    """Return the program with a number, and its steps; ``spelled``: with numbers in several spellings."""
    drawing = Drawing(random.Random(number), steps, spelled)
    rules = drawing.rules()
    names = (*(f"{kind}{level}" for level in range(LEVELS) for kind in DECLARATIONS), "i")
    lines = ["class Drawn(Node):", '    i = interface.input("x", "y")', '    out = channel("@to", "x", "y")']
    lines += [f"    {name} = {DECLARATIONS[name[0]]}" for name in names if name != "i"]
    lines += ["    @bloom", "    def rules(self):", *(f"        {rule}" for rule in rules)]
    return Drawn(number, "\n".join(lines) + "\n", names, drawing.steps())


class Drawing:
    def __init__(self, chance: random.Random, steps: int, spelled: bool) -> None:
        self._chance = chance
        self._steps = steps
        self._lines: list[str] = []
        self._inserted: dict[str, list[Row]] = {}
        # Most programs have few values, so that rows meet; some have others that do not fit every function.
        self._values: Sequence[Any] = [0, 1, 2, 3, 4] if chance.random() < 0.6 else [0, 1, 2, 3, "a", None, 2.5]
        self._kinds = chance.choice([ROWS, ROWS, "ts", "ks", "tq"])
        if spelled:
            self._values = SPELLINGS

    def steps(self) -> tuple[tuple[Event, ...], ...]:
        # What may be empty often is: a step without anything new is one of its own kind.
        numbers = [self._chance.choice([0, 1, 2, 3, 5]) for _ in range(self._steps)]
        return tuple(tuple(self._event() for _ in range(number)) for number in numbers)

    def _event(self) -> Event:
        chance = self._chance
        if chance.random() < 0.35:
            return self._deletion(TABLES)
        name = "i" if chance.random() < 0.1 else self._name(ROWS)
        return Event("insert", name, self._some_rows(name))

    def _deletion(self, kinds: str) -> Event:
        """Delete rows of which most were inserted before."""
        name = self._name(kinds)
        known = self._inserted.get(name, [])
        rows = self._some_rows(name, note=False)
        return Event("delete", name, tuple(self._chance.choice(known) if known else row for row in rows))

    def _name(self, kinds: str) -> str:
        """Choose a collection of these kinds, of those that rules use if there are some."""
        used: list[str] = sorted(set(re.findall(rf"self\.([{kinds}]\d)", "\n".join(self._lines))))
        if used and self._chance.random() < 0.95:
            return self._chance.choice(used)
        return f"{self._chance.choice(kinds)}{self._chance.randrange(LEVELS)}"

    def _some_rows(self, name: str, *, note: bool = True) -> tuple[Row, ...]:
        rows = tuple(self._row_of(name) for _ in range(self._chance.choice([1, 2, 3, 6])))
        if note:
            self._inserted.setdefault(name, []).extend(rows)
        return rows

    def _row_of(self, name: str) -> Row:
        return self._row()

    def _row(self) -> Row:
        return tuple(self._chance.choice(self._values) for _ in range(2))

    # -- rules ---------------------------------------------------------------------------------------------------

    def rules(self) -> list[str]:
        self._lines += [self._rule() for _ in range(self._chance.randint(1, 8))]
        return self._lines

    def _rule(self) -> str:
        chance = self._chance
        level = chance.randrange(LEVELS)
        kind = chance.random()
        if kind < 0.2:
            return f"self.{self._lattice_rule(level)}"
        target = f"{chance.choice(self._kinds)}{level}"
        if kind < 0.3:
            return self._recursive_rule(target)
        op = chance.choice(["<="] * 6 + ["<+", "<-", "<~"])
        # Other operators than <= see everything that a step derives.
        top = level if op == "<=" else LEVELS - 1
        expr = self.rows(top, 2)
        if op == "<~":
            return f'self.out <~ ({expr}).map(lambda r: ("there", r[0], r[1]))'
        if op == "<-":
            target = f"{chance.choice(TABLES)}{level}"
        return f"self.{target} {op} {expr}"

    def _recursive_rule(self, target: str) -> str:
        """Longer and longer ways: many rounds, with something new on both sides of the join."""
        other = f"{self._chance.choice(self._kinds)}{target[1]}"
        left, right = self._chance.choice([(target, other), (other, target), (target, target)])
        return f'self.{target} <= (self.{left} * self.{right}).pairs(lambda p, q: (p.x, q.y), y="x")'

    def _lattice_rule(self, level: int) -> str:
        chance = self._chance
        match chance.randrange(9):
            case 0:
                return f"m{level} <= self.z{level}.size()"
            case 1:
                return f"m{level} <= self.b{level}.size()"
            case 2:
                return f"m{level} <= self.n{level}.at(1)"
            case 3 if level:
                return f"z{level} <= self.z{level}.intersect(self.z{level - 1})"
            case 4:
                return f"p{level} <= {self.rows(level, 1)}.project('y')"
            case 5:
                return f"b{level} <= {self.rows(level, 1)}.project('x')"
            case 6:
                return f"n{level} <= {self.rows(level, 1)}"
            case 7:
                return f"m{level} <+ {self.rows(LEVELS - 1, 1)}.project('y')"
        return f"z{level} <= {self.rows(level, 1)}.project('{chance.choice('xy')}')"

    # -- expressions ---------------------------------------------------------------------------------------------

    def rows(self, level: int, depth: int) -> str:
        """Return an expression with the columns x and y; what it uses is of this level at most."""
        chance = self._chance
        if depth == 0 or chance.random() < 0.3:
            return self._collection(level)
        strict = self._STRICT_FORMS if level else ()
        form = chance.choice([*self._FORMS, *strict, *strict])
        return f'{form(self, level, depth)}.rename("x", "y")'

    def _collection(self, level: int) -> str:
        if self._chance.random() < 0.08:
            return "self.i"
        return f"self.{self._chance.choice(self._kinds)}{self._chance.randint(0, level)}"

    def _function(self, level: int, depth: int) -> str:
        # Seen through or not, of one row or of several, and some that raise or return no row.
        function = self._chance.choice(
            [
                ".filter(lambda r: r.x != r.y)",
                ".map(lambda r: (r.y, r.x))",
                ".map(lambda r: (r.x, 6 // r.y))",
                ".map(lambda r: (r.x, 1) if r.y == 2 else None)",
                ".map(lambda r: (max(r.x, r.y), r.y))",
                ".map(lambda r: [r.x, abs(r.y)] if r.x != 3 else [r.x])",
                ".map(lambda r: 'no row' if isinstance(r.y, str) or r.y == 4 else (r.y, 0))",
                ".flat_map(lambda r: [(r.x, r.x), (r.y, 1)])",
                ".flat_map(lambda r: [(k, r.y) for k in range(min(r.x, 4))])",
                ".project('y', 'x')",
            ]
        )
        return self.rows(level, depth - 1) + function

    def _pairs(self, level: int, depth: int) -> str:
        a, b = (self.rows(level, depth - 1) for _ in range(2))
        return f"({a} * {b})" + self._chance.choice(
            [
                '.pairs(lambda p, q: (p.x, q.y), y="x")',
                '.pairs(lambda p, q: (p.y, q.y), x="x")',
                ".pairs(lambda p, q: (p[0], q[1])).filter(lambda r: r[0] != r[1])",
                '.pairs(lambda p, q: (min(p.x, q.x), q.y), x="y", y="x")',
                '.lefts(y="x")',
                '.rights(x="x")',
                ".lefts()",
                '.rights(x="x", y="y")',
                '.pairs(x="x").project("x", "y")',
            ]
        )

    def _triple(self, level: int, depth: int) -> str:
        a, b, c = (self._collection(level) for _ in range(3))
        matches = f'{a}.y == {b}.x, {self._chance.choice([a, b])}.x == {c}.y'
        if len({a, b, c}) < 3:  # the columns of a collection that occurs twice cannot be told apart
            return f'({a} * {b}).lefts(x="y")'
        return f"({a} * {b} * {c}).pairs({matches}, lambda p, q, r: (q.y, r.x))"

    def _waiting(self, level: int, depth: int) -> str:
        lattice = self._chance.choice(
            [
                f"self.z{level}.size().gt_eq(2)",
                f"self.m{level}.gt(2)",
                f"self.m{level}.plus(1).gt(2)",  # raises if there is a text in it
                f"self.p{level}.sum().gt(3)",
                f"self.z{level}.contains(1)",
            ]
        )
        return f"{lattice}.when_true({self.rows(level, depth - 1)})"

    def _elements(self, level: int, depth: int) -> str:
        if self._chance.random() < 0.5:
            return f"self.z{level}.elements('x').map(lambda r: (r.x, 1))"
        return f"self.p{level}.elements('x').map(lambda r: (r.x, r.x))"

    _FORMS: Sequence[Callable[[Drawing, int, int], str]] = [
        *(_function, _function, _function, _pairs, _pairs, _pairs),
        *(_triple, _waiting, _elements),
    ]

    # -- expressions that need all rows --------------------------------------------------------------------------

    def _notin(self, level: int, depth: int) -> str:
        absent = self.rows(level - 1, depth - 1)
        match = self._chance.choice(['x="y"', 'x="x"', "", 'x="x", y="y"'])
        return f"{self.rows(level, depth - 1)}.notin({absent}{', ' * bool(match)}{match})"

    def _outer(self, level: int, depth: int) -> str:
        a, b = self.rows(level, depth - 1), self.rows(level - 1, depth - 1)
        return f"({a} * {b})" + self._chance.choice(
            ['.outer(lambda p, q: (p.y, q.y), x="x")', '.outer(lambda p, q: (p.x, q.x), y="x")']
        )

    def _group(self, level: int, depth: int) -> str:
        aggregate = self._chance.choice(
            [
                *('agg.count()', 'agg.count("y")', 'agg.sum("y")', 'agg.avg("y")', 'agg.min("y")', 'agg.max("y")'),
                *('agg.accum("y")', 'agg.accum_pair("x", "y")', 'agg.choose("y")', 'agg.bool_and("y")'),
                'agg.bool_or("y")',
            ]
        )
        source = self.rows(level - 1, depth - 1)
        if self._chance.random() < 0.2:
            return f'{source}.group([], {aggregate}, agg.count()).rename("v", "c").map(lambda r: (r.c, r.v))'
        return f'{source}.group(["x"], {aggregate})'

    def _extreme(self, level: int, depth: int) -> str:
        which = self._chance.choice(["argmin", "argmax"])
        keys = self._chance.choice(['["x"], "y"', '[], "y"', '["y"], "x"'])
        return f"{self.rows(level - 1, depth - 1)}.{which}({keys})"

    def _reduce(self, level: int, depth: int) -> str:
        fold = self._chance.choice(["largest", "collect", "give_up"])
        return f'{self.rows(level - 1, depth - 1)}.reduce({{}}, {fold}, columns=["x", "y"])'

    def _reading(self, level: int, depth: int) -> str:
        read = f"self.{self._chance.choice(self._kinds)}{self._chance.randrange(level)}"
        return self.rows(level, depth - 1) + self._chance.choice(
            [
                f".map(lambda r: (r.x, len({read})))",
                f".filter(lambda r: (r.y, r.x) in {read})",
                f".map(lambda r: (r.y, len(self.z{level - 1})))",
            ]
        )

    def _thresholds(self, level: int, depth: int) -> str:
        rows = self.rows(level, depth - 1)
        return self._chance.choice(
            [
                f"self.m{level - 1}.lt(3).when_true({rows})",
                f"self.m{level - 1}.elements('x').map(lambda r: (r.x, 0))",
                f"self.n{level - 1}.elements()",
                f"self.b{level - 1}.elements()",
                f"self.n{level - 1}.intersect(self.n0).elements()",
            ]
        )

    _STRICT_FORMS: Sequence[Callable[[Drawing, int, int], str]] = [
        *(_notin, _notin, _outer, _group, _group, _group, _extreme, _reduce, _reading, _thresholds),
    ]


# -- what texts of programs name ---------------------------------------------------------------------------------


def largest(memo: dict[Any, Any], row: Any) -> dict[Any, Any]:
    """Fold: the last of the values of each key."""
    memo[row.x] = row.y
    return memo


def collect(memo: dict[Any, Any], row: Any) -> dict[Any, Any]:
    """Fold: the values of each key, in order."""
    memo[row.x] = (*memo.get(row.x, ()), row.y)
    return memo


def give_up(memo: dict[Any, Any], row: Any) -> dict[Any, Any]:
    """Fold: raises for some rows."""
    memo[row.x] = 6 // row.y
    return memo
