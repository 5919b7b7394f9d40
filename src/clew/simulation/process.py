"""A node while it runs: its context, its storage, and what it looks like when a handler raises.

A process is one life of a node.  Storage, the numbers of what it sends and the logical clock belong to the node
and go on from one life to the next; everything else begins anew.
"""

from __future__ import annotations

import copy
import hashlib
import re
import traceback
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Protocol

from clew.simulation.node import Node
from clew.simulation.pool import Pool
from clew.simulation.user_code import STANDING_IN
from clew.simulation.values import isolate

#: Of an object in the text of an exception: another one in every execution.
_ADDRESS = re.compile("at 0x[0-9a-f]+")


@dataclass(frozen=True)
class Failure:
    """A handler that raised: at which node, what, in which function, and the whole trace.

    ``also``: what raised after it in the same event, for several nodes start at once, and a code block may do
    anything.
    """

    node: str
    error: str
    place: str
    trace: str
    also: tuple[Failure, ...] = ()

    @property
    def all(self) -> tuple[Failure, ...]:
        return (self, *self.also)

    def with_later(self, other: Failure) -> Failure:
        return replace(self, also=(*self.also, other))


def failure_of(error: BaseException, node: str, handler: Any) -> Failure:
    """Describe what a handler raised, the same in every execution."""
    # The last line only: a SyntaxError has several.
    text = traceback.format_exception_only(error)[-1].strip()
    trace = "".join(traceback.format_exception(error))
    return Failure(node, _ADDRESS.sub("at 0x...", text), place_of(error, handler), _ADDRESS.sub("at 0x...", trace))


def place_of(error: BaseException, handler: Any) -> str:
    """Return the innermost function of the user's module that was running."""
    # By file: a frame of a library says less about whose mistake it is.
    module = getattr(handler, "__func__", handler).__code__.co_filename
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename == module]
    return frames[-1].f_code.co_qualname if frames else handler.__qualname__


class Durable(MutableMapping[Any, Any]):
    """Storage that survives the process; nothing in it is shared with the process."""

    def __init__(self) -> None:
        #: How often something was stored or deleted: what has not been written to is as it was.
        self.writes = 0
        self._stored: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        # Also when it is read: a process that changes what it read must not change what is stored.
        return isolate(self._stored[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._stored[key] = isolate(value)
        self.writes += 1

    def __delitem__(self, key: Any) -> None:
        del self._stored[key]
        self.writes += 1

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


# A KeyError of the storage is the mistake of the handler that asked, as with a dictionary.
STANDING_IN |= {m.__code__ for m in (Durable.__getitem__, Durable.__setitem__, Durable.__delitem__)}


class Surroundings(Protocol):
    """What a process asks of the world it runs in; ``World`` is to the right of this module and fits."""

    @property
    def pool(self) -> Pool: ...

    def send(self, source: str, target: str, payload: Any, time: float) -> None: ...

    def arm(self, node: str, name: str, time: float, after: float | None) -> None: ...

    def remark(self, text: str) -> None: ...

    @property
    def ticks(self) -> int: ...

    def read_clock(self, node: str, time: int | None) -> float: ...


class Process:
    """A node while it runs, and its context: what its handlers do goes to the world."""

    __slots__ = ("_random", "_seed", "_world", "durable", "me", "node", "now")

    #: A node that keeps its context has not all of the world in its state.
    is_machinery = True

    def __init__(
        self, world: Surroundings, name: str, node: Node, durable: Durable, seed: str, now: float
    ) -> None:
        self._world = world
        self._seed = seed
        self._random: Random | None = None
        self.me = name
        self.node = node
        self.durable = durable
        self.now = now

    @property
    def world(self) -> Surroundings:
        """Return the world that it runs in, for nodes that are machinery themselves."""
        return self._world

    @property
    def random(self) -> Random:
        if self._random is None:
            # A string seeds by its digest: the same whatever PYTHONHASHSEED is.
            self._random = Random(self._seed)
        return self._random

    @property
    def drawn(self) -> str:
        """Return a digest of how far its random numbers have been drawn; "" if it never asked for one."""
        if self._random is None:
            return ""
        return hashlib.sha256(repr(self._random.getstate()).encode()).hexdigest()

    @property
    def drew(self) -> bool:
        """Tell whether its handlers asked for random numbers."""
        return self._random is not None

    def __deepcopy__(self, memo: dict[int, Any]) -> Process:
        """Keep a context as it is now for whoever keeps the state of a node: storage and clock go on."""
        # Not the world: it is no part of the state of a node, and copying it would copy the cluster.
        stored = copy.deepcopy(self.durable, memo)
        twin = self._make_twin(stored)
        memo[id(self)] = twin
        twin.node = copy.deepcopy(self.node, memo)
        twin._random = copy.deepcopy(self._random, memo)
        return twin

    def _make_twin(self, stored: Durable) -> Process:
        return Process(self._world, self.me, self.node, stored, self._seed, self.now)

    def send(self, target: str, message: Any) -> None:
        self._world.send(self.me, target, message, self.now)

    def set_timer(self, name: str = "timer", after: float | None = None) -> None:
        self._world.arm(self.me, name, self.now, after)

    def cancel_timer(self, name: str = "timer") -> None:
        self._world.pool.cancel(self.me, name)

    def log(self, text: str) -> None:
        self._world.remark(text)


class TimedProcess(Process):
    """A node whose clock counts virtual time; whoever looks at it is noted (``Clock.readers``)."""

    __slots__ = ("_copied",)

    def __init__(
        self, world: Surroundings, name: str, node: Node, durable: Durable, seed: str, now: float
    ) -> None:
        super().__init__(world, name, node, durable, seed, now)
        self._copied: int | None = None

    # A property where the other has an attribute: only those who look at their clock pay for it.
    @property
    def now(self) -> float:
        """Return what its clock says; in a copy, what it said when that was made."""
        return self._world.read_clock(self.me, self._copied)

    @now.setter
    def now(self, now: float) -> None:
        """Ignore it: the world knows the time."""

    def _make_twin(self, stored: Durable) -> Process:
        twin = TimedProcess(self._world, self.me, self.node, stored, self._seed, 0)
        twin._copied = self._world.ticks if self._copied is None else self._copied
        return twin

    def send(self, target: str, message: Any) -> None:
        self._world.send(self.me, target, message, 0)

    def set_timer(self, name: str = "timer", after: float | None = None) -> None:
        self._world.arm(self.me, name, 0, after)
