"""Code as the lineage loop sees it: a system that is run under faults and says what its outcomes rested on.

What a run shows is true of that run.  Each support is therefore conditional on the faults of the run (a retry
exists *because* a message was lost), and rests on what is known to help: a candidate cuts all supports of all runs
whose faults it includes.  Whether other faults could do harm in another way nobody knows; so this never certifies.

**What is tried first.**  A promise is broken where somebody was promised something, and what keeps it is gone.  So
candidates come first that leave alone what the promise was given for (what ``assume`` rests on) in some run.
Where there are none within the bounds, something else has to happen first: those runs are extended first that are
most *fragile*, where the fewest further faults would do it, and messages are lost before nodes stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clew.budgets.whereabouts import tell_event
from clew.faults import FaultsOf
from clew.injection.bounds import InjectionBounds
from clew.injection.execution.course import Course
from clew.injection.execution.run import InjectedRun
from clew.injection.faults import CodeFault, NodeCrash, NodeRestart
from clew.injection.lineage.cutting import Cutter
from clew.injection.lineage.ways import Way, find_assumed, find_ways, trace_events
from clew.lineage.circuit import CircuitOf
from clew.search.protocol import TracedRunOf
from clew.simulation.scenario import Broken, Invariant, Promise, Scenario
from clew.simulation.user_code import name_of
from clew.violation import Violation

CodeFaults = FaultsOf[CodeFault]


class DeadlyRunError(Exception):
    """Raised instead of the execution that is known to end its process."""

    def __init__(self, faults: CodeFaults) -> None:
        super().__init__(str(faults))
        self.faults = faults


class _Followed(NamedTuple):
    """Of each goal, for each way in which it was met, what cuts that.

    ``spoiling`` cuts that anything was promised.
    """

    goals: Mapping[Violation, Sequence[Sequence[CodeFault]]]
    spoiling: Sequence[CodeFault]

    @property
    def cuts(self) -> list[CodeFault]:
        return [fault for ways in self.goals.values() for way in ways for fault in way]


class Lesson(NamedTuple):
    """A run as the loop sees it, and what it teaches beside that.

    ``cuts``: the faults that would cut something that helped.  ``promised``: the gate that holds while something
    is promised as in this run; None if it was not followed.  ``needed``: about how many faults would break it.
    """

    run: TracedRunOf[CodeFault]
    is_vacuous: bool = False
    cuts: tuple[CodeFault, ...] = ()
    promised: int | None = None
    needed: int = 0


class CodeSystem:
    """A scenario within bounds; ``vacuous`` counts the runs in which nothing was promised.

    ``executions``: how many there were, with those of processes before this one.

    ``deadly``: the number of the execution that is known to end its process; it is not performed.
    """

    def __init__(
        self, scenario: Scenario, bounds: InjectionBounds, *, seed: int = 0, deadly: int | None = None
    ) -> None:
        self._deadly = deadly
        self.executions = 0
        self.scenario = scenario
        self.spec = bounds
        self.circuit: CircuitOf[CodeFault] = CircuitOf()
        self.hazards: Mapping[Violation, int] = {}
        self.vacuous = 0
        self.seed = seed
        self._known: dict[CodeFault, None] = {}
        # By place, too: all functions without a name have the same one.
        self._goals: list[tuple[Violation, Promise | Invariant]] = [
            (Violation(name_of(each), (place,)), each)
            for place, each in enumerate((*scenario.promises, *scenario.invariants))
        ]
        self._promised: list[int] = []
        self._fragile: list[
            tuple[int, int, CodeFaults]
        ] = []  # how many faults more, how many there are, and which

    @property
    def faults(self) -> Sequence[CodeFault]:
        """Return the faults that would cut something that helped in one of the runs so far."""
        return list(self._known)

    @property
    def goals(self) -> Sequence[Violation]:
        """Return what can be violated."""
        return [goal for goal, _ in self._goals]

    def execute(
        self,
        faults: CodeFaults,
        *,
        tracing: bool = False,
        observing: bool = False,
        recording: bool = False,
    ) -> Course:
        """Execute once; see ``InjectedRun``."""
        self.executions += 1
        tell_event(self.executions)  # so that whoever outlives this process knows which execution ended it
        if self.executions == self._deadly:
            raise DeadlyRunError(faults)
        return InjectedRun(
            self.scenario, faults, seed=self.seed, tracing=tracing, observing=observing, recording=recording
        ).finish()

    def count(self, course: Course) -> None:
        """Count a run that says nothing because nothing was promised in it."""
        self.vacuous += course.is_vacuous

    def cuts_of(self, course: Course) -> set[CodeFault]:
        """Return the faults that would cut something that helped in a run; none where nothing was kept."""
        if course.is_vacuous or not course.is_over or course.broken is not None:
            return set()
        return set(self._follow(course).cuts)

    def repeat(self, faults: CodeFaults, *, observing: bool) -> Course:
        """Execute once more what another process has executed and counted."""
        return InjectedRun(self.scenario, faults, seed=self.seed, observing=observing).finish()

    def trace(self, faults: CodeFaults) -> TracedRunOf[CodeFault]:
        """Execute under faults, and follow what was kept back to what it rested on."""
        lesson = self.examine(faults)
        self.learn(lesson)
        return lesson.run

    def examine(self, faults: CodeFaults) -> Lesson:
        """Execute under faults, and return what that teaches."""
        course = self.execute(faults, tracing=True)
        if not course.is_within(self.spec.within):
            return Lesson(TracedRunOf(faults, (), {}, False, (faults,)))
        if course.broken is not None:
            return Lesson(TracedRunOf(faults, (violation_of(course.broken),), {}, False))
        if course.is_vacuous or not course.is_over:
            # More faults of this kind would hardly make somebody promise something.
            return Lesson(TracedRunOf(faults, (), {}, False, (faults,)), course.is_vacuous)
        return self._explain(course, faults)

    def learn(self, lesson: Lesson) -> None:
        """Remember what a run teaches: which faults there are, and what is to be tried first."""
        self.vacuous += lesson.is_vacuous
        self._known.update(dict.fromkeys(lesson.cuts))
        if lesson.promised is not None:
            self._promised.append(lesson.promised)
            self._fragile.append((lesson.needed, len(lesson.run.faults), lesson.run.faults))

    def _explain(self, course: Course, faults: CodeFaults) -> Lesson:
        followed = self._follow(course)
        present = [self.circuit.present(fault) for fault in faults]
        promised = self._uncut(present, followed.spoiling)
        supports = {
            goal: self.circuit.any_of(self._uncut(present, cuts) for cuts in ways)
            for goal, ways in followed.goals.items()
        }
        run = TracedRunOf(faults, (), supports, False)
        return Lesson(run, False, tuple(dict.fromkeys(followed.cuts)), promised, _count_needed(followed))

    def _follow(self, course: Course) -> _Followed:
        """Follow what was kept in a run back to what it rested on, and to the faults that would cut that."""
        nodes = dict(course.world.nodes)
        assumed = find_assumed(self.scenario.assume, nodes)
        promising = trace_events(course, assumed)
        ways = {goal: [way.without(assumed) for way in find_ways(promise, nodes)] for goal, promise in self._goals}
        events = {way: trace_events(course, way.read) for found in ways.values() for way in found}
        cutter = Cutter(course, self.spec, promising.union(*events.values()))
        goals = {goal: [cutter.cut(way, events[way]) for way in found] for goal, found in ways.items()}
        return _Followed(goals, cutter.cut(Way((), assumed), promising))

    def _uncut(self, present: Sequence[int], cuts: Iterable[CodeFault]) -> int:
        """Return the gate that holds while these faults are present and those are not."""
        return self.circuit.all_of([*present, *(self.circuit.absent(fault) for fault in cuts)])

    # -- what is tried first -------------------------------------------------------------------------------------

    def prefer(self) -> list[int]:
        """Return the gates under which a candidate is looked for first, see above."""
        gates = []
        if self.scenario.assume is not None:
            gates.append(self.circuit.any_of(self._promised))
        halting = [fault for fault in self._known if isinstance(fault, NodeCrash | NodeRestart)]
        likely = sorted(self._fragile, key=lambda run: run[:2])[:_MOST_EXTENDED]
        for _, _, faults in likely:
            present = [self.circuit.present(fault) for fault in faults]
            gates.append(self._uncut(present, [fault for fault in halting if fault not in faults]))
        gates.append(self._uncut([], halting))
        return gates


#: More faults than there can be.
_NEVER = 1_000_000
#: So many of the most fragile runs are extended before others are.
_MOST_EXTENDED = 8


def _count_needed(followed: _Followed) -> int:
    """Return how many faults would be enough to break something that was promised in a run."""
    spoiled = set(followed.spoiling)
    needed = [_count_cuts([set(cuts) - spoiled for cuts in ways]) for ways in followed.goals.values()]
    return min(needed, default=_NEVER)


def _count_cuts(ways: Sequence[set[CodeFault]]) -> int:
    """Return about how many faults cut all these ways, one after the other those that cut most."""
    left, number = list(ways), 0
    while left:
        counts: dict[CodeFault, int] = {}
        for cuts in left:
            for fault in cuts:
                counts[fault] = counts.get(fault, 0) + 1
        if not counts:
            return _NEVER
        best = max(counts.values())
        fault = min((f for f, count in counts.items() if count == best), key=lambda f: f.order_key())
        left, number = [cuts for cuts in left if fault not in cuts], number + 1
    return number


def violation_of(broken: Broken) -> Violation:
    """Return what a broken promise or invariant is for a search."""
    return Violation(broken.invariant, broken.nodes)
