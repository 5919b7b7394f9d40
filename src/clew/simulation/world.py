"""The cluster in execution: events are applied to it one at a time, by whatever schedule.

The world knows nothing of how the next event is chosen.  It records, when asked to, what happened and on which
earlier events each one depends: the event that sent what is delivered, and the one before it at the same node.

What is sent to a node that is down is lost, and so is what is on its way to a node that stops.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from clew.errors import ClewError, UsageError
from clew.simulation.events import (
    CodeBlock,
    External,
    Heal,
    Partition,
    Restart,
    Send,
    Start,
    Stop,
)
from clew.simulation.node import Node
from clew.simulation.pool import OUTSIDE, Envelope, Pool
from clew.simulation.user_code import ask, line_of
from clew.simulation.values import isolate

#: Of an object in the text of an exception: another one in every execution.
_ADDRESS = re.compile("at 0x[0-9a-f]+")


@dataclass(frozen=True)
class Failure:
    """A handler that raised: at which node, what, in which function, and the whole trace."""

    node: str
    error: str
    place: str
    trace: str


class Durable(MutableMapping[Any, Any]):
    """Storage that survives the process; nothing in it is shared with the process."""

    def __init__(self) -> None:
        self._stored: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return isolate(self._stored[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._stored[key] = isolate(value)

    def __delitem__(self, key: Any) -> None:
        del self._stored[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


class Process:
    """A node while it runs, and its context: what its handlers do goes to the world."""

    __slots__ = ("_random", "_seed", "_world", "durable", "me", "node", "now")

    #: A node that keeps its context has not all of the world in its state.
    is_machinery = True

    def __init__(self, world: World, name: str, node: Node, durable: Durable, seed: str) -> None:
        self._world = world
        self._seed = seed
        self._random: Random | None = None
        self.me = name
        self.node = node
        self.durable = durable
        self.now = 0

    @property
    def random(self) -> Random:
        if self._random is None:
            # A string seeds by its digest: the same whatever PYTHONHASHSEED is.
            self._random = Random(self._seed)
        return self._random

    def send(self, target: str, message: Any) -> None:
        self._world.send(self.me, target, isolate(message), self.now)

    def set_timer(self, name: str = "timer") -> None:
        self._world.arm(self.me, name, self.now)

    def cancel_timer(self, name: str = "timer") -> None:
        self._world.pool.cancel(self.me, name)

    def log(self, text: str) -> None:
        self._world.remark(text)


class Happened(NamedTuple):
    """One event of an execution, as it is recorded.

    ``what`` is the event from outside, or what was delivered, lost or duplicated, as ``fate`` says.  ``node``:
    where it happened, "" for what concerns none or several.  ``depends`` are the numbers of the earlier events
    that it rests on directly.  ``sent`` is what it put on its way, ``lost`` what of it went to a node that is
    down.
    """

    number: int
    what: External | Envelope
    fate: str
    node: str
    depends: tuple[int, ...]
    sent: tuple[Envelope, ...]
    lost: tuple[Envelope, ...]
    remarks: tuple[str, ...]


class World:
    """``makers`` make the node of each name; those in ``running`` are up from the beginning.

    ``seed`` is for what the nodes draw, not for the schedule.
    """

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Node]],
        *,
        fifo: bool,
        seed: int = 0,
        running: tuple[str, ...] = (),
        recording: bool = False,
    ) -> None:
        self.pool = Pool(fifo)
        self.events = -1  # the beginning, before the first event
        self.failure: Failure | None = None
        self.processes: dict[str, Process] = {}
        #: The nodes that are up, by name: what invariants look at.
        self.nodes: dict[str, Node] = {}
        self.history: list[Happened] | None = [] if recording else None
        self._makers = makers
        self._seed = seed
        self._durable: dict[str, Durable] = {}
        self._lives: dict[str, int] = {}
        self._sent: dict[str, int] = {}
        self._last_at: dict[str, int] = {}
        self._on_its_way: list[Envelope] = []
        self._lost: list[Envelope] = []
        self._remarks: list[str] = []
        # All are there before the first of them says anything.
        for process in [self._made(self._known(name)) for name in running if name not in self.processes]:
            self._run(process, process.node.on_start)
        self.events = 0
        self._forget()

    # -- deliveries ----------------------------------------------------------------------------------------------

    def deliver(self, envelope: Envelope) -> None:
        """Hand a message over, or let a timer go off."""
        self.pool.take(envelope)
        process = self.processes[envelope.target]
        # Lamport's clock: it says the same in executions that differ only in the order of unrelated events.
        now = process.now
        process.now = (now if now > envelope.time else envelope.time) + 1
        if envelope.timer:
            self._run(process, process.node.on_timer, envelope.payload)
        else:
            self._run(process, process.node.on_message, envelope.source, envelope.payload)
        self._note(envelope, "deliver", envelope.target, envelope.cause)

    def lose(self, envelope: Envelope) -> None:
        """A message gets lost on its way."""
        self.pool.take(envelope)
        self._note(envelope, "lose", "", envelope.cause)

    def duplicate(self, envelope: Envelope) -> None:
        """The network makes a second copy of a message."""
        copy = self._envelope(envelope.source, envelope.target, isolate(envelope.payload), False, envelope.time)
        copy.cause = envelope.cause
        self.pool.add(copy)
        self._note(envelope, "duplicate", "", envelope.cause)

    def _run(self, process: Process, handler: Any, *arguments: Any) -> None:
        try:
            handler(process, *arguments)
        except ClewError as error:
            raise UsageError(
                f"at {process.me}, in {_place(error, handler)}: {error.message}",
                position=line_of(error),
                remedy=error.remedy,
            ) from error
        except (Exception, SystemExit) as error:  # whatever user code raises is a finding, not a failure of ours
            text = _ADDRESS.sub("at 0x...", traceback.format_exception_only(error)[-1].strip())
            self.failure = Failure(process.me, text, _place(error, handler), traceback.format_exc())

    # -- what processes do ---------------------------------------------------------------------------------------

    def send(self, source: str, target: str, payload: Any, time: int) -> None:
        envelope = self._envelope(source, target, payload, False, time)
        if target in self.processes:
            self.pool.add(envelope)
        elif target not in self._makers:
            raise UsageError(
                f"{source or 'the scenario'} sends to '{target}', and there is no such node",
                remedy=f"the nodes are {', '.join(self._makers)}",
            )
        elif self.history is not None:
            self._lost.append(envelope)

    def arm(self, node: str, name: str, time: int) -> None:
        if self.pool.timer(node, name) is None:
            self.pool.arm(self._envelope(node, node, name, True, time))

    def remark(self, text: str) -> None:
        if self.history is not None:
            self._remarks.append(str(text))

    def _envelope(self, source: str, target: str, payload: Any, timer: bool, time: int) -> Envelope:
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
                self._start(self._known(node))
            case Stop(node):
                self._stop(self._known(node))
            case Restart(node):
                self._stop(self._known(node))
                self._start(node)
            case Send(node, message):
                self.send(OUTSIDE, node, isolate(message), 0)
            case Partition(source, target, one_way):
                self.pool.hold((self._known(source), self._known(target)))
                if not one_way:
                    self.pool.hold((target, source))
            case Heal("", ""):
                self.pool.release()
            case Heal(source, target):
                self.pool.release((self._known(source), self._known(target)))
                self.pool.release((target, source))
            case CodeBlock(name, action):
                ask(f"the code block '{name}'", action, self, remedy="it must cope with every state of the world")
        self._note(event, "do", event.node if isinstance(event, Start | Stop | Restart) else "", -1)

    def _known(self, name: str) -> str:
        if name not in self._makers:
            raise UsageError(
                f"the scenario has no node '{name}'", remedy=f"the nodes are {', '.join(self._makers)}"
            )
        return name

    def _start(self, name: str) -> None:
        if name not in self.processes:
            process = self._made(name)
            self._run(process, process.node.on_start)

    def _made(self, name: str) -> Process:
        life = self._lives[name] = self._lives.get(name, 0) + 1
        durable = self._durable.setdefault(name, Durable())
        node = ask(f"making the node '{name}'", self._makers[name], remedy="give nodes a maker without arguments")
        process = Process(self, name, node, durable, f"{self._seed}/{name}/{life}")
        self.processes[name] = process
        self.nodes[name] = process.node
        return process

    def _stop(self, name: str) -> None:
        if self.processes.pop(name, None) is not None:
            del self.nodes[name]
            self.pool.drop_for(name)

    # -- the record ----------------------------------------------------------------------------------------------

    def _note(self, what: External | Envelope, fate: str, node: str, cause: int) -> None:
        number = self.events
        self.events = number + 1
        if self.history is None:
            return
        depends = {cause} if cause >= 0 else set()
        if node:
            if node in self._last_at:
                depends.add(self._last_at[node])
            self._last_at[node] = number
        self.history.append(
            Happened(
                number,
                what,
                fate,
                node,
                tuple(sorted(depends)),
                tuple(self._on_its_way),
                tuple(self._lost),
                tuple(self._remarks),
            )
        )
        self._forget()

    def _forget(self) -> None:
        self._on_its_way.clear()
        self._lost.clear()
        self._remarks.clear()


def _place(error: BaseException, handler: Any) -> str:
    """The innermost function of the user's module that was running."""
    module = getattr(handler, "__func__", handler).__code__.co_filename
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename == module]
    return frames[-1].f_code.co_qualname if frames else handler.__qualname__
