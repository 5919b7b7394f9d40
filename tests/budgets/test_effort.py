"""Effort: work that is counted, so that where it ends does not depend on the machine."""

from __future__ import annotations

import pytest

from clew.budgets.effort import CONFLICT, Effort
from clew.errors import BudgetExhaustedError, EffortExhaustedError


def test_spending_up_to_the_limit_and_not_beyond() -> None:
    effort = Effort(10)
    effort.spend(9)
    assert (effort.left, effort.exhausted) == (1, False)
    with pytest.raises(EffortExhaustedError, match="used up"):
        effort.spend(1)
    assert (effort.left, effort.exhausted) == (0, True)
    assert issubclass(EffortExhaustedError, BudgetExhaustedError)


def test_what_is_done_is_counted_without_an_error() -> None:
    effort = Effort(10)
    effort.count(30)
    assert (effort.spent, effort.left) == (30, -20)
    with pytest.raises(EffortExhaustedError):
        effort.check()


@pytest.mark.parametrize(("left", "conflicts"), [(10 * CONFLICT, 10), (CONFLICT + 1, 2), (1, 1), (0, 1), (-5, 1)])
def test_as_many_conflicts_as_use_it_up(left: int, conflicts: int) -> None:
    """One more than fit would leave some; 0 would mean any number to a solver."""
    effort = Effort(100)
    effort.count(100 - left)
    assert effort.conflicts_left == conflicts
    effort.count(conflicts * CONFLICT)
    assert effort.exhausted


def test_a_reserve_is_there_only_while_it_is_needed() -> None:
    effort = Effort(10)
    effort.count(12)
    with effort.reserve(5):
        effort.spend(4)
        assert effort.left == 1
    assert (effort.exhausted, effort.left) == (True, -6)
    with Effort(10).reserve(5):
        pass
    rich = Effort(10)
    with rich.reserve(5):
        assert rich.left == 10


@pytest.mark.parametrize(("least", "most"), [(50, 100), (300, 300)])
def test_an_effort_is_renewed_with_what_is_known_of_programs(least: int, most: int) -> None:
    effort = Effort(100)
    effort.count_program(2)
    effort.count(98)
    again = effort.renew(least)
    assert (again.most, again.spent, again.may_not_suffice) == (most, 0, False)


def test_a_program_of_unknown_size_may_be_too_large() -> None:
    effort = Effort(1000)
    assert effort.may_not_suffice
    effort.count_program(40)
    assert not effort.may_not_suffice
    effort.count(500)
    assert effort.may_not_suffice
