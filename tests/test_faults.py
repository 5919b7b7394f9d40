"""The failure model: what is admissible, and the published numbers of combinations."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.engine.fault_semantics import Arrivals
from clew.faults import (
    KINDS,
    Crash,
    Delay,
    Duplicate,
    FailureSpec,
    Fault,
    FaultSet,
    Input,
    Loss,
    NodeName,
    Partition,
    Pause,
    Pick,
    Restart,
    Stop,
    fault_key,
    groups_of,
    make_fault,
    name_group,
)

SOURCE = Path(clew.__file__).parent

#: Where faults of one kind are picked out, and what becomes of the others does not matter.
SELECTING = ("faults/sets.py", "lineage/minimal.py", "engine/fault_semantics.py")

SPEC = FailureSpec(("a", "b", "c"), eot=5, eff=3, crashes=1, delays=1)
#: Bounds that allow every kind.
EVERY = FailureSpec(
    ("a", "b", "c"), 6, 4, crashes=1, delays=1, duplicates=1, restarts=2, pauses=1, partitions=1, stops=1
)


@pytest.mark.parametrize(
    ("program", "nodes", "eot", "eff", "crashes", "published"),
    [
        ("simple-deliv", 3, 4, 2, 0, "4.10e+03"),
        ("retry-deliv", 3, 4, 2, 1, "4.07e+04"),
        ("classic-deliv", 3, 5, 3, 0, "2.62e+05"),
        ("2pc", 4, 5, 0, 1, "24"),
        ("2pc-ctp", 4, 8, 0, 1, "36"),
        ("3pc", 4, 9, 7, 1, "2.43e+26"),
        ("kafka", 5, 6, 4, 1, "1.85e+25"),
        ("redun-deliv", 3, 11, 10, 1, "8.07e+18"),
        ("ack-deliv", 3, 8, 7, 1, "3.08e+13"),
        ("paxos-synod", 3, 7, 6, 1, "4.81e+11"),
        ("bully-le", 3, 10, 9, 1, "1.26e+17"),
        ("flux", 4, 22, 21, 1, "6.20e+76"),
    ],
)
def test_combinations_are_the_published_ones(
    program: str, nodes: int, eot: int, eff: int, crashes: int, published: str
) -> None:
    number = FailureSpec(tuple("abcde"[:nodes]), eot, eff, crashes).combinations()
    assert (f"{number:.2e}" if number > 1000 else str(number)) == published


def test_delays_multiply_the_combinations() -> None:
    assert FailureSpec(("a", "b"), 3, delays=1).combinations() == 2 ** (2 * 2)


@pytest.mark.parametrize(
    ("faults", "admitted"),
    [
        ([], True),
        ([Loss("a", "b", 1), Loss("a", "b", 2)], True),
        ([Loss("a", "b", 3)], False),  # losses happen before EFF
        ([Loss("a", "a", 1)], False),  # nobody loses a message to oneself
        ([Loss("a", "z", 1)], False),
        ([Crash("a", 4)], True),
        ([Crash("a", 5)], False),  # crashes happen before EOT
        ([Crash("a", 0)], False),
        ([Crash("a", 1), Crash("b", 1)], False),
        ([Crash("a", 1), Crash("a", 2)], False),
        ([Delay("a", "b", 4, 1)], True),
        ([Delay("a", "b", 4, 2)], False),
        ([Loss("a", "b", 1), Delay("a", "b", 1, 1)], False),
    ],
)
def test_what_is_admissible(faults: list[Fault], admitted: bool) -> None:
    assert SPEC.admits(FaultSet.of(faults)) is admitted


@pytest.mark.parametrize(
    ("faults", "admitted"),
    [
        ([Restart("a", 1, 4), Restart("b", 2, 3)], True),
        ([Restart("a", 1, 2), Restart("a", 3, 4)], True),  # twice
        ([Restart("a", 1, 2), Restart("a", 2, 4)], True),  # the second begins where the first ends
        ([Restart("a", 1, 3), Restart("a", 2, 4)], False),  # the node is down already
        ([Restart("a", 1, 2), Restart("b", 1, 2), Restart("c", 1, 2)], False),  # too many
        ([Restart("a", 2, 5)], False),  # not over by EFF
        ([Restart("a", 2, 2)], False),
        ([Restart("a", 0, 2)], False),
        ([Restart("z", 1, 2)], False),
        ([Restart("a", 1, 3), Crash("a", 3)], True),
        ([Restart("a", 1, 3), Crash("a", 2)], False),
        ([Restart("a", 2, 3), Crash("a", 1)], False),  # it has crashed for good
        ([Restart("a", 1, 3), Pause("a", 2, 4)], False),
        ([Restart("a", 1, 3), Pause("a", 3, 4)], True),
        ([Pause("a", 2, 4), Crash("a", 3)], False),
        ([Stop("a", 5)], True),
        ([Stop("a", 6)], False),  # at EOT
        ([Stop("a", 1), Stop("b", 1)], False),  # too many
        ([Stop("a", 1), Crash("a", 3)], False),  # it has crashed for good
        ([Stop("a", 1), Crash("b", 3)], True),
        ([Restart("a", 1, 3), Stop("a", 3)], True),
        ([Pause("a", 1, 3), Stop("a", 2)], False),
        ([Partition(("a",), 1, 4)], True),
        ([Partition(("b", "c"), 1, 4)], False),  # the same as {a}, which names it
        ([Partition((), 1, 4)], False),
        ([Partition(("a",), 1, 5)], False),
        ([Partition(("a",), 1, 4), Restart("a", 1, 4), Loss("a", "b", 1)], True),
        ([Duplicate("a", "b", 1, 2)], True),
        ([Duplicate("a", "b", 1, 3)], False),  # the second arrival is after EFF
        ([Duplicate("a", "b", 1, 1), Loss("a", "b", 1)], False),
        ([Duplicate("a", "b", 1, 1), Delay("a", "b", 1, 1)], False),
    ],
)
def test_which_faults_that_pass_are_admissible(faults: list[Fault], admitted: bool) -> None:
    assert EVERY.admits(FaultSet.of(faults)) is admitted


def test_a_partition_is_named_by_its_smaller_side() -> None:
    four = ("a", "b", "c", "d")
    assert len(list(groups_of(four))) == 2**3 - 1
    assert all(name_group(group, four) == group for group in groups_of(four))
    assert name_group(["b", "c", "d"], four) == ("a",)
    assert name_group(["c", "d"], four) == ("a", "b")
    assert name_group(["b", "a"], four) == ("a", "b")
    assert name_group(["z"], four) == ("z",)


def test_single_faults_are_those_that_are_admissible_alone() -> None:
    listed = list(SPEC.possible_faults())
    assert len(listed) == len(set(listed)) == 2 * 6 + 4 * 3 + 4 * 6
    assert all(SPEC.admits(FaultSet.of([f])) for f in listed)


def test_no_losses_with_eff_0_or_1() -> None:
    assert [
        *Loss.possible(FailureSpec(("a", "b"), 5, 0)),
        *Loss.possible(FailureSpec(("a", "b"), 5, 1)),
    ] == []


def test_fault_sets_have_one_order_and_the_notation_of_the_paper() -> None:
    one = FaultSet.of([Crash("a", 2), Loss("b", "a", 1), Loss("a", "b", 1)])
    other = FaultSet.of([Loss("a", "b", 1), Crash("a", 2), Loss("b", "a", 1), Crash("a", 2)])
    assert one == other
    assert str(one) == "O(a,b,1) O(b,a,1) C(a,2)"
    assert str(FaultSet()) == "no fault"
    assert str(FaultSet.of([Delay("a", 2, 1, 3)])) == "D(a,2,1,3)"


# Nothing takes an unknown kind for granted.


#: Of inputs and choices, the program says which are possible.
FAILURES = [kind for kind in KINDS if kind.kind.is_failure]


@pytest.mark.parametrize("kind", [Input, Pick], ids=lambda kind: kind.name)
def test_what_is_given_declares_a_relation_a_row_and_a_time(kind: type[Input | Pick]) -> None:
    given = kind("write", ("a", 1, None, ("b", 2)), 3)
    assert given.parts == tuple(getattr(given, field.name) for field in fields(given))
    assert kind.kind.columns == ("relation", "row", "time")
    assert make_fault(kind, given.parts) == given
    assert str(given) == f"{kind.kind.letter}(write(a, 1, None, ('b', 2)),3)"
    assert fault_key(given)[0] == KINDS.index(kind)
    swapped: dict[NodeName, NodeName] = {"a": "b", "b": "a", 1: 1, 2: 2}
    assert given.rename(swapped.__getitem__) == kind("write", ("b", 1, None, ("a", 2)), 3)
    assert list(kind.possible(EVERY)) == []  # of the bounds alone
    assert EVERY.admits(FaultSet.of([given]))
    assert not EVERY.admits(FaultSet.of([kind("write", ("a",), 7)]))  # after EOT


def test_what_is_given_costs_no_fault() -> None:
    both = FaultSet.of([Input("write", ("a", 1), 2), Pick("leader", ("a", "b"), 2), Loss("a", "b", 1)])
    assert both.weight == (1, 2)
    assert both.count_text() == "1 fault with 1 input and 1 choice"
    assert both.given.count_text() == "1 input, 1 choice and no fault"
    assert FaultSet.of([Crash("a", 2), Loss("a", "b", 1)]).sort_key() > both.sort_key()


def test_inputs_are_bounded_in_number_where_the_bounds_say_so() -> None:
    two = FaultSet.of([Input("write", ("a", value), 2) for value in (1, 2)])
    assert [replace(EVERY, inputs=most).admits(two) for most in (None, 0, 1, 2)] == [True, False, False, True]


@pytest.mark.parametrize("kind", FAILURES, ids=lambda kind: kind.name)
def test_what_a_kind_declares_is_in_line_with_its_fields(kind: type[Fault]) -> None:
    possible: list[Fault] = list(kind.possible(EVERY))
    fault = possible[0]
    assert fault.parts == tuple(getattr(fault, field.name) for field in fields(fault))
    assert len(fault.parts) == len(kind.kind.columns)
    first, *_ = fault.parts
    assert fault.nodes == (first if kind.kind.group else fault.parts[: len(kind.kind.nodes)])
    assert fault.time == fault.parts[len(kind.kind.nodes)]
    assert make_fault(kind, fault.parts) == fault
    shown = [f"{{{','.join(map(str, p))}}}" if isinstance(p, tuple) else str(p) for p in fault.parts]
    assert str(fault) == f"{kind.kind.letter}({','.join(shown)})"
    assert fault_key(fault)[0] == KINDS.index(kind)


@pytest.mark.parametrize("kind", FAILURES, ids=lambda kind: kind.name)
def test_possible_faults_are_admitted_and_widen_the_bounds_to_themselves(kind: type[Fault]) -> None:
    nothing = FailureSpec(EVERY.nodes, EVERY.eot)
    assert list(kind.possible(nothing)) == []
    for fault in kind.possible(EVERY):
        assert fault.is_within(EVERY)
        assert not nothing.admits(FaultSet.of([fault]))
        assert fault in kind.possible(fault.widen(nothing))
        assert fault.widen(nothing).admits(FaultSet.of([fault]))


@pytest.mark.parametrize("kind", FAILURES, ids=lambda kind: kind.name)
def test_renaming_moves_all_that_a_fault_hits(kind: type[Fault]) -> None:
    swapped: dict[NodeName, NodeName] = {"a": "b", "b": "a", "c": "c"}
    for fault in kind.possible(EVERY):
        renamed = fault.rename(swapped.__getitem__)
        moved = tuple(swapped[node] for node in fault.nodes)
        assert renamed.nodes == (tuple(sorted(moved)) if kind.kind.group else moved)
        assert renamed.rename(swapped.__getitem__) == fault
        assert (renamed.message is None) is (fault.message is None)


def test_kinds_have_names_and_flags_of_their_own() -> None:
    written = [(kind.name, kind.kind.letter, kind.kind.plural, kind.kind.flag) for kind in KINDS]
    for column in zip(*written, strict=True):
        assert len(set(column)) == len(KINDS)


class _Unknown:
    """A fault of a kind that the union does not have."""

    name = "unknown"
    time = 1


def test_an_unknown_kind_is_refused_wherever_faults_are_told_apart() -> None:
    unknown: Any = _Unknown()
    with pytest.raises(AttributeError):
        FaultSet.of([unknown])
    with pytest.raises(AttributeError):
        SPEC.admits(FaultSet((unknown,)))
    with pytest.raises(AssertionError, match="Expected code to be unreachable"):
        Arrivals(SPEC, FaultSet((unknown,)))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_kinds_are_told_apart_by_what_they_declare_or_by_an_exhaustive_match(path: Path) -> None:
    """``isinstance(fault, Crash)`` takes every other kind, also one to come, for the opposite."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # Simulated code has steps of the same names, which are other classes.
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("clew.faults")
        for alias in node.names
    }
    kinds = {kind.__name__ for kind in KINDS} & imported
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            named = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
            assert not named & kinds or str(path.relative_to(SOURCE)) in SELECTING
        if isinstance(node, ast.Match) and _mentions(node, kinds):
            assert "assert_never" in ast.unparse(node.cases[-1])


def _mentions(match: ast.Match, kinds: set[str]) -> bool:
    patterns = [p for case in match.cases for p in ast.walk(case.pattern) if isinstance(p, ast.MatchClass)]
    return any(isinstance(p.cls, ast.Name) and p.cls.id in kinds for p in patterns)
