"""Minimal supports, packings of them and cuts of messages, on random circuits, against brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits import Expression, build, expressions, means
from clew.budgets.deadline import Deadline
from clew.faults import Crash, Delay, Fault, Loss, fault_key
from clew.lineage.circuit import Circuit
from clew.lineage.minimal import Support, fewest_losses, independent_supports, minimal_supports

LOSSES: list[Fault] = [Loss("a", "b", 1), Loss("a", "b", 2), Loss("b", "a", 1), Loss("b", "c", 2)]
FAULTS: list[Fault] = [*LOSSES, Crash("a", 1), Crash("b", 2), Delay("a", "b", 1, 1)]
NO_DEADLINE = Deadline(None)
#: More supports than seven faults can have.
ALL = 1000


def supports_as_sets() -> st.SearchStrategy[list[list[Fault]]]:
    """Any choice of one of these sets, all of whose faults are absent, is enough."""
    return st.lists(st.lists(st.sampled_from(FAULTS), max_size=4, unique=True), max_size=7)


def any_of_all(sets: list[list[Fault]]) -> Expression:
    return ("any", [("all", [("absent", fault) for fault in needed]) for needed in sets])


def enough(expression: Expression, kept: set[Fault]) -> bool:
    """Whether it holds when nothing is known but that these faults are absent, and no fault is present."""
    return means(expression, lambda present, fault: not present and fault in kept)


def subsets(faults: Sequence[Fault]) -> Iterator[set[Fault]]:
    """Smaller ones first."""
    return (set(chosen) for size in range(len(faults) + 1) for chosen in combinations(faults, size))


def all_minimal(expression: Expression) -> list[set[Fault]]:
    found: list[set[Fault]] = []
    for kept in subsets(FAULTS):
        if enough(expression, kept) and not any(smaller <= kept for smaller in found):
            found.append(kept)
    return found


def supports_of(expression: Expression, limit: int = ALL) -> list[Support]:
    circuit = Circuit()
    return minimal_supports(circuit, build(circuit, expression), limit, NO_DEADLINE)


def losses_to_cut(expression: Expression) -> int | None:
    circuit = Circuit()
    fewest, proven = fewest_losses(circuit, build(circuit, expression), NO_DEADLINE)
    assert proven or fewest == 0, "no circuit here is hard"
    return fewest


def largest_packing(supports: Sequence[Support]) -> int:
    """How many supports at most share no message; those without any message count once."""
    messages = [frozenset(f for f in support if isinstance(f, Loss)) for support in supports]
    with_messages = [m for m in messages if m]
    best = max(
        size
        for size in range(len(with_messages) + 1)
        for chosen in combinations(with_messages, size)
        if all(not one & other for one, other in combinations(chosen, 2))
    )
    return best + (len(with_messages) < len(messages))


# -- minimal supports -------------------------------------------------------------------------------------------


@given(expressions(FAULTS))
def test_exactly_the_minimal_supports_are_found(expression: Expression) -> None:
    found = supports_of(expression)
    assert len(found) == len(set(found))
    assert {frozenset(s) for s in found} == {frozenset(s) for s in all_minimal(expression)}


@given(supports_as_sets())
def test_exactly_the_minimal_ones_of_listed_supports_are_found(sets: list[list[Fault]]) -> None:
    found = supports_of(any_of_all(sets))
    minimal = {frozenset(s) for s in sets if not any(set(other) < set(s) for other in sets)}
    assert {frozenset(s) for s in found} == minimal
    assert len(found) == len(minimal)


@given(expressions(FAULTS))
def test_smaller_supports_come_first_and_faults_in_their_one_order(expression: Expression) -> None:
    found = supports_of(expression)
    assert found == sorted(found, key=lambda s: (len(s), [fault_key(f) for f in s]))
    for support in found:
        assert list(support) == sorted(support, key=fault_key)


@given(expressions(FAULTS), st.integers(1, 4))
def test_the_limit_is_respected_and_what_is_found_is_minimal(expression: Expression, limit: int) -> None:
    everything = {frozenset(s) for s in all_minimal(expression)}
    found = {frozenset(s) for s in supports_of(expression, limit)}
    assert found <= everything
    assert len(found) == min(limit, len(everything))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (("constant", True), [()]),
        (("constant", False), []),
        (("present", LOSSES[0]), []),
        (("any", [("present", LOSSES[0]), ("constant", True)]), [()]),
        (("all", [("present", LOSSES[0]), ("absent", LOSSES[1])]), []),
        (("any", [("absent", LOSSES[0]), ("absent", LOSSES[1])]), [(LOSSES[0],), (LOSSES[1],)]),
        (("all", [("absent", LOSSES[1]), ("absent", LOSSES[0])]), [(LOSSES[0], LOSSES[1])]),
    ],
    ids=str,
)
def test_small_circuits(expression: Expression, expected: list[Support]) -> None:
    assert supports_of(expression) == expected


def test_two_of_three_messages() -> None:
    first, second, third = LOSSES[:3]
    expression = ("least", (2, [(("absent", f), 1) for f in (first, second, third)]))
    assert supports_of(expression) == [(first, third), (first, second), (third, second)]
    assert losses_to_cut(expression) == 2


# -- how many are independent, and how many losses it takes -----------------------------------------------------


@given(expressions(FAULTS))
def test_the_fewest_losses_are_found(expression: Expression) -> None:
    _assert_fewest_losses(expression)


@given(supports_as_sets())
def test_the_fewest_losses_that_cut_listed_supports_are_found(sets: list[list[Fault]]) -> None:
    _assert_fewest_losses(any_of_all(sets))


def _assert_fewest_losses(expression: Expression) -> None:
    """Nobody crashes and nothing is late: only messages are lost."""
    cuts = (len(lost) for lost in subsets(LOSSES) if not enough(expression, set(FAULTS) - lost))
    assert losses_to_cut(expression) == next(cuts, None)


@given(expressions(FAULTS))
def test_independent_supports_are_at_most_as_many_as_losses_cut(expression: Expression) -> None:
    _assert_between(expression)


@given(supports_as_sets())
def test_independent_ones_of_listed_supports_are_at_most_as_many_as_losses_cut(sets: list[list[Fault]]) -> None:
    _assert_between(any_of_all(sets))


def _assert_between(expression: Expression) -> None:
    supports, losses = supports_of(expression), losses_to_cut(expression)
    independent = independent_supports(supports)
    assert independent <= largest_packing(supports)
    assert (independent > 0) == bool(supports)
    if losses is not None:
        assert independent <= losses


@pytest.mark.parametrize(
    ("sets", "independent"),
    [
        ([], 0),
        ([[]], 1),
        ([[LOSSES[0]], [LOSSES[1]], [LOSSES[2]]], 3),
        ([[LOSSES[0]], [LOSSES[1], LOSSES[2]]], 2),
        ([[LOSSES[0], LOSSES[1]], [LOSSES[1], LOSSES[2]], [LOSSES[2], LOSSES[3]]], 2),
        ([[LOSSES[0], LOSSES[1]], [LOSSES[1], LOSSES[2]], [LOSSES[0], LOSSES[2]]], 1),
        ([[FAULTS[4]], [FAULTS[5]]], 1),  # without any message: they count once
        ([[FAULTS[4]], [LOSSES[0], FAULTS[4]], [LOSSES[1], FAULTS[5]]], 3),
    ],
    ids=str,
)
def test_independence_is_about_messages(sets: list[list[Fault]], independent: int) -> None:
    assert independent_supports([tuple(s) for s in sets]) == independent
