"""Recursion through lattices within a step: checked programs have the rows of the runtime, or are refused.

Programs are drawn from all functions of the lattices that can be checked.  Nothing keeps them from having cycles
that mean nothing, or never end: what the runtime refuses, checking refuses with the same words, and what checking
refuses as endless is seen to be endless in a runtime that gives up after some rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

import clew
from bloom.lockstep import NODES, Inserted, assert_same_rows, made_module
from bloom.to_program.endless import ends
from clew.bloom.language.declarations import bloom, lbool, lmax, lmin, lpset, lset, scratch, table
from clew.bloom.language.module import Module, program_of
from clew.bloom.language.setting import checked
from clew.bloom.runtime.machine import Machine
from clew.bloom.to_program.recursion import find_recursion
from clew.errors import ProgramError

EOT = 3
MOST_VALUES = 5_000

NUMBERS = st.integers(-1, 4)
MIXED = st.sampled_from([0, 1, 2, 3, "a", None, (1, "a")])


#: An expression is a name and its operands: what it is made of is easy to read when a test fails.
Recipe = tuple[Any, ...]

#: What there is of each kind, by name; the kinds are those of the operands.
_ROWS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "given": ((), lambda m: m.s0.project(0)),
    "given_y": ((), lambda m: m.s0.project(1)),
    "s": ((), lambda m: m.s),
    "t": ((), lambda m: m.t),
    "elements": (("lset",), lambda m, e: e.elements()),
    "numbers": (("lpset",), lambda m, e: e.elements()),
    "best": (("lmax",), lambda m, e: e.elements()),
    "when": (("lbool", "rows"), lambda m, b, r: b.when_true(r)),
    "then": (("lbool",), lambda m, b: b.when_true([(4,)])),
    "step": (("rows",), lambda m, r: r.map(lambda x: (x[0] + 1,) if x[0] in (0, 1, 2) else None).rename("x")),
    "pair": (("rows",), lambda m, r: r.map(lambda x: ((x[0], 1),) if x[0] == 2 else None)),
    "same": (("rows", "rows"), lambda m, r, q: (r.rename("x") * q.rename("y")).lefts(x="y")),
}
_LMAX: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "mx": ((), lambda m: m.mx),
    "mx2": ((), lambda m: m.mx2),
    "one": ((), lambda m: lmax.of(1)),
    "up": (("lmax",), lambda m, e: e.plus(1)),
    "down": (("lmax",), lambda m, e: e.minus(1)),
    "far": (("lmax",), lambda m, e: e.plus(-2)),
    "size": (("lset",), lambda m, e: e.size()),
    "count": (("lpset",), lambda m, e: e.size()),
    "sum": (("lpset",), lambda m, e: e.sum()),
}
_LMIN: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "mn": ((), lambda m: m.mn),
    "mn2": ((), lambda m: m.mn2),
    "three": ((), lambda m: lmin.of(3)),
    "up": (("lmin",), lambda m, e: e.plus(1)),
    "down": (("lmin",), lambda m, e: e.minus(1)),
    "far": (("lmin",), lambda m, e: e + 2),
}
_LBOOL: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "lb": ((), lambda m: m.lb),
    "lb2": ((), lambda m: m.lb2),
    "gt": (("lmax",), lambda m, e: e.gt(2)),
    "gt_eq": (("lmax",), lambda m, e: e.gt_eq(2)),
    "lt": (("lmin",), lambda m, e: e.lt(1)),
    "lt_eq": (("lmin",), lambda m, e: e.lt_eq(1)),
    "contains": (("lset",), lambda m, e: e.contains(2)),
    "holds": (("lpset",), lambda m, e: e.contains(3)),
    "both": (("lbool", "lbool"), lambda m, a, b: a.both(b)),
    "either": (("lbool", "lbool"), lambda m, a, b: a.either(b)),
    "negated": (("lbool",), lambda m, a: a.negated()),
}
_LSET: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "ls": ((), lambda m: m.ls),
    "ls2": ((), lambda m: m.ls2),
    "two": ((), lambda m: lset.of([0, 2])),
    "union": (("lset", "lset"), lambda m, a, b: a.union(b)),
    "intersect": (("lset", "lset"), lambda m, a, b: a.intersect(b)),
    "product": (("lset", "lset"), lambda m, a, b: a.product(b)),
    "without": (("lset", "lset"), lambda m, a, b: a.without(b)),
}
_LPSET: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "lp": ((), lambda m: m.lp),
    "lp2": ((), lambda m: m.lp2),
    "union": (("lpset", "lpset"), lambda m, a, b: a.union(b)),
    "intersect": (("lpset", "lpset"), lambda m, a, b: a.intersect(b)),
}
KINDS = {"rows": _ROWS, "lmax": _LMAX, "lmin": _LMIN, "lbool": _LBOOL, "lset": _LSET, "lpset": _LPSET}

#: A value for every lattice that can get larger by itself.
SEEDS: list[tuple[str, str, Recipe]] = [
    *((name, "<=", ("lset", "two")) for name in ("ls", "ls2")),
    *((name, "<=", ("lmax", "one")) for name in ("mx", "mx2")),
    *((name, "<=", ("lmin", "three")) for name in ("mn", "mn2")),
]

#: What rules derive, and from what: rows, or an expression of the lattice.
TARGETS = {
    **dict.fromkeys(("s", "t"), ("rows",)),
    **{f"{name}{n}": (kind, "rows") for name, kind in (("mx", "lmax"), ("mn", "lmin")) for n in ("", "2")},
    **{f"lb{n}": ("lbool",) for n in ("", "2")},
    **{f"ls{n}": ("lset", "rows") for n in ("", "2")},
    **{f"lp{n}": ("lpset", "rows") for n in ("", "2")},
}


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int) -> Recipe:
    known = KINDS[kind]
    names = sorted(name for name, (operands, _) in known.items() if depth > 0 or not operands)
    name = draw(st.sampled_from(names))
    return (kind, name, *(draw(expressions(operand, depth - 1)) for operand in known[name][0]))


@st.composite
def rules(draw: st.DrawFn) -> tuple[str, str, Recipe]:
    target = draw(st.sampled_from(sorted(TARGETS)))
    op = draw(st.sampled_from(["<=", "<=", "<=", "<=", "<+"]))
    return target, op, draw(expressions(draw(st.sampled_from(TARGETS[target])), 2))


def _expression(module: Any, recipe: Recipe) -> Any:
    kind, name, *operands = recipe
    return KINDS[kind][name][1](module, *(_expression(module, operand) for operand in operands))


def _program(recipes: list[tuple[str, str, Recipe]], rows: dict[Any, Any]) -> type[Module]:
    def block(self: Any) -> None:
        self.ls <= self.s0.project(0)
        self.mx <= self.s0.project(1)
        self.mn <= self.s0.project(1)
        self.lp <= self.s0.project(1)
        for target, op, recipe in recipes:
            left, right = getattr(self, target), _expression(self, recipe)
            if op == "<=":
                left <= right
            else:
                left <+ right

    body: dict[str, Any] = {
        "s0": scratch("x", "y"),
        "s": scratch("x"),
        "t": table("x"),
        **{f"mx{n}": lmax() for n in ("", "2")},
        **{f"mn{n}": lmin() for n in ("", "2")},
        **{f"lb{n}": lbool() for n in ("", "2")},
        **{f"ls{n}": lset() for n in ("", "2")},
        **{f"lp{n}": lpset() for n in ("", "2")},
        "rules": bloom(block),
        "setting": checked(nodes=NODES, eot=EOT, given={"a": rows}),
    }
    return made_module(body)


def _compare(recipes: list[tuple[str, str, Recipe]], early: list[Any], late: list[Any]) -> str:
    """What became of a program: it agrees, or why it was refused."""
    note(repr(recipes))
    times = {1: {"s0": early}, 2: {"s0": late}}
    inserted: Inserted = {("a", time): list(rows.items()) for time, rows in times.items()}
    program = _program(recipes, times)
    try:
        Machine(program_of(program), "a")
    except ProgramError as refused:
        with pytest.raises(ProgramError) as caught:
            clew.run(program)
        assert caught.value.message == refused.message
        return "refused by the runtime"
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("clew.engine.callbacks.MOST_OPERATIONS", MOST_VALUES)
            clew.run(program)
    except ProgramError as refused:
        assert refused.position is not None
        if "a step may never end: " in refused.message:
            assert not ends(program, inserted, EOT)
            return "too many values"
        assert refused.message.startswith("Generated.rules: ")
        assert "(" not in refused.message.split(" depends on itself (")[0], "no name that only Clew knows"
        if "within one step, without end" in refused.message:
            # It is refused even if no number, or no element, ever comes in; what it is paired with may be empty.
            paired_with_nothing = "pairs of its own" in refused.message and "'without'" in repr(recipes)
            seeded = _program([*recipes, *SEEDS], {})
            assert not ends(program, inserted, EOT) or not ends(seeded, {}, EOT) or paired_with_nothing
            return "endless"
        assert "is merged into a lattice that depends on itself" in refused.message
        assert any(not isinstance(value, int) for row in (*early, *late) for value in row)
        return "adds to what is no number"
    assert ends(program, inserted, EOT)
    assert_same_rows(program, inserted, EOT)
    strata = find_recursion(program_of(program)).strata
    return "same, with recursion" if any(stratum.recursive for stratum in strata) else "same"


#: Every program is compiled anew.
HALF = settings().max_examples // 2
SMALL = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3)


@settings(max_examples=HALF)
@given(st.lists(rules(), min_size=1, max_size=6), SMALL, SMALL)
def test_recursion_through_lattices_is_that_of_the_runtime(
    recipes: list[tuple[str, str, Recipe]], early: list[Any], late: list[Any]
) -> None:
    event(_compare(recipes, early, late))


#: A set, what is counted or added up of it, and what more there is in it once there is enough.
FEEDBACK = st.sampled_from(
    [
        [
            (target, "<=", (kind, name)),
            ("mx2", "<=", ("lmax", measure, (kind, name))),
            ("lb", "<=", test),
            (name, "<=", more),
        ]
        for kind, name, target, measure in (
            ("lset", "ls", "ls2", "size"),
            ("lpset", "lp", "lp2", "count"),
            ("lpset", "lp", "lp2", "sum"),
        )
        for test in (("lbool", "gt", ("lmax", "mx2")), ("lbool", "gt_eq", ("lmax", measure, (kind, name))))
        for more in (("rows", "then", ("lbool", "lb")), ("rows", "when", ("lbool", "lb"), ("rows", "given")))
    ]
)


@settings(max_examples=HALF)
@given(FEEDBACK, st.lists(rules(), max_size=2), SMALL, SMALL)
def test_sizes_and_sums_that_feed_back_are_those_of_the_runtime(
    feedback: list[tuple[str, str, Recipe]],
    recipes: list[tuple[str, str, Recipe]],
    early: list[Any],
    late: list[Any],
) -> None:
    event(_compare([*feedback, *recipes], early, late))


@settings(max_examples=HALF)
@given(st.lists(rules(), min_size=1, max_size=4), st.lists(st.tuples(MIXED, MIXED), max_size=3))
def test_values_of_several_types_are_merged_as_in_the_runtime(
    recipes: list[tuple[str, str, Recipe]], rows: list[Any]
) -> None:
    event(_compare(recipes, rows, []))
