"""A Bloom program as a simulated node: rows are messages, periods are timers, durable tables are storage.

What happens to it is one step: a row of a channel arrives, a timer goes off, or there is something left to do.
What a step leaves for the next one is done in an event of its own, so that other rows can come before it; the node
sends itself a message for that, which no fault hits, and an execution is not quiet before it has arrived.

Its attributes are what its collections hold after the latest step, as values that never change: so states are
compared, copied and written down as those of any node, and it is seen which of them an event read and wrote.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.invariants import InvariantError
from clew.bloom.runtime.machine import StepResult
from clew.bloom.simulated.bloom_run import REFUSED, BloomRun
from clew.bloom.simulated.messages import NextStep, RowMessage, message_type
from clew.bloom.simulated.programs import Programs, find_collection
from clew.bloom.values import spell
from clew.errors import ProgramError, UsageError
from clew.simulation.node import Context, Node
from clew.simulation.user_code import STANDING_IN


class BloomNode(Node):
    """``programs`` make the program when the node starts, and again when it starts again.

    ``batches``: what arrives waits for a step, together with what else arrives until then; otherwise each row that
    arrives is a step of its own.  ``shows_death``: a broken ``die`` is only shown, to an invariant of the
    scenario; otherwise it is raised, which is a finding in every scenario.  A collection is an attribute,
    ``node.log``, or ``node["order.log"]`` by its full name.
    """

    # In a slot: what is in there is no state to be compared and copied, for all of that is shown.
    __slots__ = ("_engine",)

    def __init__(self, programs: Programs, *, batches: bool = False, shows_death: bool = False) -> None:
        self._engine = _Engine(programs, batches, shows_death)

    def on_start(self, ctx: Context) -> None:
        run = self._engine.begin(ctx)
        for name, period in run.plan.periods.items():
            ctx.set_timer(name, after=period)
        self._step(ctx, run)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        run = self._engine.run
        if run.death is not None:
            return
        if isinstance(message, NextStep):
            self._engine.is_called = False
            # What it was sent for may have been done in the step of a row that arrived before it.
            if run.is_pending:
                self._step(ctx, run)
        elif self._engine.admit(ctx, sender, message):
            run.arrive(message.collection, message.row)
            self._take_in(ctx, run)

    def on_timer(self, ctx: Context, name: str) -> None:
        run = self._engine.run
        if run.death is not None:
            return
        # First, so that a step that fails does not end the timer.
        ctx.set_timer(name, after=run.plan.periods[name])
        run.fire(name, ctx.now)
        self._take_in(ctx, run)

    def _take_in(self, ctx: Context, run: BloomRun) -> None:
        if not self._engine.batches:
            self._step(ctx, run)
            return
        self._engine.call_next_step(ctx)
        self._show()

    def _step(self, ctx: Context, run: BloomRun) -> None:
        for told in run.step():
            self._tell(ctx, run, told)
        if run.death is not None and not self._engine.shows_death:
            _raise_death(run.death)
        if run.is_pending:
            self._engine.call_next_step(ctx)
        for refused in self._engine.run.shown[REFUSED]:
            ctx.log(f"refused: {refused}")
        self._show()

    def _tell(self, ctx: Context, run: BloomRun, told: StepResult) -> None:
        for channel, row in told.sent:
            target = run.plan.program.destination(channel, row)
            if target == ctx.me:
                run.arrive(channel, row)  # no network is needed, and nothing can get lost
            else:
                ctx.send(target, message_type(channel)(row))
        for row in told.printed:
            ctx.log(" ".join(value if isinstance(value, str) else spell(value) for value in row))

    def _show(self) -> None:
        """Let attributes be what can be seen now; read what that came from, for whoever traces what was read."""
        engine = self._engine
        # Reading them is all: whoever traces executions has put a class around this one that notes it.
        for name in engine.take_used():
            getattr(self, name)
        for name, value in engine.take_changes():
            setattr(self, name, value)

    # -- for invariants and promises -----------------------------------------------------------------------------

    def __getitem__(self, collection: str) -> Any:
        return getattr(self, collection)

    def __getattr__(self, name: str) -> Any:
        """Return a part of the node, such as ``node.order`` with ``node.order.log``, or say what there is."""
        # Past what notes reads: to look for a name is not to read all that has one.
        shown = object.__getattribute__(self, "__dict__")
        if any(known.startswith(f"{name}.") for known in shown):
            return _Part(self, f"{name}.")
        there = ", ".join(each for each in shown if not each.startswith("("))
        raise AttributeError(
            f"no collection '{name}' that lasts longer than a step, only {there}", name=name, obj=self
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the node as it is now, to look at: nothing can happen to it."""
        # Without the machine: its operators hold on to its stores, and a copy of them would change the original's.
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        object.__setattr__(twin, "_engine", self._engine.without_run())
        vars(twin).update(vars(self))
        return twin


