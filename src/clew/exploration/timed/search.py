"""The whole exploration in virtual time: from every situation, everything that can happen next, once.

Nothing is left out on the ground that two events are unrelated.  That those at different nodes at one time trade
places (one changes its node and its own part of what is on its way, and so does the other; what either sends has a
time of its own) shows itself: both orders come to the same situation, from which the search goes on once.  Between
the two, there are two situations; both occur, and invariants look at both.

An execution ends where something breaks, as everywhere else.  Worlds are not copied: to come back to a situation,
what led to it is executed again, and must lead there again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.exploration.result import Exploration, ExplorationAnswer, Found
from clew.exploration.system import EndsProcessError
from clew.exploration.timed.clock import Pick
from clew.exploration.timed.coverage import TimedCoverage
from clew.exploration.timed.following import begin_event, follow, write_steps
from clew.exploration.timed.run import BEGINNING, Choice, Place, TimedRun
from clew.exploration.timed.system import TimedSystem
from clew.simulation.execution.steps import Ended, Step
from clew.simulation.scenario import Broken
from clew.simulation.user_code import name_of

#: What executions that are few are executed again and again for, in events; and how many of them how often.
_FEW, _SAMPLE, _ROUNDS = 2000, 64, 14


class _Branch(NamedTuple):
    """Something that can happen after a place, with the first of the choices in it; the rest are open."""

    before: Place | None
    choice: Choice
    picks: tuple[Pick, ...] = ()


class _Violation(NamedTuple):
    """``place`` is where it shows, ``clocks`` how fast they run; ``at_end``: a promise, when all is over."""

    broken: Broken
    place: Place
    clocks: tuple[tuple[str, float], ...]
    at_end: bool = False
    trace: str | None = None


class TimedSearch:
    """``schedules``: ends that differ in their situations; ``states``: the situations that there are."""

    def __init__(
        self,
        system: TimedSystem,
        deadline: Deadline,
        stop_at_first: bool,
        visit: Callable[[tuple[Step, ...]], None] | None,
    ) -> None:
        self.schedules = 0
        self._system = system
        self._deadline = deadline
        self._stop_at_first = stop_at_first
        self._visit = visit
        self._seen: set[bytes] = set()
        self._broken: set[tuple[bytes, str]] = set()
        self._merged = 0
        self._shortest: dict[str, _Violation] = {}
        self._coverage = TimedCoverage(system)
        #: Where executions ended, or came to what was known: together they contain everything.
        self._tips: list[Place] = []

    @property
    def stage(self) -> str:
        return f"{self._states} states, {len(self._shortest)} violations"

    @property
    def _states(self) -> int:
        return len(self._seen) + len(self._broken)

    def run(self) -> Exploration:
        """Explore, and say what it comes to."""
        ended = None
        try:
            self._explore()
            if not (self._shortest and self._stop_at_first):
                self._coverage.is_all = True
                self._execute_again()
        except BudgetExhaustedError as limit:
            ended = str(limit)
        except EndsProcessError as end:
            return self._conclude((end.found,), "an event ends the process, and what is after it is not explored")
        found = sorted(self._shortest.items(), key=lambda item: (item[1].place.size, item[0]))
        return self._conclude(tuple(self._confirm(identity, each) for identity, each in found), ended)

    def _conclude(self, found: tuple[Found, ...], ended: str | None) -> Exploration:
        system, coverage = self._system, self._coverage
        reasons = () if found and self._stop_at_first else (*([ended] if ended else ()), *coverage.gaps())
        clean = ExplorationAnswer.INCOMPLETE if reasons else ExplorationAnswer.ALL_EXPLORED
        return Exploration(
            answer=ExplorationAnswer.VIOLATION if found else clean,
            schedules=self.schedules,
            states=self._states,
            events=system.performed,
            blocked=self._merged,
            bounds=system.bounds,
            reasons=reasons,
            found=found,
            invariants=tuple(map(name_of, (*system.scenario.invariants, *system.scenario.promises))),
            drew=coverage.drew,
            undone=coverage.undone,
            waiting=coverage.waiting,
        )

    # -- exploring -----------------------------------------------------------------------------------------------

    def _explore(self) -> None:
        """Follow every choice from every situation; a stack, so that few places are kept."""
        pending = [_Branch(None, BEGINNING)]
        while pending and not self._is_enough:
            pending += self._advance(pending.pop())

    @property
    def _is_enough(self) -> bool:
        return self._stop_at_first and bool(self._shortest)

    def _advance(self, branch: _Branch | None) -> list[_Branch]:
        """Go on from a place to an end or to what is known; return what else could have happened on the way."""
        others: list[_Branch] = []
        run: TimedRun | None = None
        while branch is not None:
            self._deadline.check()
            run, place = self._perform(run, branch)
            # After the event: only then is it known how many messages it sends, and whose clocks it asks.
            others += _list_alternatives(branch, place, run.clock.counts)
            ahead = self._look_around(run, place)
            if not ahead:
                self._tips.append(place)
            # Backwards: what is tried first is last on the stack.
            others += [_Branch(place, choice) for choice in reversed(ahead[1:])]
            branch = _Branch(place, ahead[0]) if ahead else None
        return others

    def _perform(self, run: TimedRun | None, branch: _Branch) -> tuple[TimedRun, Place]:
        """Let something happen, and return the place after it."""
        system, before = self._system, branch.before
        if before is None:
            run = TimedRun(system, branch.picks)
        else:
            if run is None:
                run = follow(system, before)
                run.settle()
            begin_event(run, system, before, branch.choice)
            run.do(branch.choice, branch.picks)
        self._coverage.note(run, branch.choice)
        return run, Place(before, branch.choice, tuple(run.clock.picks), run.size, run.digest())

    def _look_around(self, run: TimedRun, place: Place) -> list[Choice]:
        """See what a place is; return what can happen next, nothing where that is known or not to be."""
        if place.digest in self._seen and run.world.failure is None:
            self._merged += 1
            return []
        broken = run.look()
        if broken is not None:
            # Nothing follows, as in random runs: what broke later could not be replayed, for a replay ends here.
            identity = self._system.scenario.same(broken, run.world)
            # Not with the others: one can come to the same situation without raising what was raised here.
            self._broken.add((place.digest, identity))
            trace = "".join(one.trace for one in run.world.failure.all) if run.world.failure else None
            self._keep(identity, _Violation(broken, place, run.clock.read_speeds(), trace=trace))
            return []
        self._seen.add(place.digest)
        run.settle()
        self._coverage.note_place(run)
        ahead = run.possible()
        if ahead and place.size >= self._system.scenario.steps:
            self._coverage.reach(run.item, handled=False, cut_short=True)
            return []
        if not ahead:
            self._end(run, place)
        return ahead

    def _end(self, run: TimedRun, place: Place) -> None:
        """Look at an execution that has come to its end."""
        self.schedules += 1
        broken = run.finish()
        self._coverage.note_end(run)
        if broken is not None:
            identity = self._system.scenario.same(broken, run.world)
            self._keep(identity, _Violation(broken, place, run.clock.read_speeds(), at_end=True))
        if self._visit is not None:
            self._visit((*write_steps(self._system, place), Ended()))

    def _keep(self, identity: str, violation: _Violation) -> None:
        known = self._shortest.get(identity)
        if known is None or violation.place.size < known.place.size:
            self._shortest[identity] = violation

    def _confirm(self, identity: str, found: _Violation) -> Found:
        """Return a violation with the schedule that leads to it."""
        steps = write_steps(self._system, found.place)
        return Found(
            found.broken, identity, (*steps, Ended()) if found.at_end else steps, found.trace, clocks=found.clocks
        )

    def _execute_again(self) -> None:
        """Execute everything once more, and a part of it more often: what came last was executed only once."""
        system = self._system
        searched = system.performed
        for tip in self._tips:
            self._deadline.check()
            follow(system, tip)
        most = system.performed + _FEW
        for tip in self._tips[:_SAMPLE] * _ROUNDS:
            if system.performed + tip.size > most:
                break
            self._deadline.check()
            follow(system, tip)
        # What was executed to check on the code is not counted as explored: it follows no new choice.
        system.performed = searched


def _list_alternatives(branch: _Branch, place: Place, counts: Sequence[int]) -> list[_Branch]:
    """Return the other choices in an event, where they were open: beyond those that were given."""
    found: list[_Branch] = []
    # Each leaves what comes after it open again: another latency of the first message decides nothing about the
    # second, but another speed of a clock may change what is asked for at all.
    for index in range(len(branch.picks), len(counts)):
        pick = place.picks[index]
        found += [
            branch._replace(picks=(*place.picks[:index], pick._replace(place=other)))
            for other in range(pick.place + 1, counts[index])
        ]
    return found
