"""Draws Bloom programs with what ``drawn_programs`` leaves out, and what happens to their nodes.

Keys of no column and of two, temps, an imported module, loopbacks, timers and channels that something arrives in,
functions that look at what others change, values that cannot be summed up or kept, more lattices and more of what
they can do; keys that are replaced, clocks that go on, and processes that start again with their durable tables.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from bloom.runtime.drawn_programs import DECLARATIONS, LEVELS, STEPS, Drawing, Drawn, Event

MORE_DECLARATIONS = {
    **DECLARATIONS,
    "d": 'table("x", val=["y"], durable=True)',
    "w": 'table("x", "y", val=["v"])',
    "o": 'scratch(val=["x", "y"])',
    "e": 'table(val=["x", "y"])',
    "l": "lmin()",
    "c": "lbool()",
    "u": "lmap(lset)",
    "v": "lmap(lmap(lmax))",
}
_ROWS = "tksqdwoe"
_TABLES = "tkdwe"
DURABLE = tuple(f"d{level}" for level in range(LEVELS))
#: Numbers whose sums are too large, or no numbers.
_EXTREMES = (0, 1, 2, 2**62, -(2**62), 0.5, 1e308, -1e308, float("inf"), float("-inf"))
_WIDE_AGGREGATES = (
    *('agg.count("v")', 'agg.sum("v")', 'agg.avg("v")', 'agg.min("v")', 'agg.max("y")', 'agg.choose("v")'),
    *('agg.accum("v")', 'agg.accum_pair("v", "v")', 'agg.bool_and("v")'),
)
_INNER = '''class Inner(Node):
    """The last value of each key, and the largest one that is kept."""

    put = interface.input("x", "y")
    kept = table("x", val=["y"])
    every = table("x", "y")
    best = scratch("x", val=["y"])
    view = interface.output("x", "y")

    @bloom
    def store(self):
        self.every <= self.put
        self.kept <+ self.put.argmax(["x"], "y").argmin(["x"], "y")
        self.kept <- (self.kept * self.put).lefts(x="x")

    @bloom
    def show(self):
        self.best <= self.every.group(["x"], agg.max("y"))
        self.view <= self.best
        self.view <= self.kept.notin(self.best)


'''


class World:
    """What functions of drawn programs look at, and somebody else changes between steps."""

    def __init__(self) -> None:
        self.clock = [0]
        self.seen: list[Any] = []
        self.names: dict[str, Any] = {"limit": 1}
        # Nobody sees that an attribute of a class is not what it was, but whoever looks.
        self.settings: Any = type("Settings", (), {"limit": 1})

    def turn(self, number: int) -> None:
        self.clock[0] = number
        self.seen.append(number % 3)
        self.names["limit"] = number % 4
        setattr(self.settings, "limit", number % 5)  # noqa: B010  # an assignment would be found in the code


def draw_module(number: int, steps: int = STEPS) -> Drawn:
    """Return the program with a number, and its steps."""
    drawing = _WideDrawing(random.Random(f"modules {number}"), steps)
    rules = drawing.rules()
    names = tuple(f"{kind}{level}" for level in range(LEVELS) for kind in MORE_DECLARATIONS)
    given = {
        "i": 'interface.input("x", "y")',
        "out": 'channel("@to", "x", "y")',
        "arriving": 'channel("@x", "y")',
        "timer": "periodic(1)",
        "back": 'loopback("x", "y")',
        "inner": "imported(Inner)",
    }
    lines = ["class Drawn(Node):", *(f"    {name} = {declared}" for name, declared in given.items())]
    lines += [f"    {name} = {MORE_DECLARATIONS[name[0]]}" for name in names]
    lines += ["    @bloom", "    def rules(self):", *(f"        {rule}" for rule in rules)]
    inner = ("inner.put", "inner.kept", "inner.every", "inner.best", "inner.view")
    shown = (*names, "i", "arriving", "timer", "back", *inner)
    return Drawn(number, _INNER + "\n".join(lines) + "\n", shown, drawing.steps())


class _WideDrawing(Drawing):
    def __init__(self, chance: random.Random, steps: int) -> None:
        super().__init__(chance, steps, spelled=False)
        if chance.random() < 0.15:
            self._values = _EXTREMES
        self._kinds = chance.choice([_ROWS, "ts", "td", "kso", "tqw", "dqe", "ks", "tk"])
        self._temps: list[tuple[str, int]] = []

    # -- events --------------------------------------------------------------------------------------------------

    def _event(self) -> Event:
        chance = self._chance
        what = chance.random()
        if what < 0.05:
            return Event("turn", "", ((chance.randrange(9),),))
        if what < 0.08:
            return Event("restart", "", ())
        if what < 0.2:
            name = self._name("kdte")
            return Event("replace", name, self._some_rows(name))
        if what < 0.45:
            return self._deletion(_TABLES)
        text = "\n".join(self._lines)
        # What passes through is inserted into where something looks at it.
        passing = [name for name in ("i", "arriving", "timer", "back", "inner.put") if f"self.{name}" in text]
        name = chance.choice(passing) if what < 0.6 and passing else self._name(_ROWS)
        return Event("insert", name, self._some_rows(name))

    def _row_of(self, name: str) -> tuple[Any, ...]:
        row = self._row()
        return (*row, self._chance.choice(self._values)) if name[0] == "w" else row

    # -- rules ---------------------------------------------------------------------------------------------------

    def rules(self) -> list[str]:
        for _ in range(self._chance.randint(2, 10)):
            rule = self._any_rule()
            self._lines.append(rule)
        return self._lines

    def _any_rule(self) -> str:
        chance = self._chance
        kind = chance.random()
        if kind < 0.08:
            level = chance.randrange(LEVELS)
            rows = self.rows(level, 2)
            name = f"some{len(self._temps)}"
            # Only from here on: a rule cannot read a temp that is declared after it.
            self._temps.append((name, level))
            return f"self.temp.{name} <= {rows}"
        if kind < 0.16:
            return f"self.inner.put <= {self.rows(0, 1)}"
        if kind < 0.22:
            return f"self.back <~ {self.rows(LEVELS - 1, 1)}"
        if kind < 0.3:
            table = f"{chance.choice('kde')}{chance.randrange(LEVELS)}"
            if chance.random() < 0.5:
                return f'self.{table} <- (self.{table} * {self.rows(LEVELS - 1, 1)}).lefts(x="x")'
            return f"self.{table} <+ {self.rows(LEVELS - 1, 1)}"
        if kind < 0.34:
            name = f"{chance.choice(self._kinds)}{chance.randrange(LEVELS)}"
            return f"self.{name} <= {[(1, 2, 2), (2, 1, 1)] if name[0] == 'w' else [(1, 2), (2, 1)]}"
        return self._widen(self._rule())

    def _widen(self, rule: str) -> str:
        """Give rows for a table with three columns a third one."""
        head, operator, expr = rule.split(" ", 2)
        if not head.startswith("self.w"):
            return rule
        third = self._chance.choice(["r[0]", "1", "r[1]"])
        return f"{head} {operator} {expr}.map(lambda r: (r[0], r[1], {third}))"

    def _recursive_rule(self, target: str) -> str:
        sources = [kind for kind in self._kinds if kind != "w"]
        other = f"{self._chance.choice(sources)}{target[1]}"
        if target[0] == "w":
            target = other
        left, right = self._chance.choice([(target, other), (other, target), (target, target)])
        return f'self.{target} <= (self.{left} * self.{right}).pairs(lambda p, q: (p.x, q.y), y="x")'

    def _lattice_rule(self, level: int) -> str:
        chance = self._chance
        lower = max(0, level - 1)
        rows = self.rows(level, 1)
        more = [
            f"l{level} <= {rows}.project('y')",
            f"c{level} <= self.m{level}.gt(2)",
            f"c{level} <= self.z{level}.contains(1)",
            f"c{level} <= self.u{level}.at(1).contains(2)",
            f"c{level} <= self.c{level}.both(self.c{lower})",
            f"u{level} <= {rows}",
            f"u{level} <= self.u{level}.intersect(self.u{lower})",
            f"z{level} <= self.u{level}.at(1)",
            f"z{level} <= self.u{level}.key_set()",
            f"z{level} <= self.b{level}.element_set()",
            f"z{level} <= self.z{level}.union(self.z{lower})",
            f"n{level} <= self.u{level}.each_size()",
            f"n{level} <= self.v{level}.at(1)",
            f"n{level} <= self.n{level}.only(self.z{level})",
            f"v{level} <= {rows}.map(lambda r: (r[0], r[1], r[0]))",
            f"b{level} <= {rows}.map(lambda r: (r[0], r[1]))",
            f"u{level} <+ {self.rows(LEVELS - 1, 1)}",
            f"l{level} <+ self.l{lower}.minus(1)" if chance.random() < 0.2 else f"l{level} <= self.l{lower}",
        ]
        if level:
            more += [
                f"z{level} <= self.z{lower}.product(lset.of([1]))",
                f"z{level} <= self.z{lower}.without(self.z0)",
                f"b{level} <= self.b{lower}.plus(self.b{lower})",
            ]
        return chance.choice(more) if chance.random() < 0.7 else super()._lattice_rule(level)

    # -- expressions ---------------------------------------------------------------------------------------------

    def _collection(self, level: int) -> str:
        chance = self._chance
        kind = chance.random()
        if kind < 0.12:
            return f"self.{chance.choice(['i', 'arriving', 'back'])}"
        if kind < 0.15:
            return 'self.timer.rename("x", "y")'
        known = [name for name, of in self._temps if of <= level]
        if kind < 0.25 and known:
            return f'self.temp.{chance.choice(known)}.rename("x", "y")'
        if kind < 0.32 and level:
            return f"self.inner.{chance.choice(['view', 'best', 'kept', 'every'])}"
        name = f"{chance.choice(self._kinds)}{chance.randint(0, level)}"
        return f'self.{name}.project("x", "v").rename("x", "y")' if name[0] == "w" else f"self.{name}"

    def _triple(self, level: int, depth: int) -> str:
        kinds = [kind for kind in self._kinds if kind != "w"]
        a, b, c = (f"self.{self._chance.choice(kinds)}{self._chance.randint(0, level)}" for _ in range(3))
        if len({a, b, c}) < 3:
            return f'({a} * {b}).lefts(x="y")'
        matches = f"{a}.y == {b}.x, {self._chance.choice([a, b])}.x == {c}.y"
        return f"({a} * {b} * {c}).pairs({matches}, lambda p, q, r: (q.y, r.x))"

    def _looking(self, level: int, depth: int) -> str:
        """A function of what others change: it need not give the same twice."""
        function = self._chance.choice(
            [
                ".map(lambda r: (r.x, WORLD.clock[0]))",
                ".filter(lambda r: r.y != WORLD.clock[0])",
                ".flat_map(lambda r: [(r.x, v) for v in WORLD.seen])",
                '.map(lambda r: (r.y, WORLD.names["limit"]) if r.x != WORLD.names["limit"] else None)',
                ".filter(lambda r: r.x in WORLD.seen)",
                ".map(lambda r: (r.x, max(r.y, SETTINGS.limit)))",
                ".map(lambda r: (r.x, max(r.y, SETTINGS.limit)))",
                ".filter(lambda r: abs(r.y) >= SETTINGS.limit)",
                ".filter(lambda r: abs(r.y) >= SETTINGS.limit)",
            ]
        )
        return self.rows(level, depth - 1) + function

    def _strange(self, level: int, depth: int) -> str:
        """Values that are made immutable on their way, or cannot be kept."""
        function = self._chance.choice(
            [
                ".map(lambda r: (r.x, [r.y]))",
                ".map(lambda r: [r.x, {r.y, 1}])",
                ".map(lambda r: (r.x, float('nan') if r.y == 2 else r.y))",
                ".map(lambda r: (r.x, {} if r.y == 1 else r.y))",
                ".flat_map(lambda r: [(r.x, r.y), (r.x, r.y), (r.y,)])",
                ".map(lambda r: (r.x, r.y + 2**62))",
            ]
        )
        # Nested no deeper: a recursion would go on for ever.
        return f"{self._collection(level)}{function}" if level else self._collection(level)

    def _maps(self, level: int, depth: int) -> str:
        return self._chance.choice(
            [
                f"self.u{level}.elements()",
                f"self.u{level}.at(1).elements('x').map(lambda r: (r.x, 1))",
                f"self.z{level}.union(self.z0).elements('x').map(lambda r: (r.x, 2))",
                f"self.u{level}.intersect(self.u0).elements()",
                f"self.c{level}.when_true({self.rows(level, depth - 1)})",
                f"self.n{level}.has_key(1).when_true({self.rows(level, depth - 1)})",
                f"self.u{level}.at(1).size().gt(1).when_true({self.rows(level, depth - 1)})",
                f"self.l{level}.lt(2).when_true({self.rows(level, depth - 1)})",
            ]
        )

    def _maps_of_lower(self, level: int, depth: int) -> str:
        rows = self.rows(level, depth - 1)
        return self._chance.choice(
            [
                f"self.v{level - 1}.at(1).elements()",
                f"self.v{level - 1}.elements().map(lambda r: (r[0], r[2]))",
                f"self.c{level - 1}.negated().when_true({rows})",
                f"self.l{level - 1}.gt(1).when_true({rows})",
                f"self.l{level - 1}.elements('x').map(lambda r: (r.x, 0))",
                f"self.z{level}.without(self.z{level - 1}).elements('x').map(lambda r: (r.x, 3))",
                f"self.c{level - 1}.elements('x').map(lambda r: (r.x, 5))",
            ]
        )

    def _looking_over_all(self, level: int, depth: int) -> str:
        return f'{self.rows(level - 1, depth - 1)}.reduce({{}}, above, columns=["x", "y"])'

    def _two_aggregates(self, level: int, depth: int) -> str:
        source, chance = self.rows(level - 1, depth - 1), self._chance
        return chance.choice(
            [
                f'{source}.group(["x"], agg.max("y"), agg.min("y")).map(lambda r: (r[1], r[2]))',
                f'{source}.group(["y"], agg.avg("x"), agg.sum("x")).map(lambda r: (r[0], r[1]))',
                f'{source}.group(["x", "y"], agg.count()).map(lambda r: (r[0], r[2]))',
                # Several rows of a group with one value.
                f'{source}.group([], agg.count("x"), agg.count("y")).map(lambda r: (r[0], r[1]))',
                f'{source}.group([], agg.accum("x"), agg.max("y")).map(lambda r: (len(r[0]), r[1]))',
                f'self.w{level - 1}.group(["x"], {chance.choice(_WIDE_AGGREGATES)})',
                f'self.w{level - 1}.group([], agg.bool_or("v"), agg.sum("v")).map(lambda r: (r[0], r[1]))',
                f'self.w{level - 1}.argmax(["x"], "v").project("y", "v")',
                f'({source} * self.i).outer(lambda p, q: (p.x, q.y), x="x")',
                f'({source} * {self.rows(level - 1, 0)}).outer(lambda p, q: (q.x, p.y), x="x", y="y")',
            ]
        )

    _FORMS: Sequence[Callable[[Any, int, int], str]] = [
        *(form for form in Drawing._FORMS if form is not Drawing._triple),
        *(_triple, _looking, _strange, _maps, _maps),
    ]
    _STRICT_FORMS: Sequence[Callable[[Any, int, int], str]] = [
        *Drawing._STRICT_FORMS,
        *(_maps_of_lower, _looking_over_all, _two_aggregates, _two_aggregates),
    ]
