"""TFB: schedules near one that does not reproduce the violation."""

from __future__ import annotations

from clew.minimization.backtracking import BacktrackingTrial
from clew.minimization.search import TrialResult
from clew.minimization.trial import Match, Schedule, Target, attempt
from clew.simulation import Scenario, Send
from clew.simulation.execution.steps import Act, Do, Step
from minimization.scenarios import Relay, act, aimed, keepers, never


def relay(*keys: int) -> Relay:
    return Relay("b", keys)


def near(scenario: Scenario, steps: list[Step]) -> tuple[Target, Schedule]:
    """The schedule, but what it delivers last says something that no message says."""
    target, schedule = aimed(scenario, steps)
    last = schedule[-1]
    assert not isinstance(last, int)
    return target, (*schedule[:-1], last._replace(act=last.act._replace(fingerprint="Key(key=6)"), rank=0))


def key(nth: int, number: int, do: Do = Do.DELIVER, source: str = "a") -> Act:
    return act(source, nth, "b", mark=f"Key(key={number})", do=do)


#: b must not keep 7 last; what a message says matters.
SEVEN = keepers(never("b", lambda kept: kept[-1:] == [7]), fingerprint=repr)


def relayed(*keys: int) -> list[Step]:
    return [Send("a", relay(*keys)), act("", 1, "a", "Relay", mark=repr(relay(*keys)))]


def test_another_message_of_the_type_reproduces_it() -> None:
    """As in figure 1 of the paper: the message that is wanted does not exist, and of two like it one will do."""
    steps = [*relayed(5, 7), key(3, 7)]
    target, schedule = near(SEVEN, steps)
    assert attempt(target, schedule, Match.FINGERPRINT) is None
    assert attempt(target, schedule, Match.TYPE) is None  # delivers 5, the older one
    assert BacktrackingTrial(schedule, 0).evaluate(target) == TrialResult(None, 1)
    found = BacktrackingTrial(schedule, 1).evaluate(target)
    assert found.schedule is not None
    assert (found.executed, target.steps(found.schedule)) == (2, tuple(steps))


def test_the_oldest_are_tried_first_and_no_more_than_the_budget_allows() -> None:
    target, schedule = near(SEVEN, [*relayed(1, 2, 3, 4, 7), key(6, 7)])
    assert BacktrackingTrial(schedule, 3).evaluate(target) == TrialResult(
        None, 4
    )  # itself, which delivers 1; then 2, 3, 4
    found = BacktrackingTrial(schedule, 4).evaluate(target)
    assert found.schedule is not None
    assert (found.executed, target.steps(found.schedule)[-1]) == (5, key(6, 7))


def test_where_nothing_else_is_pending_nothing_else_is_tried() -> None:
    target, schedule = near(SEVEN, [*relayed(7), key(2, 7)])
    other = Target(target.scenario, 0, (Send("a", relay(5)),), target.identity)
    assert BacktrackingTrial(schedule, 30).evaluate(other) == TrialResult(None, 1)


def test_a_message_of_another_sender_will_do() -> None:
    send = Relay("b", (7,))
    steps = [*relayed(5), Send("c", send), act("", 2, "c", "Relay", mark=repr(send)), key(2, 7, source="c")]
    target, schedule = aimed(SEVEN, steps)
    last = schedule[-1]
    assert not isinstance(last, int)
    schedule = (*schedule[:-1], last._replace(act=key(2, 5)))  # from a, not from c
    found = BacktrackingTrial(schedule, 1).evaluate(target)
    assert found.schedule is not None
    assert (found.executed, target.steps(found.schedule)) == (2, tuple(steps))


def test_instead_of_a_message_that_is_lost_another_is_lost() -> None:
    """Over FIFO what comes first has to go; a delivery instead would be one more than there was."""
    scenario = keepers(never("b", lambda kept: kept[-1:] == [7]), fingerprint=repr)
    steps = [*relayed(5, 7), key(2, 5, Do.LOSE), key(3, 7)]
    target, schedule = aimed(scenario, steps)
    lost = schedule[2]
    assert not isinstance(lost, int)
    for budget in range(1, 4):
        for other in (5, 6, 7):
            changed = (*schedule[:2], lost._replace(act=lost.act._replace(fingerprint=f"Key(key={other})")))
            assert BacktrackingTrial(changed, budget).evaluate(target).schedule is None, (
                "nothing is ever delivered"
            )


def test_combinations_are_tried_after_single_changes() -> None:
    """Both deliveries have to be others: only neighbours of neighbours do it."""
    scenario = keepers(never("b", lambda kept: kept == [7, 8]), fingerprint=repr)
    steps = [*relayed(1, 7, 8), key(3, 7), key(4, 8)]
    target, schedule = aimed(scenario, steps)
    items = [item for item in schedule if not isinstance(item, int)]
    acts = [scheduled._replace(act=scheduled.act._replace(fingerprint="none"), rank=0) for scheduled in items]
    found = BacktrackingTrial((schedule[0], schedule[1], *acts[1:]), 30).evaluate(target)
    assert found.schedule is not None
    assert target.steps(found.schedule) == tuple(steps)
    assert found.executed > 2
