"""Executions that are made again: to go on from a place, to write them down, and to compare them."""

from __future__ import annotations

from clew.exploration.repetition import NotRepeatableError
from clew.exploration.result import Found
from clew.exploration.system import EndsProcessError
from clew.exploration.timed.run import Choice, Place, TimedRun
from clew.exploration.timed.system import TimedSystem
from clew.simulation.execution.steps import Act, At, Step, describe
from clew.simulation.recordings.recording import PROCESS_GOES_ON
from clew.simulation.scenario import Broken


def follow(system: TimedSystem, place: Place) -> TimedRun:
    """Execute again what led to a place; it must come to the same situation."""
    first, *rest = place.path()
    run = TimedRun(system, first.picks)
    for each in rest:
        assert each.before is not None
        run.settle()
        begin_event(run, system, each.before, each.choice)
        run.do(each.choice, each.picks)
    # All nodes are looked at, also those at which nothing has happened lately: what they share would show there.
    run.viewer.forget()
    if not run.clock.is_as_given or run.digest() != place.digest:
        raise NotRepeatableError(_find_difference(system, place))
    return run


def begin_event(run: TimedRun, system: TimedSystem, before: Place, choice: Choice) -> None:
    """Count an event that is about to be performed; where it is the one that ends the process, tell so instead."""
    if system.begin_event():
        return
    time, step = run.describe(choice)
    steps = (*write_steps(system, before), *([At(time)] if time != run.world.ticks else []), step)
    node = step.target if isinstance(step, Act) else getattr(step, "node", "")
    broken = Broken(PROCESS_GOES_ON, system.end, (node,) if node else ())
    raise EndsProcessError(
        Found(broken, f"{PROCESS_GOES_ON}: {system.end}", steps, clocks=run.clock.read_speeds())
    )


def write_steps(system: TimedSystem, place: Place) -> tuple[Step, ...]:
    """Return an execution as a schedule, as random runs write theirs: waits where the waiting begins."""
    first, *rest = place.path()
    run = TimedRun(system, first.picks)
    steps: list[Step] = []
    waits = time = 0
    for each in (*rest, None):
        run.settle()
        while waits < len(system.plan) and waits <= run.item:
            gate = system.plan[waits].gate
            steps += [] if gate is None else [gate]
            waits += 1
        if each is not None:
            when, step = run.describe(each.choice)
            steps += [step] if when == time else [At(when), step]
            time = when
            run.do(each.choice, each.picks)
    return tuple(steps)


def _find_difference(system: TimedSystem, place: Place) -> str:
    """Say at which event an execution is another one than it was."""
    first, *rest = place.path()
    run = TimedRun(system, first.picks)
    what = "what nodes do before the first event"
    for each in (first, *rest):
        if each is not first:
            run.settle()
            what = f"'{describe(run.describe(each.choice)[1])}'"
            run.do(each.choice, each.picks)
        run.viewer.forget()
        if not run.clock.is_as_given or run.digest() != each.digest:
            return f"executed again, {what} leaves another state, or something else is under way after it"
    return f"executed again, {what} leaves another state now and then"
