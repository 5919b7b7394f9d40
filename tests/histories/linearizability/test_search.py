"""The search itself: how far it goes, what it costs, and that it never guesses."""

from __future__ import annotations

import pytest

from clew.errors import EffortExhaustedError, UsageError
from clew.histories import HistoryAnswer, Outcome, Queue, Register, check_history, linearizable
from clew.histories.linearizability.checking import check_part, divide
from clew.histories.linearizability.machine import Machine
from clew.histories.linearizability.plan import make_plan
from clew.histories.linearizability.search import Budget, Search, start_of
from histories.made import history, op


def test_a_search_counts_states_and_ends_when_there_are_none_left() -> None:
    operations = [op(k, "write", k % 2, at=(k, 10 + k)) for k in range(6)]
    operations.append(op(9, "read", None, 7, at=(8, 30)))
    machine = Machine(Register())
    plan = make_plan(operations, machine)
    budget = Budget()
    assert Search(plan, machine, budget).run(start_of(machine)).order is None
    spent = budget.most - budget.left
    with pytest.raises(EffortExhaustedError, match=f"the budget of {spent - 1} states is used up"):
        Search(plan, machine, Budget(spent - 1)).run(start_of(machine))
    assert Search(plan, machine, Budget(spent)).run(start_of(machine)).order is None


def test_without_enough_states_the_answer_is_unknown() -> None:
    operations = [op(k, "cas", (k % 2, 1 - k % 2), at=(k, 20 + k)) for k in range(6)]
    operations += [op(8, "write", 0, at=(8, 9)), op(9, "read", None, 1, at=(10, 40))]
    assert check_history(history(*operations)).answer is not HistoryAnswer.UNKNOWN
    found = check_history(history(*operations), states=2)
    assert (found.answer, found.exit_code) == (HistoryAnswer.UNKNOWN, 3)
    assert found.reason == "the budget of 2 states is used up"
    with pytest.raises(UsageError, match="not known: the budget of 2 states is used up"):
        linearizable(history(*operations), states=2)


def test_a_key_that_is_not_linearizable_decides_whatever_the_others_cost() -> None:
    costly = [op(k, "write", k % 3, at=(k, 50 + k), key="x") for k in range(12)]
    costly.append(op(20, "read", None, 9, at=(30, 90), key="x"))
    bad = op("b", "read", None, 1, at=(100, 101), key="y")
    found = check_history(history(*costly, bad), states=30)
    assert found.answer is HistoryAnswer.VIOLATED
    assert [window.key for window in found.windows] == [("y",)]


def test_unknown_operations_that_nobody_misses_cost_nothing() -> None:
    """With 200 writes of unknown outcome there would be 2 ** 200 sets of those that happened."""
    lost = [op(f"lost{k}", "write", 100 + k, at=(k, None)) for k in range(200)]
    reads = [op("a", "write", 1, at=(300, 301)), op("b", "read", None, 1, at=(302, 303))]
    assert check_history(history(*lost, *reads), states=10).answer is HistoryAnswer.HOLDS


def test_unknown_operations_that_do_the_same_are_one() -> None:
    lost = [op(f"lost{k}", "increment", at=(k, None)) for k in range(40)]
    reads = [op("b", "read", None, k, at=(100 + 2 * k, 101 + 2 * k)) for k in range(0, 41, 4)]
    assert check_history(history(*lost, *reads), "counter", states=1000).answer is HistoryAnswer.HOLDS
    more = op("b", "read", None, 41, at=(300, 301))
    assert check_history(history(*lost, *reads, more), "counter", states=1000).answer is HistoryAnswer.VIOLATED


def test_what_failed_never_happened() -> None:
    failed = op("a", "write", 1, at=(0, 1), outcome=Outcome.FAIL)
    read = op("b", "read", None, 1, at=(2, 3))
    assert check_history(history(failed, read)).answer is HistoryAnswer.VIOLATED
    late = op("a", "write", 1, at=(0, None))
    assert check_history(history(late, read)).answer is HistoryAnswer.HOLDS


@pytest.mark.parametrize("shortcuts", [True, False])
def test_a_queue_whose_order_shows_late(shortcuts: bool) -> None:
    """Pairs of enqueues overlap, and which was first shows at the end: only the shortcut sees it at once."""
    pairs = 14
    puts = [
        op(side, "enqueue", 2 * k + side, at=(10 * k + side, 10 * k + 5 + side))
        for k in range(pairs)
        for side in (0, 1)
    ]
    gets = [
        op(5, "dequeue", None, 2 * (k // 2) + 1 - k % 2, at=(1000 + 2 * k, 1001 + 2 * k)) for k in range(2 * pairs)
    ]
    (part,) = divide([*puts, *gets], Queue())
    checked = check_part(part, Budget(2000), shortcuts=shortcuts)
    assert checked.is_linearizable is (True if shortcuts else None)
