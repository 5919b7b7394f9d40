"""The cluster in execution: events are applied to it one at a time, by whatever schedule.

The world knows nothing of how the next event is chosen.  It records, when asked to, what happened and on which
earlier events each one depends: the event that sent what is delivered, and the one before it at the same node.

A code block is one event, whatever it does: what it injects, delivers or loses are parts of it.  A schedule that
names events by their number would otherwise mean others than those that happened.

What is sent to a node that is down is lost, and so is what is on its way to a node that stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from clew.errors import ClewError, UsageError
from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.node import Node
from clew.simulation.pool import OUTSIDE, Envelope, Pool, TimedPool
from clew.simulation.process import Durable, Failure, Process, TimedProcess, failure_of, place_of
from clew.simulation.timing import A_COPY, Clock, check_seconds, show_time
from clew.simulation.user_code import (
    StoppedError,
    ask,
    line_of,
    raise_own_failure,
    refuse_suspended,
    refuse_suspended_result,
)
from clew.simulation.values import isolate

T = TypeVar("T")


@dataclass(frozen=True)
class WaitCondition:
    """Go on when the condition holds, at the end of a scenario: be done; ``name`` stands for it in recordings.

    It only looks at the world.
    """

    name: str
    condition: Callable[[World], bool] = field(compare=False, repr=False)


@dataclass(frozen=True)
class CodeBlock:
    """Do something to the cluster that has no name of its own; ``name`` stands for it in recordings.

    It may do anything that the world can, also ``world.inject`` other events, and is one event all the same.
    """

    name: str
    action: Callable[[World], None] = field(compare=False, repr=False)


#: What is no event of its own: it says until when the next one waits.
Wait = WaitQuiescence | WaitCondition | Elapse

External = Start | Stop | Restart | Send | Partition | Heal | WaitQuiescence | WaitCondition | Elapse | CodeBlock


class Happened(NamedTuple):
    """One event of an execution, as it is recorded.

    ``what`` is the event from outside, or what was delivered, lost or duplicated, as ``fate`` says.  ``node``:
    where it happened, "" for what concerns none or several.  ``depends`` are the numbers of the earlier events
    that it rests on directly.  ``sent`` is what it put on its way, ``lost`` what of it went to a node that is
    down.  ``gone``: what a code block took from its way, by delivering it or otherwise; ``lives``: the nodes that
    it started, stopped and restarted.  ``time``: the virtual time, None where things happen in any order.
    """

    number: int
    what: External | Envelope
    fate: str
    node: str
    depends: tuple[int, ...]
    sent: tuple[Envelope, ...]
    lost: tuple[Envelope, ...]
    remarks: tuple[str, ...]
    gone: tuple[Envelope, ...] = ()
    lives: tuple[Start | Stop | Restart, ...] = ()
    time: int | None = None


class Beginning(NamedTuple):
    """What the nodes that are up from the beginning did when they started, before the first event."""

    sent: tuple[Envelope, ...]
    remarks: tuple[str, ...]


class World:
    """``makers`` make the node of each name; those in ``running`` are up from the beginning.

    ``seed`` is for what the nodes draw, not for the schedule.  ``clock`` is virtual time, if there is any: how
    long messages take, and what the clocks of nodes say.  ``events``: how many events have happened so far.  That
    is an identity for what the next one sends: no other event has this number, and a replay has it, too.
    """

    #: Where it is noted what events rest on, in runs that are traced; see ``injection``.
    flow: Any = None

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Node]],
        *,
        fifo: bool,
        seed: int = 0,
        running: tuple[str, ...] = (),
        recording: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.pool = Pool(fifo) if clock is None else TimedPool(fifo)
        #: The virtual time, in microseconds; it stays 0 where things happen in any order.
        self.ticks = 0
        self.clock = clock
        # Numbers what is sent in the beginning with a cause that no event has.
        self.events = -1  # the beginning, before the first event
        self.failure: Failure | None = None
        #: Told of each message that does not arrive: lost on its way, or because its receiver is down.
        self.on_loss: Callable[[Envelope], None] | None = None
        #: Says why an execution may not be the same when it is repeated, where there is more to say than usual.
        self.suspect: Callable[[], str] | None = None
        self.processes: dict[str, Process] = {}
        #: The nodes that are up, by name: what invariants look at.
        self.nodes: dict[str, Node] = {}
        self.history: list[Happened] | None = [] if recording else None
        self._makers = makers
        self._seed = seed
        # By node, not by process: storage, the clock and the numbers of what was sent outlive a restart.
        self._durable: dict[str, Durable] = {}
        self._lives: dict[str, int] = {}
        self._ended: dict[str, float] = {}  # the logical time at which the latest life of a node ended
        self._sent: dict[str, int] = {}
        # The latest event at each node: program order, one of the two things that an event depends on.
        self._last_at: dict[str, int] = {}
        self._blocks = 0  # how many code blocks are being executed, one inside the other
        self._depends: set[int] = set()
        self._on_its_way: list[Envelope] = []
        self._lost: list[Envelope] = []
        self._gone: list[Envelope] = []
        self._turns: list[Start | Stop | Restart] = []
        self._remarks: list[str] = []
        # All are there before the first of them says anything.
        for process in [
            self._make_process(self._require_known(name)) for name in running if name not in self.processes
        ]:
            self._run(process, process.node.on_start)
        self.events = 0
        self.beginning = Beginning(tuple(self._on_its_way), tuple(self._remarks))
        self._forget()

    # -- deliveries ----------------------------------------------------------------------------------------------

    def deliver(self, envelope: Envelope) -> None:
        """Hand a message over, or let a timer go off."""
        self.pool.take(envelope)
        process = self.processes[envelope.target]
        if self.clock is not None:
            self._pass_time(envelope)
        else:
            # Lamport's clock: it says the same in executions that differ only in the order of unrelated events.
            now = process.now
            process.now = (now if now > envelope.time else envelope.time) + 1
        if envelope.timer:
            self._run(process, process.node.on_timer, envelope.payload)
        else:
            self._run(process, process.node.on_message, envelope.source, envelope.payload)
        self._note(envelope, "deliver", envelope.target, envelope.cause)

    def lose(self, envelope: Envelope) -> None:
        """Let a message get lost on its way: with virtual time, when it would have arrived."""
        self.pool.take(envelope)
        self._pass_time(envelope)
        if self.on_loss is not None:
            self.on_loss(envelope)
        self._note(envelope, "lose", "", envelope.cause)

    def duplicate(self, envelope: Envelope) -> None:
        """Let the network make a second copy of a message."""
        # Its own number, so that the two can be told apart; the cause stays that of the original, which sent both.
        copy = self._envelope(envelope.source, envelope.target, isolate(envelope.payload), False, envelope.time)
        copy.cause = envelope.cause
        self._pass_time(envelope)
        if self.clock is not None:
            self.clock.post(copy, self.ticks)
        self.pool.add(copy)
        self._note(envelope, "duplicate", "", envelope.cause)

    # -- virtual time --------------------------------------------------------------------------------------------

    @property
    def time(self) -> int:
        """Return the virtual time, in microseconds; 0 where things happen in any order."""
        if self.clock is not None:
            self.clock.readers.add(OUTSIDE)
        return self.ticks

    def elapse(self, time: int) -> None:
        """Let the virtual time come to this; what is due until then has to happen before."""
        if time > self.ticks:
            self.ticks = time

    def read_clock(self, node: str, time: int | None = None) -> float:
        """Return what the clock of a node says now, in seconds; or, to a copy of it, what it said at a time."""
        assert self.clock is not None
        if time is not None:
            self.clock.readers.add(A_COPY)
        return self.clock.read(node, self.ticks if time is None else time)

    def _pass_time(self, envelope: Envelope) -> None:
        if self.clock is None:
            return
        if self._blocks:
            # A code block is one event, so that no time passes in it: it delivers in the place of the network.
            if envelope.timer and envelope.due > self.time:
                raise UsageError(
                    f"a code block lets the timer '{envelope.payload}' of {envelope.target} go off at "
                    f"{show_time(self.ticks)}, and it is set for {show_time(envelope.due)}",
                    remedy="no timer goes off early: list Elapse(...) before the code block",
                )
        # What a partition held up is due in the past when it heals.  Where the clock leaves open when things
        # arrive, whoever executes the schedule lets the time pass.
        elif envelope.due > self.ticks and not self.clock.is_patient:
            self.ticks = envelope.due

    def _run(self, process: Process, handler: Any, *arguments: Any) -> None:
        try:
            # The hottest line of the simulation: nothing is wrapped around it, and the watchdog finds this frame
            # by its code and by the names of its locals.
            result = handler(process, *arguments)
            if result is not None:
                refuse_suspended_result(handler.__qualname__, result)
        except ClewError as error:
            blamed = getattr(process.node, "program", None) or handler
            raise UsageError(
                f"at {process.me}, in {place_of(error, blamed)}: {error.message}",
                position=error.position or line_of(error),
                remedy=error.remedy,
            ) from error
        except BaseException as error:  # whatever user code raises is a finding, not a failure of ours
            if isinstance(error, StoppedError):
                raise
            raise_own_failure(error)
            # Where a node is machinery, the program that runs on it is to blame.
            blamed = getattr(process.node, "program", None) or handler
            self.fail(failure_of(error, process.me, blamed))

    def fail(self, found: Failure) -> None:
        """Note that user code has raised."""
        self.failure = found if self.failure is None else self.failure.with_later(found)

    # -- what processes do ---------------------------------------------------------------------------------------

    def send(self, source: str, target: str, payload: Any, time: float) -> None:
        # Isolated when it is sent, not when it is delivered: the sender may change it as soon as this returns.
        envelope = self._envelope(source, target, isolate(payload), False, time)
        if target in self.processes:
            if self.clock is not None:
                self.clock.post(envelope, self.ticks)
            self.pool.add(envelope)
        elif target not in self._makers:
            raise UsageError(
                f"{source or 'the scenario'} sends to the unknown node '{target}'",
                remedy=f"the nodes are {', '.join(self._makers)}",
            )
        else:
            if self.history is not None:
                self._lost.append(envelope)
            if self.on_loss is not None:
                self.on_loss(envelope)

    def arm(self, node: str, name: str, time: float, after: float | None = None) -> None:
        if not isinstance(name, str):  # a recording names the timer
            raise UsageError(f"the name of a timer is {name!r}", remedy="name timers by strings")
        seconds = None if after is None else check_seconds(f"'after' of the timer '{name}'", after)
        if self.clock is not None:
            if seconds is None:
                raise UsageError(
                    f"the timer '{name}' has no time, and the scenario has virtual time",
                    remedy=f"say when: ctx.set_timer({name!r}, after=0.5)",
                )
            self.pool.cancel(node, name)
            timer = self._envelope(node, node, name, True, time)
            timer.due = self.ticks + self.clock.lapse(node, seconds)
            self.pool.arm(timer)
        # One that is set stays as it is: it has a number, by which schedules name it.
        elif self.pool.timer(node, name) is None:
            self.pool.arm(self._envelope(node, node, name, True, time))

    def remark(self, text: str) -> None:
        if self.history is not None:
            self._remarks.append(str(text))

    def _envelope(self, source: str, target: str, payload: Any, timer: bool, time: float) -> Envelope:
        """Make what is put on its way, also what goes nowhere: a subclass may want to know of it."""
        # Counted by sender: a name must not depend on what unrelated nodes did meanwhile (see Envelope).
        nth = self._sent.get(source, 0) + 1
        self._sent[source] = nth
        envelope = Envelope(source, nth, target, payload, timer, self.events, time)
        if self.history is not None:
            self._on_its_way.append(envelope)
        return envelope

    # -- from outside --------------------------------------------------------------------------------------------

    def inject(self, event: External) -> None:
        """Apply an event from outside; waiting is up to the schedule."""
        match event:
            case Start(node):
                self._start(self._require_known(node))
            case Stop(node):
                self._stop(self._require_known(node))
            case Restart(node):
                self._stop(self._require_known(node))
                self._start(node)
            case Send(node, message):
                self.send(OUTSIDE, node, message, 0)
            case Partition(source, target, one_way):
                self.pool.hold((self._require_known(source), self._require_known(target)))
                if not one_way:
                    self.pool.hold((target, source))
            case Heal("", ""):
                self.pool.release()
            case Heal(source, target):
                self.pool.release((self._require_known(source), self._require_known(target)))
                self.pool.release((target, source))
            case CodeBlock():
                self._execute(event)
            case _:
                raise UsageError(
                    f"{event!r} cannot be done to a cluster",
                    remedy="inject events; list what waits in the scenario's before or after",
                )
        self._note(event, "do", event.node if isinstance(event, Start | Stop | Restart) else "", -1)

    def _execute(self, block: CodeBlock) -> None:
        # Only around the outermost block, and only when somebody asks: the whole pool is copied.
        before = list(self.pool) if self.history is not None and not self._blocks else []
        lives = {name: self._lives[name] for name in self.processes}
        self._blocks += 1
        try:
            what = f"the code block '{block.name}'"
            ask(what, block.action, self, remedy="it must cope with every state of the world")
        except UsageError:
            if self.failure is None:  # what a handler raised comes first: the block was not prepared for that
                raise
        finally:
            self._blocks -= 1
        if self.history is not None and not self._blocks:
            # What a block took from its way, by delivering, losing or stopping: by comparison, for it can do so in
            # any way.
            left = {*self.pool, *self._lost}
            self._gone += [envelope for envelope in (*before, *self._on_its_way) if envelope not in left]
            self._turns += self._turns_since(lives)

    def _turns_since(self, lives: Mapping[str, int]) -> Iterator[Start | Stop | Restart]:
        """Yield what became of the nodes that lived these lives, and of those that were down."""
        for name in self._makers:
            if name not in lives:
                if name in self.processes:
                    yield Start(name)
            elif name not in self.processes:
                yield Stop(name)
            elif self._lives[name] != lives[name]:
                yield Restart(name)

    def _require_known(self, name: str) -> str:
        if name not in self._makers:
            raise UsageError(f"unknown node '{name}'", remedy=f"the nodes are {', '.join(self._makers)}")
        return name

    def start_late(self, name: str, make: Callable[[], Node]) -> None:
        """Start a node that came to be known during an event, as a part of that event."""
        # Not in the table of the scenario, from which other executions are made.
        self._makers = {**self._makers, name: make}
        self._start(name)

    def _start(self, name: str) -> None:
        if name not in self.processes:
            process = self._make_process(name)
            self._run(process, process.node.on_start)

    def _make_process(self, name: str) -> Process:
        # A life has random numbers of its own, or a restart would draw what the first life drew.
        life = self._lives[name] = self._lives.get(name, 0) + 1
        if name not in self._durable:
            self._durable[name] = self._make_storage(name)
        durable = self._durable[name]
        node = ask(f"making the node '{name}'", self._makers[name], remedy="give nodes a maker without arguments")
        if type(node) not in _EXECUTABLE:
            _refuse_suspended_handlers(type(node))
        # Later than all of its earlier lives, from which its storage is.
        now = self._ended[name] + 1 if name in self._ended else 0
        kind = Process if self.clock is None else TimedProcess
        process = kind(self, name, node, durable, f"{self._seed}/{name}/{life}", now)
        self.processes[name] = process
        self.nodes[name] = process.node
        return process

    def _make_storage(self, name: str) -> Durable:
        """Make the storage of a node that is up for the first time: a subclass may want to see what is stored."""
        return Durable()

    def _stop(self, name: str) -> None:
        process = self.processes.pop(name, None)
        if process is not None:
            if self.clock is None:
                self._ended[name] = process.now
            del self.nodes[name]
            on_loss = self.on_loss
            lost = [] if on_loss is None else [e for e in self.pool if e.target == name and not e.timer]
            self.pool.drop_for(name)
            if on_loss is not None:
                for envelope in lost:
                    on_loss(envelope)

    def consult(self, what: str, function: Callable[..., T], *arguments: Any) -> T:
        """Ask a function of the scenario that looks at the world; ``what`` says which one it is."""
        # Only the number of events: comparing whole states would cost more than the question.
        events = self.events
        answer = ask(what, function, *arguments, remedy="it must cope with every state of the world")
        if self.events != events:
            # Nobody would do it again in a replay: only events are recorded.
            raise UsageError(
                f"{what} has changed the world", remedy="let it look only; what changes the world is a code block"
            )
        return answer

    @property
    def seed(self) -> int:
        """Return what all random numbers of this world are drawn from."""
        return self._seed

    @property
    def known_names(self) -> tuple[str, ...]:
        """Return the names of all nodes of the scenario, up or not."""
        return tuple(self._makers)

    def storage_of(self, name: str) -> Durable | None:
        """Return what a node has stored, even if it is down; None if it never was up."""
        return self._durable.get(name)

    def count_lives(self) -> dict[str, int]:
        """Return how many lives each node has had: a life has random numbers of its own."""
        return dict(self._lives)

    def count_sent(self) -> dict[str, int]:
        """Return how much each node has sent or set: what it sends next is named by that."""
        return dict(self._sent)

    # -- the record ----------------------------------------------------------------------------------------------

    def _note(self, what: External | Envelope, fate: str, node: str, cause: int) -> None:
        number = self.events
        if self.history is not None:
            # What was sent in the beginning rests on no event.
            if cause >= 0:
                self._depends.add(cause)
            if node:
                if node in self._last_at:
                    self._depends.add(self._last_at[node])
                self._last_at[node] = number
        if self._blocks:
            return  # a part of the code block
        self.events = number + 1
        if self.history is None:
            return
        self.history.append(
            Happened(
                number,
                what,
                fate,
                node,
                tuple(sorted(self._depends - {number})),
                tuple(self._on_its_way),
                tuple(self._lost),
                tuple(self._remarks),
                tuple(self._gone),
                tuple(self._turns),
                None if self.clock is None else self.ticks,
            )
        )
        self._forget()

    def _forget(self) -> None:
        self._depends.clear()
        self._on_its_way.clear()
        self._lost.clear()
        self._gone.clear()
        self._turns.clear()
        self._remarks.clear()


#: Classes of nodes whose handlers were looked at: worlds are made by the thousand.
_EXECUTABLE: set[type] = set()


def _refuse_suspended_handlers(kind: type) -> None:
    """Refuse nodes whose handlers would never be executed."""
    for name in ("on_start", "on_message", "on_timer"):
        refuse_suspended(f"{kind.__qualname__}.{name}", getattr(kind, name, None))
    _EXECUTABLE.add(kind)
