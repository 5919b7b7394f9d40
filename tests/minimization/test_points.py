"""What a search starts from, and how points are compared."""

from __future__ import annotations

from clew.minimization.points import Point, PointsBySize, count_nodes, weigh
from clew.minimization.trial import Target
from clew.simulation import Heal, Restart, Send
from clew.simulation.execution.steps import Step
from minimization.scenarios import Key, Relay, act, aimed, keepers, never, tick


def test_nodes_count_when_something_happens_at_them() -> None:
    steps: list[Step] = [Heal(), Restart("c"), tick("a"), Send("a", Relay("b", (1,)))]
    steps += [act("", 1, "a", "Relay"), act("a", 2, "b")]
    target, schedule = aimed(keepers(never("b", bool)), steps)
    assert count_nodes(Point(target, schedule)) == 3
    assert count_nodes(Point(target, schedule[:2])) == 1
    assert count_nodes(Point(target, schedule[:1])) == 0


def test_events_weigh_more_than_deliveries() -> None:
    steps: list[Step] = [Send("b", Key(1)), Send("b", Key(2)), act("", 1, "b"), act("", 2, "b")]
    target, schedule = aimed(keepers(never("b", lambda kept: len(kept) == 2)), steps)
    assert weigh(Point(target, schedule)) == (4, 2)
    assert weigh(Point(target, schedule[:2])) < weigh(Point(target, schedule[2:])) < (3, 0)


def test_the_smallest_of_each_cluster_size_is_kept() -> None:
    steps: list[Step] = [tick("a"), Send("b", Key(1)), tick("b"), act("", 1, "b")]
    target, schedule = aimed(keepers(never("b", lambda kept: 1 in kept)), steps)
    points = PointsBySize(Point(target, schedule))
    points.add(Point(target, schedule[1:]))
    points.add(Point(target, schedule[:2]))
    later = Target(target.scenario, 1, target.externals, target.identity)
    points.add(Point(later, schedule[1:]))
    assert points.list_largest_first() == [Point(target, schedule[:2]), Point(later, schedule[1:])]
