"""What a scenario sees: hosts that it starts, faults that it brings about itself, and what it promises."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from clew.aio.hosts.universe import Order, Program, Promised, Universe
from clew.aio.running import current_life
from clew.errors import UsageError
from clew.histories import Recorder, linearizable

T = TypeVar("T")


class Unassumed(BaseException):
    """Ends a scenario that can say nothing: what it assumes does not hold."""


class World:
    """The world of one execution, as its scenario acts on it."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe

    # -- hosts ---------------------------------------------------------------------------------------------------

    def start(self, name: str, function: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> None:
        """Start a host that runs a coroutine function; it is called, and found in the network, by this name."""
        if not isinstance(name, str) or not name:
            raise UsageError(f"the name of a host is {name!r}", remedy="name hosts by strings")
        if not inspect.iscoroutinefunction(function):
            shown = getattr(function, "__qualname__", repr(function))
            raise UsageError(
                f"host '{name}' is to run {shown}, which is no coroutine function",
                remedy="give an 'async def' function and its arguments: world.start('a', main, 'a')",
            )
        universe = self._universe
        if name in universe.programs:
            raise UsageError(f"host '{name}' is started twice", remedy="use world.restart to start it again")
        universe.add_host(name)
        universe.programs[name] = Program(function, arguments, function)
        self._universe.give_order(name, Order("start", function.__name__))

    def crash(self, name: str) -> None:
        """Let a host stop for good, between two lines of what it does: nothing of it runs any more."""
        self._universe.give_order(self._require_host(name), Order("crash"))

    def restart(self, name: str) -> None:
        """Let a host stop and begin its program anew; only its directory is kept."""
        self._universe.give_order(self._require_host(name), Order("restart"))

    def pause(self, name: str, seconds: float) -> None:
        """Let nothing happen at a host for some time; what comes meanwhile is handled then."""
        self._universe.give_order(self._require_host(name), Order("pause", f"for {seconds:g} s", seconds))

    def partition(self, group: Iterable[str], others: Iterable[str] | None = None) -> None:
        """Lose what a group of hosts and the others send each other from now on, until ``heal``."""
        inside = {self._require_host(name) for name in ([group] if isinstance(group, str) else group)}
        named = self._universe.names if others is None else [others] if isinstance(others, str) else list(others)
        outside = {self._require_host(name) for name in named} - inside
        for one in sorted(inside):
            for other in sorted(outside):
                self._universe.cuts |= {(one, other), (other, one)}

    def heal(self) -> None:
        """Let everything through again, and refuse nothing."""
        self._universe.cuts.clear()
        self._universe.internet.refusing.clear()

    def refuse(self, name: str) -> None:
        """Let a host refuse new connections from now on, until ``heal``; those that are open go on."""
        self._universe.internet.refusing.add(self._require_host(name))

    def reset(self, name: str, other: str | None = None) -> None:
        """Reset the connections that a host has open now, with all hosts or with one: both sides are told."""
        detail = "" if other is None else f"with {self._require_host(other)}"
        self._universe.give_order(self._require_host(name), Order("reset", detail, peer=other))

    def address_of(self, name: str) -> str:
        """Return the address of a host."""
        return self._universe.internet.address_of(self._require_host(name))

    def add_address(self, name: str, address: str) -> None:
        """Give a host another address."""
        self._universe.internet.add_address(self._require_host(name), address)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the names of the hosts that were started, in this order."""
        return tuple(self._universe.programs)

    @property
    def now(self) -> float:
        """Return how much virtual time has passed, in seconds."""
        world = self._universe.world()
        return 0.0 if world is None else world.ticks / 1_000_000

    def _require_host(self, name: str) -> str:
        if name not in self._universe.names:
            known = ", ".join(self._universe.names)
            raise UsageError(f"unknown host '{name}'", remedy=f"the hosts are {known}")
        return name

    # -- what must hold ------------------------------------------------------------------------------------------

    def assume(self, condition: object) -> None:
        """End this execution, which then says nothing, unless a condition holds."""
        if not condition:
            self._universe.is_void = True
            # Here, and not where the exception arrives: the code may catch it.
            self._universe.end()
            raise Unassumed
        self._universe.assumed += 1

    def promise(self, text: str, condition: object, what: str = "") -> None:
        """State that something must hold here and now; where it does not, the execution ends with that."""
        if inspect.isawaitable(condition):
            if inspect.iscoroutine(condition):
                condition.close()
            raise UsageError(
                f"the promise '{text}' is given something that was never awaited",
                remedy="await it: world.promise(text, await read() == 1)",
            )
        if self._universe.is_over:
            return  # said by code that goes on after the end, or after an assumption that does not hold
        promises = self._universe.promises
        promises.append(Promised(len(promises) + 1, str(text), bool(condition), str(what)))

    @property
    def history(self) -> Recorder:
        """Return the record of what clients do, in one order for all hosts.

        Its ``invoke``, ``ok``, ``fail`` and ``unknown`` add to it, ``history()`` returns the operations so far.
        """
        if (life := current_life()) is not None:
            life.read_history()
        return self._universe.history

    async def record(self, client: str, function: str, argument: Any, call: Awaitable[T], *, key: Any = None) -> T:
        """Await a call of a client, and record it as an operation of the history.

            value = await world.record("ann", "read", None, store.get("k"))

        What it returns is what the client was answered.  If it raises, nobody knows whether it took effect; where
        the client does know, use ``history.fail``.
        """
        history = self._universe.history
        history.invoke(client, function, argument, key=key, at=self.now)
        try:
            answer = await call
        except BaseException:
            if not self._universe.is_over:
                history.unknown(client, at=self.now)
            raise
        history.ok(client, answer, at=self.now)
        return answer

    def promise_linearizable(self, model: object = "register") -> None:
        """Promise that what was recorded so far could have happened in one order, one operation at a time."""
        broken = linearizable(self.history.history(), model)
        self.promise("the history is linearizable", broken is None, broken or "")

    def expose(self, name: str, look: Callable[[], Any]) -> None:
        """Show a value of the host that calls this, as an attribute of its node: to invariants and reports."""
        life = current_life()
        if life is None or not name.isidentifier() or name.startswith("_"):
            raise UsageError(
                f"{name!r} cannot be exposed", remedy="call it at a host, with a name that could be a variable"
            )
        life.exposed[name] = look
