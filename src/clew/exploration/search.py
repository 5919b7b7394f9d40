"""The whole exploration: phases between the events that look at everything.

Within a phase, events trade places freely and the classes of executions are enumerated.  An event that looks at
everything (what waits, and arbitrary code) can happen in each global state in which what it waits for holds: each
consistent cut of the phase after which it can happen is the beginning of another phase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from clew.budgets.deadline import Deadline
from clew.budgets.whereabouts import ProcessEnd, tell_limit, tell_run
from clew.errors import BudgetExhaustedError, UsageError
from clew.exploration.cuts import Cuts
from clew.exploration.dpor import Dpor, End, ExploredExecution
from clew.exploration.driver import Driver
from clew.exploration.event import Event, Rank, steps_of
from clew.exploration.findings import Coverage, Findings, holds
from clew.exploration.plan import DEFAULT_TIMERS, Bounds
from clew.exploration.repetition import NotRepeatableError
from clew.exploration.result import Exploration, ExplorationAnswer, Found
from clew.exploration.system import EndsProcessError, System
from clew.exploration.timed.bounds import DEFAULT_CLOCKS, DEFAULT_LATENCIES, TimedBounds, choose_bounds
from clew.exploration.timed.search import TimedSearch
from clew.exploration.timed.system import TimedSystem
from clew.simulation.events import WaitQuiescence
from clew.simulation.execution.isolation import ProcessEndedError, needs_child, run_isolated
from clew.simulation.execution.steps import Step
from clew.simulation.execution.trace import execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario, as_loaded
from clew.simulation.pool import Link
from clew.simulation.recordings.nondeterminism import find_suspects
from clew.simulation.recordings.reading import LARGEST_SEED
from clew.simulation.recordings.recording import PROCESS_GOES_ON, make_recording, record_deadly
from clew.simulation.recordings.replaying import attempt
from clew.simulation.scenario import Scenario
from clew.simulation.user_code import name_of
from clew.simulation.world import WaitCondition

#: So many events of a sample are executed again and again in the end: no time to speak of, and enough for small
#: scenarios.  In large ones, what is not deterministic has differed somewhere long before.
_FEW = 2000

#: Called now and then with the number of schedules and a word on the current stage.
Progress = Callable[[int, str], None]
#: Called with a complete schedule.
Visit = Callable[[tuple[Step, ...]], None]


def explore(
    scenario: Scenario | str | LoadedScenario,
    *,
    timers: int | None = None,
    losses: int = 0,
    duplicates: int = 0,
    latencies: int | None = None,
    clocks: int | None = None,
    seed: int = 0,
    stop_at_first: bool = True,
    time_limit: float | None = None,
    progress: Progress | None = None,
    visit: Visit | None = None,
    in_process: bool = False,
    ends_with: ProcessEnd | None = None,
) -> Exploration:
    """Execute every schedule of a scenario, one of each class of schedules that differ in unrelated events only.

    - ``timers``: how often timers may go off at each node (default: 2); ``losses``, ``duplicates``: how often each
      link may lose or duplicate a message (also the same one again), where the scenario has loss or duplication.
    - ``latencies``, ``clocks``: with virtual time, how many values are tried of how long each message takes, and
      of how fast each clock runs, evenly from the least to the most (default: 2, these two); with ``clocks=0``,
      clocks run as the seed draws them.  Timers need no bound there.
    - ``seed``: for what the nodes draw; if they do, the answer says ``incomplete``.
    - ``stop_at_first``: end at the first violation; otherwise go on, and give one for each identity.
    - ``time_limit`` in seconds.  Ctrl-C ends the exploration, too; the answer then says ``incomplete``.
    - ``progress``: called with the number of schedules and the stage, now and then.
    - ``visit``: called with every complete schedule.
    - ``in_process``: execute the scenario in this process and not in a child, for a debugger or for code that is
      to leave something behind; so it is if there is somebody to ``visit``.
    - ``ends_with``: how the process is known to end; the event that does it is not performed, but found.
    """
    _check_arguments(seed, time_limit)
    loaded = as_loaded(scenario)
    bounds = _choose_bounds(loaded.scenario, seed, timers, losses, duplicates, latencies, clocks)
    if needs_child(in_process or visit is not None):
        again = partial(
            explore,
            loaded,
            timers=timers,
            losses=losses,
            duplicates=duplicates,
            latencies=latencies,
            clocks=clocks,
            seed=seed,
            stop_at_first=stop_at_first,
            time_limit=time_limit,
            in_process=True,
        )
        return _explore_in_child(again, progress)
    deadline = Deadline(time_limit)
    tell_limit(time_limit)
    tell_run(seed)
    try:
        with deadline.listening(), step_limit(loaded.scenario.step_seconds):
            search: Search | TimedSearch
            if isinstance(bounds, TimedBounds):
                timed = TimedSystem(loaded.scenario, bounds, seed, ends_with)
                search = TimedSearch(timed, deadline, stop_at_first, visit)
            else:
                search = Search(System(loaded.scenario, bounds, seed, ends_with), deadline, stop_at_first, visit)
            if progress is not None:
                deadline.heartbeat = lambda: progress(search.schedules, search.stage)
            return _with_recording(search.run(), loaded, seed)
    # With the places to look at, which only whoever has the files can name.
    except NotRepeatableError as error:
        raise NotRepeatableError(error.what, find_suspects(loaded.modules)) from error


def _check_arguments(seed: int, time_limit: float | None) -> None:
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit:g}", remedy="give a number larger than 0")
    if not 0 <= seed <= LARGEST_SEED:
        raise UsageError(f"the seed is {seed}", remedy=f"give one from 0 to {LARGEST_SEED}")


def _choose_bounds(
    scenario: Scenario,
    seed: int,
    timers: int | None,
    losses: int,
    duplicates: int,
    latencies: int | None,
    clocks: int | None,
) -> Bounds | TimedBounds:
    """Return how far to go; refuse bounds on what the scenario does not have."""
    if scenario.time is None:
        for name, number in (("latencies", latencies), ("clocks", clocks)):
            if number is not None:
                raise UsageError(
                    f"{name} is {number}, and the scenario has no virtual time",
                    remedy=f"give the scenario time=VirtualTime(...), or leave {name} out",
                )
        return Bounds(DEFAULT_TIMERS if timers is None else timers, losses, duplicates)
    if timers is not None:
        raise UsageError(
            f"timers is {timers}, and the scenario has virtual time, in which timers go off when they are due",
            remedy="leave timers out: executions end with their time, VirtualTime(until=...)",
        )
    return choose_bounds(
        scenario,
        seed,
        latencies=DEFAULT_LATENCIES if latencies is None else latencies,
        clocks=DEFAULT_CLOCKS if clocks is None else clocks,
        losses=losses,
        duplicates=duplicates,
    )


def _explore_in_child(again: Callable[..., Exploration], progress: Progress | None) -> Exploration:
    """Explore in a child; if an event ends it, once more in another, which does not perform that event."""
    try:
        return run_isolated(lambda tell: again(progress=tell), progress)
    except ProcessEndedError as ended:
        end = ended.end
    return run_isolated(lambda tell: again(progress=tell, ends_with=end), progress)


def _with_recording(explored: Exploration, loaded: LoadedScenario, seed: int) -> Exploration:
    """Record the first violation here, where the scenario is at hand: what was found goes to another process."""
    explored = replace(explored, scenario=loaded.full_name, seed=seed)
    if not explored.found:
        return explored
    explored = replace(
        explored,
        found=tuple(_with_labels(found, _with_clocks(loaded, found).scenario, seed) for found in explored.found),
    )
    found = explored.found[0]
    loaded = _with_clocks(loaded, found)
    if found.broken.invariant == PROCESS_GOES_ON:
        return replace(explored, recording=record_deadly(loaded, seed, found.steps, found.broken.what))
    execution = execute(loaded.scenario, seed, found.steps)
    if execution.identity != found.identity:
        what = f"a violation ({found.identity}) is gone when the same schedule is executed again"
        raise NotRepeatableError(what)
    return replace(explored, recording=make_recording(loaded, seed, found.steps, execution), execution=execution)


def _with_clocks(loaded: LoadedScenario, found: Found) -> LoadedScenario:
    """Return the scenario with clocks as fast as they are where the violation is."""
    scenario = loaded.scenario
    if scenario.time is None:
        return loaded
    return replace(loaded, scenario=replace(scenario, time=scenario.time.with_clocks(dict(found.clocks))))


def _with_labels(found: Found, scenario: Scenario, seed: int) -> Found:
    """Ask what the messages of a schedule are called, which takes an execution."""
    deadly = found.broken.invariant == PROCESS_GOES_ON
    # Without invariants: another one may break on the way, and would end it.
    whole = attempt(replace(scenario, invariants=()), seed, found.steps[:-1] if deadly else found.steps)
    return replace(found, labels=whole.execution.labels)


class Search:
    """The exploration while it goes on."""

    def __init__(self, system: System, deadline: Deadline, stop_at_first: bool, visit: Visit | None) -> None:
        self.schedules = 0
        self._system = system
        self._deadline = deadline
        self._stop_at_first = stop_at_first
        self._visit = visit
        self._blocked = 0
        self._coverage = Coverage(system)
        self._findings = Findings(system)

    @property
    def stage(self) -> str:
        return f"{self._findings.states} states, {len(self._findings)} violations"

    def run(self) -> Exploration:
        ended = None
        self._findings.at_first()
        try:
            if self._findings:
                ended = (
                    None
                    if self._stop_at_first
                    else "a node raises before the first event, so no schedule is explored"
                )
            elif self._explore():
                self._execute_again()
                self._coverage.is_all = True
        except BudgetExhaustedError as limit:
            ended = str(limit)
        except EndsProcessError as end:
            return self._conclude((end.found,), "an event ends the process, and what is after it is not explored")
        found = self._findings.collect(interrupted=ended is not None)
        return self._conclude(found[:1] if self._stop_at_first else found, ended)

    def _conclude(self, found: tuple[Found, ...], ended: str | None) -> Exploration:
        system, coverage = self._system, self._coverage
        reasons = () if found and self._stop_at_first else (*([ended] if ended else ()), *coverage.gaps())
        clean = ExplorationAnswer.INCOMPLETE if reasons else ExplorationAnswer.ALL_EXPLORED
        return Exploration(
            answer=ExplorationAnswer.VIOLATION if found else clean,
            schedules=self.schedules,
            states=self._findings.states,
            events=system.performed,
            blocked=self._blocked,
            bounds=system.bounds,
            reasons=reasons,
            found=found,
            invariants=tuple(map(name_of, system.scenario.invariants)),
            drew=coverage.drew,
            undone=coverage.undone,
            waiting=coverage.waiting,
        )

    def _explore(self) -> bool:
        """Look at everything; False if it ended at a violation."""
        # A stack: phases are explored depth first, so that few beginnings are kept.
        pending: list[tuple[Event, ...]] = [()]
        while pending:
            prefix = pending.pop()
            cuts = Cuts(self._system, prefix)
            for made in Dpor(self._system, prefix, self._deadline).executions():
                pending += self._examine(made, cuts)
                if self._findings and self._stop_at_first:
                    return False
        return True

    def _execute_again(self) -> None:
        """Execute what was executed only once again: nodes that never do the same twice would not be noticed.

        A part of it is executed more often.
        """
        system = self._system
        searched = system.performed
        for execution in system.repetition.yield_executed_once():
            self._deadline.check()
            Driver(system, list(execution), len(execution))
        most = system.performed + _FEW
        for execution in system.repetition.sample():
            if system.performed + len(execution) > most:
                break
            self._deadline.check()
            Driver(system, list(execution), len(execution))
            system.compare_beginning(system.world())
        # What was executed to check on the code is not counted as explored.
        system.performed = searched

    def _examine(self, made: ExploredExecution, cuts: Cuts) -> list[tuple[Event, ...]]:
        """Look at what an execution passed through; return the beginnings of the phases that follow."""
        if made.end is End.REDUNDANT:
            self._blocked += 1
            return []
        driver = made.driver
        self._coverage.note(driver.events, cut_short=made.end is End.CUT_SHORT)
        for event in driver.events[made.new :]:
            self._findings.event(event, driver.events)
        needed = self._system.keeps_states or driver.item < len(self._system.plan) or self._coverage.asks_at_last
        following = self._look_at_cuts(driver, cuts) if needed else []
        # An execution after which something else can happen, or could but for the bound, is not complete.
        goes_on = any(len(beginning) == len(driver.events) + 1 for beginning in following)
        at_bound = driver.item < len(self._system.plan) and len(driver.events) >= self._system.scenario.steps
        if made.end is End.COMPLETE and not goes_on and not at_bound:
            self.schedules += 1
            self._coverage.waiting += driver.item < len(self._system.plan)
            if self._visit is not None:
                self._visit(steps_of(driver.events))
        return following

    def _look_at_cuts(self, driver: Driver, cuts: Cuts) -> list[tuple[Event, ...]]:
        following = []
        findings, plan = self._findings, self._system.plan
        outside = [e for e in driver.events if e.key.rank is Rank.OUTSIDE]
        for cut in cuts.new(driver.events, driver.local):
            self._deadline.check()
            last = outside[cut.outside - 1] if cut.outside else None
            up = last.up if last else self._system.running
            # Elsewhere an execution ends with an exception, so what is broken after one is no finding here either.
            if self._system.keeps_states and not cut.failed:
                broken = findings.state(up, cut.local)
                if broken is not None and findings.is_shorter(broken, cut.size):
                    findings.keep(broken, cut.events(driver.events))
            if self._coverage.asks_at_last and cut.outside == len(plan) and not cut.failed:
                events = cut.events(driver.events)
                self._coverage.ask_at_last(Driver(self._system, list(events), len(events)).world)
            # An execution that was cut short may not have come to what looks at everything.
            if cut.outside == driver.item < len(plan) and plan[driver.item].is_global:
                events = cut.events(driver.events)
                if self._can_go_on(events, driver.item, last.held if last else ()):
                    following += self._begin_phase(events)
        return following

    # -- from phase to phase -------------------------------------------------------------------------------------

    def _can_go_on(self, events: tuple[Event, ...], item: int, held: tuple[Link, ...]) -> bool:
        """Tell whether the next event from outside, which looks at everything, can happen after these."""
        match self._system.plan[item].gate:
            case WaitQuiescence():
                on_links = dict(self._system.counted)
                for event in events:
                    for link, more in event.moves:
                        on_links[link] = on_links.get(link, 0) + more
                # What a partition holds back is not waited for, or one that never heals would wait for ever.
                return all(link in held or not number for link, number in on_links.items())
            case WaitCondition() as wait:
                return holds(wait, Driver(self._system, list(events), len(events)).world)
        return True

    def _begin_phase(self, events: tuple[Event, ...]) -> list[tuple[Event, ...]]:
        if len(events) >= self._system.scenario.steps:
            self._coverage.note(events, cut_short=True)
            return []
        driver = Driver(self._system, list(events), len(events))
        self._findings.event(driver.do_global(), driver.events)
        self._coverage.note(driver.events)
        return [tuple(driver.events)]
