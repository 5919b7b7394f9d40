"""The failure model: what is admissible, and the published numbers of combinations."""

from __future__ import annotations

import pytest

from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss

SPEC = FailureSpec(("a", "b", "c"), eot=5, eff=3, crashes=1, delays=1)


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
