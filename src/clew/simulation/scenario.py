"""A test configuration: the cluster, what is done to it, what must hold, and how its network behaves."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from clew.errors import ClewError, UsageError
from clew.expectation import ANSWERS, Expectation, ExpectationError, make_expectation
from clew.names import nearest_name
from clew.simulation.events import Elapse, WaitQuiescence
from clew.simulation.injectable import Faults
from clew.simulation.node import Node
from clew.simulation.process import Failure
from clew.simulation.timing import Clock, VirtualTime
from clew.simulation.user_code import StoppedError, ask, blame, name_of, refuse_suspended, refuse_suspended_result
from clew.simulation.world import CodeBlock, External, WaitCondition, World


class Network(enum.Enum):
    """In which order messages between two nodes arrive."""

    FIFO = "fifo"
    REORDERING = "reordering"


@dataclass(frozen=True)
class Broken:
    """An invariant that does not hold: what is wrong, and at which nodes (all, if none is named)."""

    invariant: str
    what: str
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"

    @property
    def place(self) -> str:
        """Return the invariant and the nodes."""
        return f"{self.invariant} at {', '.join(self.nodes)}" if self.nodes else self.invariant


@dataclass(frozen=True)
class Kept:
    """A promise that is kept, with what keeps it: each of ``witnesses`` is a set of nodes that suffices.

    A promise need not say that: without it, Clew asks the promise about fewer and fewer nodes.
    """

    witnesses: tuple[tuple[str, ...], ...] = ()


#: Looks at the nodes that are up, by name, and says what is wrong, or None.
Invariant = Callable[[Mapping[str, Any]], "Broken | str | None"]
#: The same at the end of an execution; it may say what it found, too.
Promise = Callable[[Mapping[str, Any]], "Broken | str | Kept | None"]
#: Looks at the nodes that are up at the end, and tells whether anything was promised at all.
Assumption = Callable[[Mapping[str, Any]], bool]
#: Makes an event from outside, or None if there is none to make now.  ``World.events`` is a source of identities.
Maker = Callable[[Random, World], "External | None"]

#: What can be expected of random executions.
FUZZ_ANSWERS = ("violation", "no violation")
#: So many executions an expectation is about when nothing else is said.
DEFAULT_EXPECT_RUNS = 100

#: What breaks when a handler raises.
NO_EXCEPTION = "no uncaught exception"


def expect(answer: str | None, faults: int | None) -> Expectation | None:
    """Return what ``clew test`` has to find: of random executions, or of a check."""
    if answer in FUZZ_ANSWERS and faults is None:
        return Expectation(answer)
    return make_expectation(answer, faults)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """``nodes`` make the processes by name; those in ``running`` are up from the beginning, without an event.

    From outside come the events ``before``, then ``count`` events drawn from ``events`` (weight and maker), spread
    over the execution, then those ``after``.  An execution ends when all that is over, or after ``steps`` events.
    Waiting at the end for quiescence is over when no message is left; but where nothing has been delivered until
    then and timers are set, it is timers that drive the cluster, and the execution goes on for all its steps.

    ``invariants`` are checked when the first nodes are up, before the first event, then every ``check_every``
    events, and at the end; that no handler raises is always one.
    ``promises`` are checked at the end of an execution that came to its end.  ``assume``: at such an end, whether
    anything was promised; where it was not (no client got an answer), the execution is neither good nor bad.
    ``loss``, ``duplication``: how likely a message is lost or arrives twice; what a node sends itself never is.
    ``timers``: how likely the next event is a timer while there are messages.
    ``rare``: by the name of a timer, how likely it goes off when it is drawn (default 1).
    ``fingerprint``: what of a message matters when executions are compared (default: its type).  Messages without
    a ``label`` are called by it, too.
    ``identity``: what makes two violations the same (default: invariant, nodes, and where an exception arose).
    ``messages``: dataclasses and enums that messages are made of and that are not in the scenario's file.
    ``code``: code blocks that makers make, so that recordings can name them.
    ``step_seconds``: a handler that takes longer is stopped, as a mistake in the scenario.
    ``time``: how long messages take and when timers go off; without it, things happen in any order.
    ``faults``: what ``clew check`` may do to it; it never stops the nodes that are ``steadfast``.
    ``lineage``: what events of a node rest on, in a word, where that can be chosen; verdicts repeat it.
    ``expect``: what ``clew test`` has to find.  In the ``expect_runs`` random executions from the seed
    ``expect_seed`` on, a "violation" in one of them, or "no violation" in any.  Or by a check within ``faults``: a
    "counterexample" (with ``expect_faults`` faults) or "incomplete" by lineage, "certified" by exhaustion.
    """

    nodes: Mapping[str, Callable[[], Node]]
    running: Sequence[str] = ()
    before: Sequence[External] = ()
    events: Sequence[tuple[float, Maker]] = ()
    count: int = 0
    after: Sequence[External] = (WaitQuiescence(),)
    invariants: Sequence[Invariant] = ()
    promises: Sequence[Promise] = ()
    assume: Assumption | None = None
    network: Network = Network.FIFO
    loss: float = 0.0
    duplication: float = 0.0
    timers: float = 0.1
    rare: Mapping[str, float] = field(default_factory=dict)
    steps: int = 1000
    check_every: int = 1
    fingerprint: Callable[[Any], str] | None = None
    identity: Callable[[Broken], str] | None = None
    messages: Sequence[type] = ()
    code: Sequence[CodeBlock] = ()
    step_seconds: float = 10.0
    time: VirtualTime | None = None
    faults: Faults | None = None
    steadfast: Sequence[str] = ()
    lineage: str | None = None
    expect: str | None = None
    expect_faults: int | None = None
    expect_runs: int = DEFAULT_EXPECT_RUNS
    expect_seed: int = 0

    def __post_init__(self) -> None:
        # The name "" is that of the outside, as a sender.
        if not self.nodes or "" in self.nodes:
            raise UsageError(
                "the scenario has no node, or one without a name", remedy="give nodes={'a': MyNode, ...}"
            )
        if self.steps < 1 or self.check_every < 1 or self.count < 0:
            raise UsageError(
                f"steps is {self.steps}, check_every {self.check_every} and count {self.count}",
                remedy="steps and check_every are at least 1, count at least 0",
            )
        if self.count and not any(weight > 0 for weight, _ in self.events):
            raise UsageError(
                f"count is {self.count}, but there is nothing to draw from",
                remedy="give events=[(weight, maker), ...]",
            )
        if not self.step_seconds > 0:
            raise UsageError(f"step_seconds is {self.step_seconds}", remedy="give a number above 0")
        self._refuse_impossible_expectation()
        self._refuse_idle_time()
        # Now, when the user can still see which function it is, and not after the first thousand runs.
        self._refuse_suspended_functions()
        chances = {"loss": self.loss, "duplication": self.duplication, "timers": self.timers, **self.rare}
        for name, chance in chances.items():
            if not 0 <= chance <= 1:
                raise UsageError(f"{name} is {chance}", remedy="give a probability, from 0 to 1")

    def _refuse_impossible_expectation(self) -> None:
        expectable = (*FUZZ_ANSWERS, *ANSWERS)
        if self.expect is not None and self.expect not in expectable:
            known = isinstance(self.expect, str) and nearest_name(self.expect, expectable)
            raise UsageError(
                f"expect is {self.expect!r}",
                remedy=f"did you mean '{known}'?" if known else f"give one of {', '.join(map(repr, expectable))}",
            )
        try:
            expected = self.expectation
        except ExpectationError as error:
            raise UsageError(error.message.replace("'faults'", "expect_faults"), remedy=error.remedy) from None
        if expected is not None and expected.answer in ANSWERS and self.time is None:
            raise UsageError(
                f"expect is {self.expect!r}, what a check answers, and that needs virtual time",
                remedy="give the scenario time=VirtualTime(...), or expect a 'violation' or 'no violation'",
            )
        for name, number, least in (("runs", self.expect_runs, 1), ("seed", self.expect_seed, 0)):
            # True is an int.
            if isinstance(number, bool) or not isinstance(number, int) or number < least:
                raise UsageError(f"expect_{name} is {number!r}", remedy=f"give a whole number, from {least} on")

    @property
    def expectation(self) -> Expectation | None:
        """Return what ``clew test`` has to find, if anything is expected."""
        return expect(self.expect, self.expect_faults)

    def _refuse_idle_time(self) -> None:
        if self.time is not None:
            self.time.refuse_unknown_nodes(self.nodes)
            return
        elapsing = next((e for e in (*self.before, *self.after) if isinstance(e, Elapse)), None)
        if elapsing is not None:
            raise UsageError(
                f"{elapsing} waits for virtual time, and the scenario has none",
                remedy="give the scenario time=VirtualTime(...)",
            )

    def _refuse_suspended_functions(self) -> None:
        for invariant in self.invariants:
            refuse_suspended(f"the invariant {name_of(invariant)}", invariant)
        for promise in self.promises:
            refuse_suspended(f"the promise {name_of(promise)}", promise)
        refuse_suspended("the scenario's assume", self.assume)
        for _, maker in self.events:
            refuse_suspended(f"the maker of events {name_of(maker)}", maker)
        for block in self.blocks_by_name().values():
            refuse_suspended(f"the code block '{block.name}'", block.action)
        for condition in self.conditions_by_name().values():
            refuse_suspended(f"the condition '{condition.name}'", condition.condition)
        for name, function in (("fingerprint", self.fingerprint), ("identity", self.identity)):
            refuse_suspended(f"the scenario's {name}", function)

    @property
    def is_fifo(self) -> bool:
        """Tell whether messages between two nodes arrive in the order in which they were sent."""
        return self.network is Network.FIFO

    def world(self, seed: int = 0, *, recording: bool = False, clock: Clock | None = None) -> World:
        """Make the cluster; ``clock`` stands for the one that draws from the seed, if there is virtual time."""
        if clock is None and self.time is not None:
            clock = Clock(self.time, seed)
        return World(
            self.nodes,
            fifo=self.is_fifo,
            seed=seed,
            running=tuple(self.running),
            recording=recording,
            clock=clock,
        )

    def look(self, world: World) -> Broken | None:
        """Return what is wrong now, if anything is."""
        if world.failure is not None:
            return _violation_of(world.failure)
        for invariant in self.invariants:
            try:
                found = invariant(world.nodes)
            except StoppedError:
                raise
            except BaseException as error:
                what = f"after {world.events} events, the invariant {name_of(invariant)}"
                remedy = "it must cope with every state of the nodes, also right after they started and before"
                raise blame(what, error, remedy) from error
            if found is not None:
                refuse_suspended_result(f"the invariant {name_of(invariant)}", found)
                return found if isinstance(found, Broken) else Broken(name_of(invariant), str(found))
        return None

    def promises_anything(self, world: World) -> bool:
        """Tell whether an execution that is over says anything: whether what is assumed holds at its end."""
        remedy = "it must cope with every state of the nodes, also where some of them are down"
        return self.assume is None or bool(
            ask("the scenario's assume", self.assume, dict(world.nodes), remedy=remedy)
        )

    def explain_vacuity(self, world: World) -> str:
        """Return why an execution that is over says nothing."""
        explain: Callable[[Mapping[str, Any]], str] | None = getattr(self.assume, "explain", None)
        return "'assume' does not hold at the end" if explain is None else explain(dict(world.nodes))

    def explain_hang(self, world: World) -> str | None:
        """Return what still waits where nothing more happens; None if that is how the execution should end."""
        explain: Callable[[Mapping[str, Any]], str | None] | None = getattr(self.assume, "explain_hang", None)
        return None if explain is None else explain(dict(world.nodes))

    def look_at_end(self, world: World) -> Broken | None:
        """Return which promise is not kept, at the end of an execution that came to its end."""
        if not self.promises or not self.promises_anything(world):
            return None
        for promise in self.promises:
            judged = judge_promise(promise, dict(world.nodes))
            if isinstance(judged, Broken):
                return judged
        return None

    def find_further_violations(self, world: World) -> tuple[Broken, ...]:
        """Return what else is wrong where the first of the invariants that do not hold is known.

        An invariant that raises here is no mistake: it may rely on the one that is broken.
        """
        if world.failure is not None:
            return ()
        found: list[Broken] = []
        for invariant in self.invariants:
            try:
                broken = replace(self, invariants=[invariant]).look(world)
            except ClewError:
                continue
            if broken is not None:
                found.append(broken)
        return tuple(found[1:])

    def same(self, broken: Broken, world: World) -> str:
        """Return the identity of a violation: what minimization must keep."""
        if self.identity:
            return str(ask("the scenario's identity", self.identity, broken, remedy="it must take every Broken"))
        if world.failure is not None:
            # Without the message of the exception, which often quotes values: minimization changes those.
            raised = [f"{one.error.partition(':')[0]} in {one.place}" for one in world.failure.all]
            return f"{broken.place}: {'; '.join(raised)}"
        return broken.place

    def blocks_by_name(self) -> dict[str, CodeBlock]:
        """Return the code blocks that a recording can name."""
        blocks = (*self.before, *self.after, *self.code)
        return {event.name: event for event in blocks if isinstance(event, CodeBlock)}

    def conditions_by_name(self) -> dict[str, WaitCondition]:
        """Return the conditions that a recording can name."""
        events = (*self.before, *self.after)
        return {event.name: event for event in events if isinstance(event, WaitCondition)}

    def fingerprint_of(self, message: Any) -> str:
        # By type, as the paper ends up with (observation 3): contents differ as soon as anything is left out.
        if self.fingerprint is None:
            return type(message).__qualname__
        try:
            return str(self.fingerprint(message))
        except StoppedError:
            raise
        except BaseException as error:
            what = f"the scenario's fingerprint of a {type(message).__qualname__}"
            raise blame(what, error, "it must take every message") from error


class LateNodes(dict[str, Callable[[], Node]]):
    """The nodes of a scenario in which others come into being during an execution: ``expect`` makes one known."""

    def expect(self, name: str) -> None:
        raise NotImplementedError


def expect_node(scenario: Scenario, name: str) -> None:
    """Let a node be known that has come into being in an execution, if the scenario has such nodes."""
    if isinstance(scenario.nodes, LateNodes):
        scenario.nodes.expect(name)


def judge_promise(promise: Promise, nodes: Mapping[str, Any]) -> Broken | Kept:
    """Return what is wrong, or what a promise says that keeps it, about these nodes."""
    name = name_of(promise)
    remedy = "it must cope with every state of the nodes; with 'assume', only with those where that holds"
    found: object = ask(f"the promise {name}", promise, nodes, remedy=remedy)
    match found:
        case None:
            return Kept()
        case Broken() | Kept():
            return found
        case str():
            return Broken(name, found)
        case _:
            # True would read as "kept" and as "broken": a promise must say which it means.
            raise UsageError(
                f"the promise {name} returned {found!r}",
                remedy="return None if it is kept, and otherwise a text that says what is wrong, or a Broken",
            )


def _violation_of(failure: Failure) -> Broken:
    # Several nodes may raise in one event: all start at once, and a code block may do anything.
    nodes = tuple(dict.fromkeys(one.node for one in failure.all))
    told = [f"{one.error} (in {one.place})" for one in failure.all]
    if len(told) > 1:
        told = [f"at {one.node}: {text}" for one, text in zip(failure.all, told, strict=True)]
    return Broken(NO_EXCEPTION, "; ".join(told), nodes)
