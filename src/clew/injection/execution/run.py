"""One execution under faults, always the same: what is due first happens first, in the order it was sent.

The network does nothing of itself: the scenario's ``loss`` and ``duplication`` are for random runs.  Events from
outside come when what they wait for is over; those that are drawn (``count``) at times that are spread evenly, so
that a fault does not shift them.  Invariants are looked at after every event, whatever the scenario's
``check_every``: that is for random runs, too.

A code block is an event of every node that is up after it: it can have done anything to any of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from random import Random
from typing import assert_never

from clew.injection.execution.course import Course, NodeMoment, Occurrence
from clew.injection.execution.flow import Flow
from clew.injection.execution.idling import IdleWatch
from clew.injection.execution.world import InjectedWorld
from clew.injection.faults import (
    CodeFault,
    MessageCopy,
    MessageLoss,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.simulation.events import Elapse, Restart, Start, Stop, WaitQuiescence
from clew.simulation.execution.steps import At, Do, Ended, Step, act_of
from clew.simulation.pool import Envelope, TimedPool
from clew.simulation.scenario import Broken, Scenario
from clew.simulation.timing import to_ticks
from clew.simulation.user_code import name_of
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition


class _EndsProcessError(Exception):
    """Raised instead of performing the event that is known to end the process."""


class InjectedRun:
    """An execution as it goes on; ``finish`` may be called once.

    ``tracing``: note what events read and write.  ``observing``: note which of them change nothing.
    ``recording``: keep what was done as steps, so that others can do it again.
    ``ends_at``: the number of the event, from 1, that is known to end the process: the execution ends before it.
    """

    def __init__(
        self,
        scenario: Scenario,
        faults: Iterable[CodeFault] = (),
        *,
        seed: int = 0,
        tracing: bool = False,
        observing: bool = False,
        recording: bool = False,
        ends_at: int | None = None,
    ) -> None:
        self._scenario = scenario
        self._ends_at = ends_at
        self._seed = seed
        self._faults = tuple(faults)
        self._flow = Flow() if tracing else None
        self.world = InjectedWorld(scenario, seed, self._faults, recording=recording, flow=self._flow)
        pool, clock = self.world.pool, self.world.clock
        assert isinstance(pool, TimedPool) and clock is not None, "a check has virtual time"
        self._pool, self._end = pool, clock.until
        self._watch = IdleWatch(self.world) if observing else None
        self._idle: set[int] = set()
        self._recording = recording
        self._steps: list[Step] = []
        self._told = 0  # the time that the steps have come to
        self._occurrences: list[Occurrence] = []
        self._struck: dict[CodeFault, int] = {}
        self._counts: dict[str, int] = {}  # events at each node
        self._moments: list[NodeMoment] = []
        self._touched: tuple[str, ...] = ()  # the nodes that had the latest event
        self._plan_nodes()
        self._plan_outside()

    def _plan_nodes(self) -> None:
        self._halting: dict[tuple[str, int], NodeCrash | NodeRestart] = {}
        self._starting: list[tuple[int, int, str]] = []  # when, in which order, who: nodes that come back
        for fault in self._faults:
            match fault:
                case NodeCrash(node, after) | NodeRestart(node, after, _):
                    self._halting[node, after] = fault
                case MessageLoss() | MessageCopy() | NetworkPartition():
                    pass  # the world knows them
                case _:
                    assert_never(fault)

    def _plan_outside(self) -> None:
        scenario = self._scenario
        self._outside: deque[External | int] = deque(scenario.before)
        # Numbers stand for events that are drawn when their time comes.
        self._outside.extend(range(scenario.count))
        self._outside.extend(scenario.after)
        self._waiting: Wait | None = None
        self._since = 0
        self._weights = [weight for weight, _ in scenario.events]
        self._makers = [maker for _, maker in scenario.events]

    # -- the whole run -------------------------------------------------------------------------------------------

    def finish(self) -> Course:
        """Go on to the end, or until something breaks."""
        try:
            broken, is_over = self._run()
        except _EndsProcessError:
            broken, is_over = None, False
        finally:
            if self._flow is not None:
                for node in self.world.nodes.values():
                    self._flow.end_life(node)
        is_vacuous = False
        if is_over:
            if self._recording:
                self._steps.append(Ended())
            is_vacuous = not self._scenario.promises_anything(self.world)
            broken = None if is_vacuous else self._scenario.look_at_end(self.world)
            # Whoever waits for ever has said nothing because of that, and not because nothing was asked of it: it
            # must not count among the runs that do no harm.
            is_over = not is_vacuous or self._scenario.explain_hang(self.world) is None
        return Course(
            self._faults,
            self.world,
            self._occurrences,
            self._struck,
            broken,
            is_over,
            is_vacuous,
            self._steps,
            self._flow,
            self._moments,
            frozenset(self._idle),
            sum(not isinstance(event, Wait) for event in self._outside),
        )

    def _run(self) -> tuple[Broken | None, bool]:
        """Go on; return what breaks, and whether the run came to its end."""
        broken = self._begin()
        left = self._scenario.steps
        going = broken is None
        while going and left:
            left -= 1
            going = self._advance()
            if going:
                broken = self._scenario.look(self.world) or self._halt_touched()
                going = broken is None
        return broken, broken is None and not going

    def _begin(self) -> Broken | None:
        if self._flow is not None:
            self._flow.note_event(-1, self.world.nodes, self.world.storage_of)
        if self._watch is not None:
            self._watch.look_at_all()
        # Those that never get to their first event are down from the beginning.
        self._touched = tuple(self.world.nodes)
        steadfast = self._scenario.steadfast
        self._moments += [NodeMoment(-1, node, 0, 0, False) for node in self._touched if node not in steadfast]
        return self._scenario.look(self.world) or self._halt_touched()

    def _halt_touched(self) -> Broken | None:
        """Stop the nodes that are to stop after the latest event; return what is broken then.

        That event was looked at before: until it is over, they are up.
        """
        broken = None
        if self._halting:
            for node in self._touched:
                if broken is None and self._halt(node):
                    broken = self._scenario.look(self.world)
        self._touched = ()
        return broken

    def _advance(self) -> bool:
        """Perform one more event; False when everything is over."""
        if self.world.failure is not None:
            return False
        if self._outside or self._waiting is not None:
            event = self._next_from_outside()
            if event is not None:
                self._inject(event)
                return True
        return self._next_inside()

    # -- from outside --------------------------------------------------------------------------------------------

    def _next_from_outside(self) -> External | None:
        """Return the next event from outside, if it is due."""
        while self._waiting is None or (self._outside and self._is_over(self._waiting)):
            if not self._outside:
                return None
            event = self._outside[0]
            if isinstance(event, int):
                return self._draw(event)
            self._outside.popleft()
            self._waiting = event if isinstance(event, Wait) else None
            if not isinstance(event, Wait):
                return event
            if self._recording:
                self._steps.append(event)
            self._since = self.world.ticks
        return None

    def _draw(self, number: int) -> External | None:
        """Make the event from outside with this number, if its time has come."""
        time = self._end * (number + 1) // (self._scenario.count + 1)
        if not self._has_come(time):
            return None
        self._outside.popleft()
        # A source of its own: what is drawn does not depend on how much was drawn before.
        random = Random(f"{self._seed}/outside/{number}")
        (maker,) = random.choices(self._makers, self._weights)
        return self.world.consult(f"the maker of events {name_of(maker)}", maker, random, self.world)

    def _is_over(self, wait: Wait) -> bool:
        match wait:
            case WaitCondition(name, condition):
                return bool(self.world.consult(f"the condition '{name}'", condition, self.world))
            case Elapse(seconds):
                return self._has_come(self._since + to_ticks(seconds))
            case WaitQuiescence():
                return self._next_time() is None
            case _:
                assert_never(wait)

    def _has_come(self, time: int) -> bool:
        """Tell whether nothing is due any more before this time; then it has come."""
        following = self._next_time()
        if following is not None and following <= time:
            return False
        if time <= self._end:
            self.world.elapse(time)
        return time <= self._end

    def _inject(self, event: External) -> None:
        if self.world.is_held(event):
            return
        self._record(event, self.world.ticks)
        if self._flow is not None:
            self._flow.begin_event()
        self._stop_before_end()
        self.world.inject(event)
        self._note(event, "do", _node_of(event), -1)

    # -- inside --------------------------------------------------------------------------------------------------

    def _next_time(self) -> int | None:
        """Return when something happens inside next."""
        due = self._pool.next_due
        if self._starting:
            start = self._starting[0][0]
            return start if due is None else min(due, start)
        return due

    def _next_inside(self) -> bool:
        due = self._pool.next_due
        if self._starting and (due is None or self._starting[0][0] <= due) and self._starting[0][0] <= self._end:
            time, _, node = heappop(self._starting)
            self.world.elapse(time)
            if self.world.end_halt(node):
                self._inject(Start(node))
            return True
        if due is None or due > self._end:
            self.world.elapse(self._end)
            return False
        self._deliver(self._pool.first())
        return True

    def _deliver(self, envelope: Envelope) -> None:
        world = self.world
        fault = None if envelope.timer else world.fault_of(envelope)
        if fault is not None:
            self._struck.setdefault(fault, world.events)
        do = Do.DELIVER
        if isinstance(fault, MessageLoss | NetworkPartition):
            do = Do.LOSE
        elif isinstance(fault, MessageCopy):
            do = Do.DUPLICATE
        if self._recording:
            self._record(act_of(self._scenario, envelope, do), max(envelope.due, world.ticks))
        if self._flow is not None:
            self._flow.begin_event()
        if do is Do.LOSE:
            world.lose(envelope)
            self._note(envelope, "lose", "", envelope.cause)
        elif do is Do.DUPLICATE:
            world.copy(envelope)
            self._note(envelope, "duplicate", "", envelope.cause)
        else:
            self._stop_before_end()
            world.deliver(envelope)
            self._note(envelope, "deliver", envelope.target, envelope.cause)

    def _stop_before_end(self) -> None:
        if self._ends_at is not None and self.world.events + 1 >= self._ends_at:
            raise _EndsProcessError

    def _record(self, step: Step, time: int) -> None:
        """Keep what is done, and when, if somebody wants to do it again."""
        if self._recording:
            if time != self._told:
                self._steps.append(At(time))
                self._told = time
            self._steps.append(step)

    # -- nodes that stop -----------------------------------------------------------------------------------------

    def _halt(self, node: str) -> bool:
        """Stop a node if that is planned after its latest event, and tell whether it was."""
        fault = self._halting.get((node, self._counts.get(node, 0)))
        if fault is None or node not in self.world.processes:
            return False
        self._struck[fault] = self.world.events
        del self._halting[node, fault.after]
        if isinstance(fault, NodeRestart):
            heappush(self._starting, (self.world.ticks + fault.down, len(self._struck), node))
        self._record(Stop(node), self.world.ticks)
        self.world.halt(node)
        self._note(Stop(node), "do", node, -1)
        return True

    # -- what is kept of it --------------------------------------------------------------------------------------

    def _note(self, what: External | Envelope, fate: str, node: str, cause: int) -> None:
        """Keep an event with what it rests on, and whose event it was."""
        number = len(self._occurrences)
        self._touched = ()
        if isinstance(what, CodeBlock):
            self._touched = tuple(self.world.nodes)
        elif node and not isinstance(what, Stop):
            self._touched = (node,)
        for touched in self._touched:
            self._counts[touched] = self._counts.get(touched, 0) + 1
        nth = self._counts[node] if node and self._touched else 0
        self._occurrences.append(Occurrence(number, node, nth, what, fate, cause, self.world.ticks))
        if self._flow is not None:
            self._flow.note_event(number, self.world.nodes, self.world.storage_of)
        if self._watch is not None and self._watch.sees_nothing(what, node):
            self._idle.add(number)
        for touched in self._touched:
            if touched not in self._scenario.steadfast:
                moment = NodeMoment(number, touched, self._counts[touched], self.world.ticks, number in self._idle)
                self._moments.append(moment)


def _node_of(event: External) -> str:
    return event.node if isinstance(event, Start | Stop | Restart) else ""
