"""Record what clients do, in a simulated node or anywhere else: no clock, only the order of calls.

    self.history = Recorder()                                  # an attribute of the node
    self.history.invoke("ann", "write", 1)                     # the request is sent
    self.history.ok("ann", 1)                                  # the answer has come

One recorder has one order, that in which it was called.  So the clients whose order is to count belong into one
node, each a process of its own recorder; ``history_of(nodes)`` finds it.  Recorders of several nodes are merged by
the times that were given (``at=ctx.now``), which only makes sense where their clocks agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.errors import UsageError
from clew.histories.operations import History, order_operations
from clew.histories.pairing import Event, Kind, pair_events
from clew.histories.values import Value, freeze


@dataclass
class Recorder:
    """The events of some clients, in order; ``under_way``: by process, the function and key of its call."""

    # Fields of plain values: the state of a simulated node is compared, recorded and shown.
    events: list[tuple[Any, ...]] = field(default_factory=list)
    under_way: dict[Any, tuple[str, Any]] = field(default_factory=dict)

    def invoke(
        self, process: Value, function: str, argument: Any = None, *, key: Value = None, at: float | None = None
    ) -> None:
        """Note that a client calls; it must have nothing under way."""
        if process in self.under_way:
            raise UsageError(
                f"client {process} invokes {function}, but has {self.under_way[process][0]} under way",
                remedy="say first how that ended: ok, fail or unknown",
            )
        self.under_way[process] = (function, key)
        self._note(Event(process, Kind.INVOKE, function, freeze(argument), key, at))

    def ok(self, process: Value, result: Any = None, *, at: float | None = None) -> None:
        """Note the answer that a client got: its operation took effect."""
        self._answer(process, Kind.OK, freeze(result), at)

    def fail(self, process: Value, *, at: float | None = None) -> None:
        """Note that the operation of a client certainly had no effect."""
        self._answer(process, Kind.FAIL, None, at)

    def unknown(self, process: Value, *, at: float | None = None) -> None:
        """Note that a client waits no longer; what it asked for may still take effect, at any time, or never."""
        self._answer(process, Kind.UNKNOWN, None, at)

    def history(self) -> History:
        """Return the operations so far."""
        return pair_events(map(_event, self.events))

    def _answer(self, process: Value, kind: Kind, result: Value, at: float | None) -> None:
        if process not in self.under_way:
            raise UsageError(
                f"client {process} gets an answer, but has nothing under way",
                remedy="call invoke(...) when the request is sent",
            )
        # What is answered is what was asked: nobody has to name the function again, and cannot name another.
        function, key = self.under_way.pop(process)
        self._note(Event(process, kind, function, result, key, at))

    def _note(self, event: Event) -> None:
        # As a plain tuple with a word: that is what the state of a simulated node may hold.
        self.events.append((event.process, event.kind.value, event.function, event.value, event.key, event.time))


def history_of(nodes: Mapping[str, Any]) -> History:
    """Return what the recorders of nodes hold: those that are attributes of one.

    Several are merged by the times of their events.  Events of the same time are taken for simultaneous: then
    operations overlap, and nothing is claimed of their order.
    """
    found = [
        (name, value)
        for name, node in sorted(nodes.items())
        for _, value in sorted(vars(node).items())
        if isinstance(value, Recorder)
    ]
    # The usual case needs no times: one recorder has an order of its own, which is exact.
    if len(found) == 1:
        return found[0][1].history()
    return merge_histories({name: recorder.history() for name, recorder in found})


def merge_histories(histories: Mapping[str, History]) -> History:
    """Return the operations of several histories in the order of their times; clients get its name, too."""
    return order_operations(
        operation._replace(process=(name, operation.process))
        for name, history in histories.items()
        for operation in history.operations
    )


def _event(noted: tuple[Any, ...]) -> Event:
    process, kind, function, value, key, time = noted
    return Event(process, Kind(kind), function, value, key, time)
