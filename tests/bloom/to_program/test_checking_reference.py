"""Compiled programs do what the runtime does: generated programs, all rows at all nodes and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from bloom.lockstep import EOT, NODES, assert_same_rows, made_module
from clew.bloom.ir import aggregates as agg
from clew.bloom.language.declarations import (
    bloom,
    channel,
    lbool,
    lmax,
    lmin,
    loopback,
    lset,
    periodic,
    scratch,
    table,
)
from clew.bloom.language.module import Module
from clew.bloom.language.setting import EVERY, checked

#: The collections, all with two columns; a rule ``<=`` reads those before its target, and has no cycle.
LEVELS = ["t0", "s0", "chan", "loop", "timer", "s1", "t1", "s2", "t2", "s3"]
DERIVED = ["s1", "t1", "s2", "t2", "s3"]

VALUES = st.sampled_from([0, 1, 2, "a", "b", None, (1, "a"), (), True])
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=3)

#: Ways to make rows of rows.  Half of them are seen through, the others are called.
_ONE: dict[str, Callable[[Any], Any]] = {
    "same": lambda r: r,
    "swap": lambda r: r.map(lambda x: (x[1], x[0])),
    "here": lambda r: r.filter(lambda x: x[0] != 1).map(lambda x: (x[1], x[0])),
    "nest": lambda r: r.map(lambda x: ((x[0], 7), x[1]) if x[0] == x[1] else None),
    "item": lambda r: r.map(lambda x: (x[1][0], x[0])),
    "step": lambda r: r.map(lambda x: (x[0] + 1, x[1])),
    "less": lambda r: r.filter(lambda x: x[0] < x[1]),
    # Not str(x[0]): True and 1 are equal, but not their texts.
    "text": lambda r: r.map(lambda x: (f"{x[0]}!" if isinstance(x[0], str) else x[1], x[0])),
    "both": lambda r: r.flat_map(lambda x: [(x[0], 0), (x[1], 1)]),
    "many": lambda r: r.flat_map(lambda x: [(x[0], k) for k in range(2)]).rename("p", "q"),
    "count": lambda r: r.group([0], agg.count()),
    "kinds": lambda r: r.group([1], agg.count(0)),
    "sum": lambda r: r.map(lambda x: (x[0], 1 if x[1] == 0 else 3)).group([0], agg.sum(1)),
    "min": lambda r: r.group([0], agg.min(1)),
    "max": lambda r: r.group([0], agg.max(1)),
    "choose": lambda r: r.group([], agg.choose(0), agg.max(1)),
    "and": lambda r: r.group([0], agg.bool_and(1)),
    "or": lambda r: r.group([0], agg.bool_or(1)),
    "argmin": lambda r: r.argmin([0], 1),
    "argmax": lambda r: r.argmax([], 1),
    "project": lambda r: r.project(1, 1).rename("p", "q"),
}
_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "pairs": lambda r, s: (r * s.rename("p", "q")).pairs(y="p").map(lambda x, z: (x[0], z[1])),
    "cross": lambda r, s: (r * s).pairs(lambda x, z: (x[1], z[0])),
    "lefts": lambda r, s: (r * s.rename("p", "q")).lefts(x="q"),
    "rights": lambda r, s: (r * s.rename("p", "q")).rights(x="p"),
    "outer": lambda r, s: (r * s.rename("p", "q")).outer(x="p").map(lambda x, z: (x[1], z[1])),
    "notin": lambda r, s: r.notin(s),
    "notin_x": lambda r, s: r.notin(s, x="y"),
    "notin_twice": lambda r, s: r.notin(s, x="x", y="x"),
}


@st.composite
def expressions(draw: st.DrawFn, readable: list[str]) -> tuple[str, ...]:
    """A name of a collection, or of an operation with one or two collections; then one more operation."""
    inner = draw(st.sampled_from(sorted(_ONE)))
    outer = draw(st.sampled_from(sorted(_ONE)))
    two = draw(st.sampled_from(["", *sorted(_TWO)]))
    names = draw(st.tuples(st.sampled_from(readable), st.sampled_from(readable)))
    return inner, two, outer, *names


@st.composite
def rules(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    op = draw(st.sampled_from(["<=", "<=", "<=", "<+", "<-", "<~"]))
    if op == "<=":
        target = draw(st.sampled_from(DERIVED))
        readable = LEVELS[: LEVELS.index(target)]
    else:
        targets = {"<+": ["t0", "s0", "t1", "s1"], "<-": ["t0", "t1", "t2"], "<~": ["chan", "loop"]}
        target, readable = draw(st.sampled_from(targets[op])), LEVELS
    return target, op, draw(expressions(readable))


def _named(relation: Any) -> Any:
    return relation.rename("x", "y")


def _expression(module: Any, recipe: tuple[str, ...]) -> Any:
    inner, two, outer, first, second = recipe
    found = _named(_ONE[inner](_named(getattr(module, first))))
    if two:
        found = _named(_TWO[two](found, _named(getattr(module, second))))
    return _named(_ONE[outer](found))


def _block(recipes: list[tuple[str, str, tuple[str, ...]]]) -> Callable[[Any], None]:
    def rules(self: Any) -> None:
        for target, op, recipe in recipes:
            left, right = getattr(self, target), _expression(self, recipe)
            match op:
                case "<=":
                    left <= right
                case "<+":
                    left <+ right
                case "<-":
                    left <- right
                case "<~" if target == "chan":
                    # Some rows find their way to the other node.
                    left <~ right.map(lambda x: ("b" if x[0] == 1 else "a", x[1]))
                case "<~":
                    left <~ right

    return rules


def _program(recipes: list[tuple[str, str, tuple[str, ...]]], rows: dict[Any, Any]) -> type[Module]:
    body = {
        **{name: scratch("x", "y") for name in ("s0", "s1", "s2", "s3")},
        **{name: table("x", "y") for name in ("t0", "t1", "t2")},
        "chan": channel("@x", "y"),
        "loop": loopback("x", "y"),
        "timer": periodic(1),
        "rules": bloom(_block(recipes)),
        "setting": checked(nodes=NODES, eot=EOT, given=rows),
    }
    return made_module(body)


@given(st.lists(rules(), min_size=1, max_size=6), ROWS, ROWS, ROWS)
def test_rows_are_those_of_the_runtime(
    recipes: list[tuple[str, str, tuple[str, ...]]], early: list[Any], every: list[Any], late: list[Any]
) -> None:
    note(repr(recipes))
    program = _program(recipes, {"a": {"t0": early, 3: {"s0": late}}, EVERY: {"s0": every}})
    inserted = {("a", 1): [("t0", early)], ("a", 3): [("s0", late)]}
    for node in NODES:
        inserted.setdefault((node, 1), []).append(("s0", every))

    assert_same_rows(program, inserted)


#: What is made of the lattices: rows with one column.
_READ: dict[str, Callable[[Any], Any]] = {
    "mx": lambda m: m.mx.elements(),
    "mn": lambda m: m.mn.elements(),
    "set": lambda m: m.ls.elements(),
    "size": lambda m: m.ls.size().elements(),
    "product": lambda m: m.ls.product(m.other).elements(),
    "intersect": lambda m: m.ls.intersect(m.other).elements(),
    "union": lambda m: m.ls.union(m.other).elements(),
    "without": lambda m: m.ls.without(m.other).elements(),
    "plus": lambda m: m.mx.plus(2).elements(),
    "gt": lambda m: m.mx.gt(1).when_true(m.s0.project(0)),
    "lt": lambda m: m.mx.lt(2).when_true(m.s0.project(1)),
    "min_lt": lambda m: m.mn.lt_eq(1).when_true([("low",)]),
    "contains": lambda m: m.ls.contains(2).elements(),
    "bool": lambda m: m.lb.when_true([("true",)]),
    "negated": lambda m: m.lb.negated().when_true([("false",)]),
    "both": lambda m: m.lb.both(m.ls.contains("a")).when_true([("both",)]),
    "either": lambda m: m.lb.either(m.ls.contains("a")).when_true([("either",)]),
    "enough": lambda m: m.ls.size().gt_eq(2).when_true([("enough",)]),
}
_MERGED: dict[str, Callable[[Any, Any], Any]] = {
    "mx": lambda m, r: m.mx <= r.project(0),
    "mx_next": lambda m, r: m.mx <+ r.project(1),
    "mx_grows": lambda m, r: m.mx <+ m.mx.plus(1),
    "mn": lambda m, r: m.mn <= r.project(1),
    "ls": lambda m, r: m.ls <= r.project(0),
    "pairs": lambda m, r: m.ls <= r,
    "other": lambda m, r: m.other <+ r.project(1),
    "lb": lambda m, r: m.lb <= r.filter(lambda x: x.x == 2).map(lambda x: (True,)),
    "lb_gt": lambda m, r: m.lb <= m.mx.gt(1),
}


@given(st.lists(st.sampled_from(sorted(_MERGED)), min_size=1), st.sampled_from(sorted(_READ)), ROWS, ROWS, ROWS)
def test_lattices_are_those_of_the_runtime(
    merged: list[str], read: str, early: list[Any], later: list[Any], latest: list[Any]
) -> None:
    def rules(self: Any) -> None:
        for name in merged:
            _MERGED[name](self, self.s0)
        self.found <= _READ[read](self)

    times = {1: {"s0": early}, 2: {"s0": later}, 3: {"s0": latest}}
    body = {
        "s0": scratch("x", "y"),
        "found": scratch("x"),
        "mx": lmax(),
        "mn": lmin(),
        "ls": lset(),
        "other": lset(),
        "lb": lbool(),
        "timer": periodic(1),
        "rules": bloom(rules),
        "setting": checked(nodes=NODES, eot=EOT, given={"a": times}),
    }
    inserted = {("a", time): list(rows.items()) for time, rows in times.items()}
    assert_same_rows(made_module(body), inserted)
