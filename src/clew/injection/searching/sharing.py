"""Sets of faults are run by workers: forks of this process, or those of an executor.

Sets of one size do not depend on each other.  What a worker says of a set is what the search would have seen
itself; a worker that refuses one, or dies, has that done again here, where it shows what is behind it.

Changes that executions leave behind in modules and classes are looked for where they happen, after each block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, UsageError
from clew.faults import FaultsOf
from clew.files.json_document import json_line
from clew.injection.bounds import InjectionBounds
from clew.injection.execution.course import Course
from clew.injection.faults import CodeFault
from clew.injection.repeating import Leftovers, states_at_end
from clew.injection.searching.exhausting import VisitsHere
from clew.injection.searching.frontier import Frontier, OrderedFaults
from clew.injection.searching.system import CodeSystem
from clew.injection.searching.visiting import Visited, Visitor, digest_history
from clew.search.verdict import LedgerOf
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario
from clew.simulation.sending import SentScenario, open_scenario, read_files, send_scenario
from clew.violation import Violation
from clew.workers.blocks import Answered, Block, Blocks
from clew.workers.crew import Crew
from clew.workers.executors import ExecutorCrew, Team
from clew.workers.forks import ForkCrew
from clew.workers.processes import Serve
from clew.workers.tasks import Job


class _Seen(NamedTuple):
    """What a worker says of a run; see ``Visited``."""

    broken: Violation | None
    is_over: bool
    is_vacuous: bool
    extends: bool
    history: bytes | None
    extensions: Sequence[OrderedFaults]


class _Reply(NamedTuple):
    """What became of a block, up to the first set that breaks something.

    ``changed``: what executions have left behind.  ``is_refused``: something was not as it should be.
    """

    seen: Sequence[_Seen] = ()
    changed: Sequence[str] = ()
    is_refused: bool = False


@dataclass(frozen=True)
class Sharing:
    """Who is to run the sets: ``team``, or so many forks."""

    loaded: LoadedScenario
    forks: int = 1
    team: Team | None = None

    @contextmanager
    def visits(
        self, system: CodeSystem, ledger: LedgerOf[CodeFault], leftovers: Leftovers, peaceful: Course
    ) -> Iterator[SharedVisits]:
        """Give those who run the sets of a search, and end them afterwards."""
        with self._start(system, ledger.deadline, leftovers, peaceful) as crew:
            yield SharedVisits(crew, system, ledger, leftovers, is_remote=self.team is not None)

    def _start(self, system: CodeSystem, deadline: Deadline, leftovers: Leftovers, peaceful: Course) -> Crew:
        bounds, seed = system.spec, system.seed
        if self.team is None:
            # Another system: no run of a worker is the one that is known to end this process.
            apart = CodeSystem(system.scenario, bounds, seed=seed)
            return ForkCrew(self.forks, _serve_sets(apart, leftovers))
        sent = send_scenario(self.loaded)
        assert system.scenario.time is not None
        given = CodeJob(sent, system.scenario.time.until, bounds, seed, _sample(peaceful))
        return ExecutorCrew(self.team, Job.of(open_exhausting, given), deadline, partial(read_files, sent))


class SharedVisits:
    """The sets of one size, run by a crew."""

    def __init__(
        self,
        crew: Crew,
        system: CodeSystem,
        ledger: LedgerOf[CodeFault],
        leftovers: Leftovers,
        *,
        is_remote: bool,
    ) -> None:
        self._crew = crew
        self._system = system
        self._ledger = ledger
        self._leftovers = leftovers
        self._is_remote = is_remote
        # A worker's process knows nothing of digests of this one, nor this one of that.
        self._here = Visitor(system, prune=True, is_resumed=False)

    def visit_level(self, front: Frontier) -> Iterator[Visited]:
        """Run the sets from ``front.place`` on, and yield what they showed, in order."""
        level = front.level
        # The empty set was run here to know whether it is worth going on, and handing it out would only take time.
        if front.place == 0 and level[0].faults == ():
            yield from VisitsHere(self._here, self._ledger).visit_level(front)
            return
        blocks = Blocks(self._crew, front.place, self._end(front), lambda block: self._request(level, block))
        try:
            while not blocks.finished:
                blocks.hand_out()
                blocks.collect()
                self._ledger.deadline.check()
                for answered in blocks.in_order():
                    yield from self._take(level, answered)
            # What is beyond a limit of runs is refused as it would be here.
            if blocks.handed_out < len(level):
                self._ledger.before_run("")
        except BudgetExhaustedError:
            if self._ledger.deadline.passed():
                yield from self._find_late(level, blocks)
            raise

    def _end(self, front: Frontier) -> int:
        most = self._ledger.max_runs
        if most is None:
            return len(front.level)
        return min(len(front.level), front.place + max(0, most - self._ledger.runs))

    def _request(self, level: Sequence[OrderedFaults], block: Block) -> Sequence[OrderedFaults]:
        sets = level[block.first : block.first + block.size]
        return [each._replace(before=None) for each in sets] if self._is_remote else sets

    def _take(self, level: Sequence[OrderedFaults], answered: Answered) -> Iterator[Visited]:
        block = answered.block
        reply = _Reply(is_refused=True) if answered.failure is not None else answered.value
        for number, each in enumerate(level[block.first : block.first + block.size]):
            self._ledger.before_run(self._stage(each))
            if reply.is_refused:
                yield self._here.visit(each)
                continue
            self._leftovers.note(reply.changed)
            # Numbered as if it had been made here, so that one that ends this process is found by its number.
            self._system.executions += 1
            yield self._visited(each, reply.seen[number])

    def _find_late(self, level: Sequence[OrderedFaults], blocks: Blocks) -> Iterator[Visited]:
        """Yield what breaks something although sets before it are missing: what was found is not lost."""
        for answered in blocks.rest():
            for number, seen in enumerate(() if answered.failure is not None else answered.value.seen):
                if seen.broken is not None:
                    yield self._visited(level[answered.block.first + number], seen)

    def _visited(self, each: OrderedFaults, seen: _Seen) -> Visited:
        extensions = [s._replace(before=None) if self._is_remote else s for s in seen.extensions]
        return Visited(
            each, seen.broken, seen.is_over, seen.is_vacuous, seen.extends, seen.history, lambda: extensions
        )

    def _stage(self, each: OrderedFaults) -> str:
        crew = self._crew.describe()
        return f"{len(each.faults)} faults{f' on {crew}' if crew else ''}"


# -- at the worker -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CodeJob:
    """What all runs of a check have in common; ``sample`` is a digest of the one without faults."""

    scenario: SentScenario
    until: float
    bounds: InjectionBounds
    seed: int
    sample: str


def open_exhausting(job: CodeJob, folder: str | None) -> Serve:
    """Load the scenario at a worker, and return what runs sets of faults there."""
    loaded = open_scenario(job.scenario, folder)
    assert loaded.scenario.time is not None, "a scenario without it is not sent"
    scenario = replace(loaded.scenario, time=replace(loaded.scenario.time, until=job.until))
    # Before anything is executed, as at home.
    leftovers = Leftovers(scenario)
    system = CodeSystem(scenario, job.bounds, seed=job.seed)
    with step_limit(scenario.step_seconds):
        sample = _sample(system.execute(FaultsOf()))
    if sample != job.sample:
        raise UsageError(
            "the execution without faults is not the same there as here",
            remedy="install the same libraries there; the code must depend on state, message and context only",
        )
    return _serve_sets(system, leftovers)


def _serve_sets(system: CodeSystem, leftovers: Leftovers) -> Callable[[Sequence[OrderedFaults]], _Reply]:
    """Return what runs sets of faults, in a worker."""

    def serve(sets: Sequence[OrderedFaults]) -> _Reply:
        visitor = Visitor(system, prune=True, is_resumed=False)
        seen = []
        try:
            with step_limit(system.scenario.step_seconds):
                for each in sets:
                    seen.append(_look(visitor.visit(each)))
                    if seen[-1].broken is not None:
                        break
        except UsageError:
            # It is done again where paths are those that the user knows.
            return _Reply(is_refused=True)
        return _Reply(seen, leftovers.list_changes())

    return serve


def _look(visited: Visited) -> _Seen:
    stays = visited.broken is not None or not visited.extends
    # Also where the search knows the history already: a worker does not know what others have found.
    extensions = () if stays else visited.extend()
    return _Seen(visited.broken, visited.is_over, visited.is_vacuous, visited.extends, visited.history, extensions)


def _sample(course: Course) -> str:
    """Return a digest of what happened in a run, and of the states at its end."""
    states = json_line({name: str(value) for name, value in states_at_end(course).items()})
    return hashlib.sha256(digest_history(course) + states.encode()).hexdigest()
