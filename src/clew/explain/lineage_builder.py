"""From the ground rules of the failure-free run to the graph that is drawn.

Three steps: walk back from the outcome over rules that fired (and, for what stays away, over rules that were kept
from firing); leave out what no fault can touch; make one goal of a row that merely persists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from clew.engine.atoms import GroundRule, RowAtom, SentAtom
from clew.explain.failure_free import FailureFree
from clew.explain.lineage_graph import Firing, Goal, LineageGraph, Transfer
from clew.faults import (
    Crash,
    Fault,
    GivenRow,
    MessageFault,
    NodeName,
    Partition,
    Pause,
    Restart,
    SentMessage,
    Stop,
    fault_key,
)
from clew.program.assertions import is_pre, post_of
from clew.program.ir import CRASH, DOWN, Rule, Timing, as_place
from clew.violation import Violation

#: A graph with more goals or firings than this is cut off: nobody can read it, and a page has to show it.
MOST_GOALS = 400
MOST_FIRINGS = 1000
#: A rule can have fired in so many ways, for example with each row that fits ``_``; more are not told.
_MOST_WAYS = 50


def build_lineage_graph(
    failure_free: FailureFree,
    violation: Violation,
    only: Container[SentMessage] | None = None,
    most_goals: int = MOST_GOALS,
) -> LineageGraph:
    """Build the lineage of what kept this violation away in the failure-free run.

    ``only``: leave out messages over other links than these, and with them what came about through them alone.
    """
    walk = _Walk(failure_free, violation, only)
    walk.back(most_goals * 4)  # more than are drawn: chains of rows that persist become one goal
    return _Drawing(walk, failure_free.program.rules, most_goals).graph()


@dataclass(frozen=True)
class _StaysUp:
    """The goal that a node does not crash: one of these faults would undo it.

    ``time``: when it must not be down, where somebody looks at that time.
    """

    node: NodeName
    crashes: tuple[Fault, ...]
    time: int | None = None


#: What identifies a goal while walking: an atom of the ground program, or a node that stays up.
_Key = int | _StaysUp


@dataclass
class _Step:
    """One goal at one time, with the numbers of the uses that explain it."""

    goal: Goal
    why: list[int] = field(default_factory=list)
    is_fact: bool = False
    explained: bool = False


@dataclass
class _Use:
    """A firing, and the goals it rests on."""

    firing: Firing
    needs: list[_Key] = field(default_factory=list)


class _Walk:
    """Back from the outcome: the goals by key, and the firings between them."""

    def __init__(
        self, failure_free: FailureFree, violation: Violation, only: Container[SentMessage] | None
    ) -> None:
        ground = failure_free.model.ground
        self._graph = failure_free.graph
        self._derivations = failure_free.derivations
        self._rows: dict[int, RowAtom] = {atom.literal: atom for atom in ground.row_atoms}
        self._sent: dict[int, SentAtom] = {atom.literal: atom for atom in ground.sent_atoms}
        self._program = failure_free.program
        #: Of the atoms that a node is seen to be down, when that is.
        self._looked_at = {
            atom: symbol.arguments[-1].number
            for atom, symbol in ground.symbols.items()
            if symbol.name == "seen_down"
        }
        self._seen_crashes = {atom for atom, symbol in ground.symbols.items() if symbol.name == "seen_crash"}
        self._given = failure_free.implied_by_pre(violation)
        self._only = only
        self._last = failure_free.spec.eot
        self._faults_below: dict[int, frozenset[Fault]] = {}
        self.steps: dict[_Key, _Step] = {}
        self.uses: list[_Use] = []
        self.truncated = False
        self.root = self._outcome(failure_free, violation)

    def _outcome(self, failure_free: FailureFree, violation: Violation) -> int:
        """Return where the walk begins: ``post`` if that prevented the violation, otherwise ``pre``."""
        relation = violation.relation
        if is_pre(relation) and failure_free.pre_held(violation):
            relation = post_of(relation)
        wanted = (relation, violation.row, violation.time or self._last)
        return next(a.literal for a in self._rows.values() if (a.relation, a.row, a.time) == wanted)

    def back(self, most_goals: int) -> None:
        """Walk back from the outcome, over no more goals than these."""
        # Breadth first: if the graph is cut off, what is furthest from the outcome is missing.
        queue: deque[_Key] = deque([self._step(self.root)])
        while queue:
            key = queue.popleft()
            if len(self.steps) > most_goals:
                self.truncated = True
                return
            if isinstance(key, int) and not self.steps[key].goal.given:
                queue.extend(self._explain(key))
        self._drop_what_lost_its_reasons()

    def _drop_what_lost_its_reasons(self) -> None:
        """Drop what came about only through messages that are left out, and then what needs that."""
        # Until nothing changes: what is dropped may have been the last reason of something else.
        while self._only is not None:
            gone = {key for key, step in self.steps.items() if self._has_lost_its_reasons(step)}
            broken = {n for n, use in enumerate(self.uses) if use.firing.fired and not gone.isdisjoint(use.needs)}
            if not any(broken.intersection(step.why) for step in self.steps.values()):
                return
            for step in self.steps.values():
                step.why = [n for n in step.why if n not in broken]

    def _has_lost_its_reasons(self, step: _Step) -> bool:
        return step.explained and step.goal.present and not step.is_fact and not step.why

    def _step(self, atom: int) -> int:
        row = self._rows[atom]
        present = atom in self._derivations.true
        goal = Goal(row.relation, row.row, row.time, row.time, present, atom in self._given)
        self.steps[atom] = _Step(goal)
        return atom

    def _explain(self, atom: int) -> Iterator[_Key]:
        """Add the firings behind a goal; yield the goals that were not known before."""
        step = self.steps[atom]
        step.explained = True
        for rule in self._rules(atom):
            if rule.source is not None:
                yield from self._use(step, rule, step.goal, None)
            # The rule by which a message becomes a row is the encoding's; its reader looks for the one that sent
            # it.
            elif messages := self._messages_of(rule):
                for message in messages:
                    for sending in self._rules(message.literal):
                        yield from self._use(step, sending, step.goal, message)
            else:
                step.is_fact = True  # given, or derived by a rule of the encoding alone

    def _messages_of(self, arrival: GroundRule) -> list[SentAtom]:
        """Return the message that becomes a row by this rule, also by way of an arrival that a pause holds up."""
        bodies = [arrival.body]
        for waiting in map(abs, arrival.body):
            if waiting not in self._rows and waiting not in self._graph.fault_determined:
                bodies += [rule.body for rule in self._rules(waiting) if waiting not in self._sent]
        sent = dict.fromkeys(abs(b) for body in bodies for b in body if abs(b) in self._sent)
        return [self._sent[atom] for atom in sent]

    def _rules(self, atom: int) -> list[GroundRule]:
        if atom in self._derivations.true:
            return self._derivations.of(atom)
        return self._derivations.against(atom)

    def _use(self, step: _Step, rule: GroundRule, goal: Goal, message: SentAtom | None) -> Iterator[_Key]:
        assert rule.source is not None
        earlier = self._program.rules[rule.source].timing is Timing.NEXT
        time = message.time if message else goal.last - earlier
        transfer = None
        if message and message.source != message.row[0]:
            target = as_place(message.row[0])
            transfer = Transfer(message.relation, message.row, message.source, target, message.time)
            if goal.present and self._only is not None and transfer.link not in self._only:
                return  # what was not sent has to stay: it is a way in which the row could have come about
        # A row that is absent although its message was sent: it came in time, and not late.
        punctual = message is not None and not goal.present and message.literal in self._derivations.true
        firing = Firing(rule.source, time, goal.present, transfer, punctual)
        if goal.present:
            ways = self._ways_for(rule.body)
        else:
            ways = [tuple(self._goals_among([b for b in rule.body if not self._derivations.holds(b)]))]
        for needs in _smallest(ways):
            step.why.append(len(self.uses))
            self.uses.append(_Use(firing, list(needs)))
            for key in needs:
                if key not in self.steps:
                    self._add(key)
                    yield key

    def _add(self, key: _Key) -> None:
        if isinstance(key, _StaysUp):
            relation, first, last = (CRASH, 1, self._last) if key.time is None else (DOWN, key.time, key.time)
            self.steps[key] = _Step(Goal(relation, (key.node,), first, last, False, False, key.crashes))
        else:
            self._step(key)

    def _ways_for(self, literals: Sequence[int]) -> list[tuple[_Key, ...]]:
        """Return the goals that these literals stand for; several ways where a helper came about in several."""
        found: list[tuple[_Key, ...]] = [()]
        for literal in literals:
            ways = self._ways_of(abs(literal))
            found = self._few([tuple(dict.fromkeys((*some, *more))) for some in found for more in ways])
        return found

    def _few(self, ways: list[tuple[_Key, ...]]) -> list[tuple[_Key, ...]]:
        self.truncated = self.truncated or len(ways) > _MOST_WAYS
        return ways[:_MOST_WAYS]

    def _ways_of(self, atom: int) -> list[tuple[_Key, ...]]:
        helper = atom not in self._rows and atom not in self._graph.fault_determined
        if helper and atom in self._given:
            return [()]  # some row that fits, as pre implies; which one does not matter
        if helper and atom in self._derivations.true:
            fired = self._derivations.of(atom)
            bodies = [[b for b in rule.body if self._derivations.holds(b)] for rule in fired]
            return self._few([way for body in bodies for way in self._ways_for(body)])
        return [tuple(self._goals_among([atom]))]

    def _goals_among(self, literals: Sequence[int]) -> Iterator[_Key]:
        """Yield rows and crashes, also behind helpers of the encoding such as the elements of an aggregate."""
        seen: set[_Key] = set()
        work = [abs(b) for b in reversed(literals)]
        while work:
            atom = work.pop()
            if atom in seen:
                continue
            seen.add(atom)
            if atom in self._rows:
                yield atom
            elif atom in self._given:
                continue
            elif atom in self._graph.fault_determined:
                for key in self._staying_up(atom):
                    if key not in seen:
                        seen.add(key)
                        yield key
            elif atom in self._derivations.true:
                work.extend(abs(b) for rule in self._derivations.of(atom) for b in rule.body)
            else:
                against = self._derivations.against(atom)
                work.extend(abs(b) for r in against for b in r.body if not self._derivations.holds(b))

    def _staying_up(self, atom: int) -> Iterator[_StaysUp]:
        """Yield the nodes whose crash would change the atom; or what else, if it says that a node is down."""
        looked_at = self._looked_at.get(atom)
        by_node: dict[NodeName, list[Fault]] = {}
        for fault in sorted(self._below(atom), key=fault_key):
            match fault:
                case Crash(node, _):
                    by_node.setdefault(node, []).append(fault)
                case MessageFault() | Partition():
                    pass  # the node sends all the same
                case Restart(node, _, _):
                    # Every step of a node needs that it runs: it would stand below every goal.
                    if looked_at is not None:
                        by_node.setdefault(node, []).append(fault)
                case Stop(node, _):
                    if looked_at is not None or atom in self._seen_crashes:  # as for restarts
                        by_node.setdefault(node, []).append(fault)
                case Pause():
                    pass  # as for restarts, and nobody sees it
                case GivenRow():
                    pass  # no node needs to stay up for it
                case _:
                    assert_never(fault)
        yield from (_StaysUp(node, tuple(crashes), looked_at) for node, crashes in by_node.items())

    def _below(self, atom: int) -> frozenset[Fault]:
        # Remembered: links and crashes stand below very many goals.
        if atom not in self._faults_below:
            found: set[Fault] = set()
            seen = {atom}
            work = [atom]
            while work:
                lower = work.pop()
                if lower in self._graph.faults:
                    found.add(self._graph.faults[lower])
                new = {abs(b) for rule in self._graph.rules_for(lower) for b in rule.body} - seen
                seen |= new
                work.extend(new)
            self._faults_below[atom] = frozenset(found)
        return self._faults_below[atom]


def _smallest(ways: Sequence[tuple[_Key, ...]]) -> Iterator[tuple[_Key, ...]]:
    """Yield the ways but for those that need all that another one needs."""
    kept: list[frozenset[_Key]] = []
    # A rule with ``_`` fires with each row that fits, so one way often contains another.
    for way in sorted(ways, key=len):
        needs = frozenset(way)
        if not any(smaller <= needs for smaller in kept):
            kept.append(needs)
            yield way


class _Drawing:
    """What is left of a walk when it is drawn."""

    def __init__(self, walk: _Walk, rules: Sequence[Rule], most_goals: int) -> None:
        self._walk = walk
        self._rules = rules
        self._most_goals = most_goals
        self._relevant = self._find_relevant()
        self._first = {key: key for key in walk.steps}  # where the chain that a goal belongs to begins
        self._last = {key: key for key in walk.steps}
        self._join_chains()

    def _find_relevant(self) -> set[_Key]:
        """Return the goals that faults can touch: behind them is a message, or a node that has to stay up."""
        users: dict[_Key, list[_Key]] = {}
        start: list[_Key] = []
        for key, step in self._walk.steps.items():
            if step.goal.crashes:
                start.append(key)
            for number in step.why:
                use = self._walk.uses[number]
                if use.firing.transfer:
                    start.append(key)
                for needed in use.needs:
                    users.setdefault(needed, []).append(key)
        found: set[_Key] = set()
        while start:
            key = start.pop()
            if key not in found:
                found.add(key)
                start.extend(users.get(key, ()))
        return found

    def _join_chains(self) -> None:
        """Make one goal of a row that merely persists, kept by a rule with no other premise that counts."""
        # Earliest first, so that the beginning of a chain is known when its next goal is looked at.
        for key, step in sorted(self._walk.steps.items(), key=lambda item: item[1].goal.first):
            before = self._merely_kept(step)
            if before is not None:
                self._first[key] = self._first[before]
                self._last[self._first[key]] = key

    def _merely_kept(self, step: _Step) -> _Key | None:
        uses = [self._walk.uses[number] for number in step.why]
        uses = [use for use in uses if use.firing.transfer or self._relevant_among(use.needs)]
        if len(uses) != 1 or uses[0].firing.transfer or self._rules[uses[0].firing.rule].timing is not Timing.NEXT:
            return None
        shown = self._relevant_among(uses[0].needs)
        if len(shown) != 1:
            return None
        goal, before = step.goal, self._walk.steps[shown[0]].goal
        same = (goal.relation, goal.row, goal.present, goal.given) == (
            before.relation,
            before.row,
            before.present,
            before.given,
        )
        return shown[0] if same and before.last == goal.first - 1 else None

    def _relevant_among(self, needs: Sequence[_Key]) -> list[_Key]:
        return [key for key in needs if key in self._relevant]

    def graph(self) -> LineageGraph:
        """Number what is left, beginning with the outcome."""
        numbers: dict[_Key, int] = {}
        goals: list[Goal] = []
        firings: list[Firing] = []
        why: list[tuple[int, ...]] = []
        needs: list[tuple[int, ...]] = []
        queue: deque[_Key] = deque()
        truncated = self._walk.truncated

        def number(key: _Key) -> int | None:
            nonlocal truncated
            first = self._first[key]
            if first not in numbers:
                if len(goals) >= self._most_goals:
                    truncated = True
                    return None
                numbers[first] = len(goals)
                earliest, latest = self._walk.steps[first].goal, self._walk.steps[self._last[first]].goal
                goals.append(replace(earliest, last=latest.last))
                why.append(())
                queue.append(first)
            return numbers[first]

        number(self._walk.root)
        while queue:
            first = queue.popleft()
            behind: dict[tuple[Firing, tuple[int, ...]], None] = {}
            for use in (self._walk.uses[n] for n in self._walk.steps[first].why):
                shown = self._relevant_among(use.needs)
                if use.firing.transfer or shown:
                    # What ``pre`` implies is shown where it is used, though no fault that matters can touch it.
                    shown = [key for key in use.needs if key in shown or self._walk.steps[key].goal.given]
                    numbered = [n for n in map(number, shown) if n is not None]
                    behind[use.firing, tuple(dict.fromkeys(numbered))] = None
            places: list[int] = []
            for firing, needed in behind:
                if len(firings) >= MOST_FIRINGS:
                    truncated = True
                    break
                places.append(len(firings))
                firings.append(firing)
                needs.append(needed)
            why[numbers[first]] = tuple(places)
        return LineageGraph(tuple(goals), tuple(firings), tuple(why), tuple(needs), truncated)
