"""The lineage at a glance: a staircase of absences is one box, and so is a row that is kept on a condition.

Negation and delays make a step of the graph for every time: no ``silent(m, t, 3)`` at 7, because no
``before(m, t, 2)`` at 7, because no ``silent(m, t, 2)`` at 6.  An overview puts the goals of such a staircase into
one box.  What holds of every overview, and what its reader relies on:

* every goal is in one box, and the boxes have no cycle;
* a box of absences *names* goals of one row, at times without a gap.  Only these are used from outside; all others
  in it are absences on which nothing outside rests;
* a box of a kept row has goals of one row at consecutive times.  Each is there for one reason: a rule with
  ``@next`` applied to the goal before it, and to absences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from clew.explain.lineage_graph import LineageGraph
from clew.program.ir import Rule, Timing

#: Fewer absences than this are drawn one by one: the box would hide as much as it saves.
FEWEST_ABSENCES = 3
#: Two rows of one kind at consecutive times are already one row to a reader.
FEWEST_KEPT = 2


class BoxKind(Enum):
    """What a box stands for."""

    SINGLE = "single"
    ABSENCES = "absences"
    KEPT = "kept"


@dataclass(frozen=True)
class Box:
    """Goals that are drawn as one, by their numbers; ``named`` are those its label speaks of, earliest first."""

    kind: BoxKind
    goals: tuple[int, ...]
    named: tuple[int, ...]


@dataclass(frozen=True)
class Joint:
    """Firings between boxes that are drawn as one, by their numbers.

    ``through``: it stands for all that happens within a box of absences; what is below was of use somewhere in it.
    """

    firings: tuple[int, ...]
    through: bool = False


@dataclass(frozen=True)
class Overview:
    """``boxes`` (the first has the outcome) and ``joints``; ``why`` and ``needs`` are as in a lineage graph."""

    boxes: tuple[Box, ...]
    joints: tuple[Joint, ...]
    why: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]


def overview(graph: LineageGraph, rules: Sequence[Rule]) -> Overview:
    """Return the boxes in which the graph is drawn before any of them is opened."""
    boxes = _Grouping(graph, rules).boxes()
    box_of = {goal: number for number, box in enumerate(boxes) for goal in box.goals}
    joints: list[Joint] = []
    why: list[tuple[int, ...]] = []
    needs: list[tuple[int, ...]] = []
    for number, box in enumerate(boxes):
        first = len(joints)
        for joint in _joints(graph, box):
            below = (box_of[goal] for firing in joint.firings for goal in graph.needs[firing])
            joints.append(joint)
            needs.append(tuple(dict.fromkeys(b for b in below if b != number)))
        why.append(tuple(range(first, len(joints))))
    return Overview(tuple(boxes), tuple(joints), tuple(why), tuple(needs))


def _joints(graph: LineageGraph, box: Box) -> Iterator[Joint]:
    firings = [firing for goal in box.goals for firing in graph.why[goal]]
    if box.kind is BoxKind.SINGLE:
        yield from (Joint((firing,)) for firing in firings)
        return
    if box.kind is BoxKind.KEPT:
        yield Joint(tuple(firings))
        return
    # What a delay can hit stays in sight: it may be cut.
    late: dict[tuple[object, ...], list[int]] = {}
    within = []
    for firing in firings:
        transfer = graph.firings[firing].transfer
        if transfer and graph.firings[firing].punctual:
            late.setdefault((transfer.source, transfer.target), []).append(firing)
        else:
            within.append(firing)
    yield Joint(tuple(within), through=True)
    yield from (Joint(tuple(together)) for together in late.values())


@dataclass
class _Group:
    """A box while it grows, of goals with this row; ``first`` to ``last`` are the times of those that it names."""

    kind: BoxKind
    row: tuple[object, ...]
    first: int
    last: int
    goals: list[int] = field(default_factory=list)
    named: list[int] = field(default_factory=list)


class _Grouping:
    """Put goals into groups, users before what they use.

    A goal may join a group unless a way leads from the group through other goals to it: that would be a cycle.
    """

    def __init__(self, graph: LineageGraph, rules: Sequence[Rule]) -> None:
        self._graph = graph
        self._rules = rules
        self._user = {firing: goal for goal, firings in enumerate(graph.why) for firing in firings}
        self._users: list[list[int]] = [[] for _ in graph.goals]
        for firing, needs in enumerate(graph.needs):
            for goal in needs:
                self._users[goal].append(self._user[firing])
        self._groups: list[_Group] = []
        self._group_of: dict[int, _Group] = {}

    def boxes(self) -> list[Box]:
        """Return the boxes, the one with the outcome first."""
        for goal in self._users_first():
            self._place(goal)
        # Groups that stayed small are taken apart again: only now is it known how large each became.
        found: list[Box] = []
        for group in self._groups:
            fewest = {BoxKind.ABSENCES: FEWEST_ABSENCES, BoxKind.KEPT: FEWEST_KEPT}.get(group.kind, 1)
            if len(group.goals) >= fewest and group.kind is not BoxKind.SINGLE:
                named = sorted(group.named, key=lambda g: self._graph.goals[g].first)
                found.append(Box(group.kind, tuple(sorted(group.goals)), tuple(named)))
            else:
                found.extend(Box(BoxKind.SINGLE, (goal,), (goal,)) for goal in group.goals)
        return sorted(found, key=lambda box: box.goals[0])

    def _users_first(self) -> Iterator[int]:
        # Kahn's order: when a goal is placed, all that use it have a group, and cycles between groups show.
        waiting = [len(users) for users in self._users]
        ready = deque(goal for goal, count in enumerate(waiting) if not count)
        while ready:
            goal = ready.popleft()
            yield goal
            for firing in self._graph.why[goal]:
                for need in self._graph.needs[firing]:
                    waiting[need] -= 1
                    if not waiting[need]:
                        ready.append(need)

    def _place(self, number: int) -> None:
        goal = self._graph.goals[number]
        group = self._group_to_join(number)
        if group is None:
            group = _Group(self._kind(number), (goal.relation, goal.row), goal.first, goal.last)
            self._groups.append(group)
        group.goals.append(number)
        self._group_of[number] = group
        if self._continues(group, number):
            group.named.append(number)
            group.first, group.last = min(group.first, goal.first), max(group.last, goal.last)

    def _kind(self, number: int) -> BoxKind:
        goal = self._graph.goals[number]
        if number == 0 or goal.given or goal.crashes:
            return BoxKind.SINGLE
        if not goal.present:
            return BoxKind.ABSENCES
        return BoxKind.SINGLE if self._keeping_rule(number) is None else BoxKind.KEPT

    def _keeping_rule(self, number: int) -> int | None:
        """Return the rule that keeps the row on a condition, if that is the only reason why the goal holds."""
        goal = self._graph.goals[number]
        if len(self._graph.why[number]) != 1:
            return None
        (firing,) = self._graph.why[number]
        rule = self._graph.firings[firing].rule
        if self._graph.firings[firing].transfer or self._rules[rule].timing is not Timing.NEXT:
            return None
        needs = [self._graph.goals[need] for need in self._graph.needs[firing]]
        present = [need for need in needs if need.present]
        before = (goal.relation, goal.row, goal.first - 1)
        if len(present) == len(needs) or any((p.relation, p.row, p.last) != before for p in present):
            return None
        # What no fault can touch is not in the graph: the row itself need not be among the needs.
        return rule if _keeps_rows(self._rules[rule]) else None

    def _group_to_join(self, number: int) -> _Group | None:
        kind = self._kind(number)
        above = [self._group_of[user] for user in self._users[number]]
        if kind is BoxKind.ABSENCES and above and above[0].kind is kind and all(g is above[0] for g in above):
            return above[0]
        if kind is BoxKind.SINGLE:
            return None
        # The latest group first: it is nearest in the graph, and edges stay short.
        for group in reversed(self._groups):
            if group.kind is kind and self._continues(group, number) and self._may_join(number, group, above):
                return group
        return None

    def _continues(self, group: _Group, number: int) -> bool:
        """Tell whether the goal is of the group's row, and leaves no gap in its times."""
        goal = self._graph.goals[number]
        if (goal.relation, goal.row) != group.row:
            return False
        return goal.first <= group.last + 1 and group.first <= goal.last + 1

    def _may_join(self, number: int, group: _Group, above: Sequence[_Group]) -> bool:
        if group.kind is BoxKind.KEPT:
            lowest = group.named[-1]
            (firing,) = self._graph.why[lowest]
            if number not in self._graph.needs[firing] or self._keeping_rule(number) != self._keeping_rule(lowest):
                return False
        # By identity: groups are compared while they grow.
        others = {id(g) for g in above if g is not group}
        return not others or not self._leads_to(group, others)

    def _leads_to(self, group: _Group, others: set[int]) -> bool:
        """Tell whether a way leads from the group to one of these, over goals with and without a group."""
        seen = set(group.goals)
        work = list(group.goals)
        while work:
            for firing in self._graph.why[work.pop()]:
                for need in self._graph.needs[firing]:
                    below = self._group_of.get(need)
                    if below is not None and id(below) in others:
                        return True
                    new = [goal for goal in (below.goals if below else (need,)) if goal not in seen]
                    seen.update(new)
                    work.extend(new)
        return False


def _keeps_rows(rule: Rule) -> bool:
    """Tell whether the rule is like ``p(X)@next :- p(X), notin q(X)``."""
    itself = (rule.relation, rule.args)
    return any((p.relation, p.args) == itself and not isinstance(p.at, int) for p in rule.positive)