class DiedError(Exception):
    """A broken ``die``; no ``ClewError``, which would be taken for a mistake in how Clew is used."""


def _raise_death(death: InvariantError) -> NoReturn:
    raise DiedError(death.message) from death


# What an invariant asks for in vain is its mistake; and the rules that end a node are the user's.
STANDING_IN |= {BloomNode.__getattr__.__code__, _raise_death.__code__}


class _Part:
    """The collections of a module that is imported under a name."""

    def __init__(self, node: BloomNode, prefix: str) -> None:
        self._node = node
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, self._prefix + name)


class _Engine:
    """What is behind the attributes of a node: how its program is made, and the run of it.

    ``is_called``: it has sent itself a message to go on.
    """

    def __init__(self, programs: Programs, batches: bool, shows_death: bool) -> None:
        self.batches = batches
        self.shows_death = shows_death
        self.is_called = False
        self._programs = programs
        self._run: BloomRun | None = None
        self._published: dict[str, Any] = {}

    @property
    def run(self) -> BloomRun:
        assert self._run is not None, "it has started, and is no copy"
        return self._run

    def without_run(self) -> _Engine:
        return _Engine(self._programs, self.batches, self.shows_death)

    def begin(self, ctx: Context) -> BloomRun:
        machine, plan = self._programs.begin(ctx.me)
        _refuse_names(plan.program)
        self._run = BloomRun(machine, plan, ctx.durable)
        return self._run

    def call_next_step(self, ctx: Context) -> None:
        """Go on in an event of its own, unless that is on its way already."""
        if not self.is_called:
            self.is_called = True
            ctx.send(ctx.me, NextStep())

    def admit(self, ctx: Context, sender: str, message: Any) -> bool:
        """Tell whether a message is a row that fits; refuse what the scenario sends wrongly."""
        program = self.run.plan.program
        found = program.by_name.get(message.collection) if isinstance(message, RowMessage) else None
        if not sender:
            if not isinstance(message, RowMessage):
                raise UsageError(
                    f"a {type(message).__qualname__} is sent to {ctx.me}, which runs {program.name}",
                    remedy=f"insert a row: insert({ctx.me!r}, 'collection', ('x', 1))",
                )
            # Only the name: a row that does not fit is refused by the machine, and to make it small tries such.
            find_collection(program, message.collection)
            return True
        if found is None or found.kind is not Kind.CHANNEL:
            # As on the network: whoever sends that runs another program.
            ctx.log(f"dropped: {program.name} has no channel for {message!r}")
            return False
        return True

    def take_used(self) -> list[str]:
        """Return what the latest change came from, of what could be seen before it."""
        used = sorted(self.run.used & self._published.keys())
        self.run.used.clear()
        return used

    def take_changes(self) -> list[tuple[str, Any]]:
        """Return what can be seen now and could not be seen before."""
        known = self._published
        # By identity first: most of what a node shows is what it was.
        changed = [
            (name, value)
            for name, value in self.run.shown.items()
            if name not in known or (known[name] is not value and known[name] != value)
        ]
        known.update(changed)
        return changed


def _refuse_names(program: BloomProgram) -> None:
    for collection in program.collections:
        if hasattr(BloomNode, collection.name):
            raise ProgramError(
                f"the collection '{collection.name}' has the name of a handler of simulated nodes",
                position=collection.position,
                remedy="give it another name",
            )
