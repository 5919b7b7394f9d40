"""Which events changed nothing at all: to lose such a message, or to crash before or after it, is the same.

That is what a certificate rests on, so that more has to be seen here than what people are shown: the order of
dictionaries, which objects are one and the same, what functions have in their closures.  What cannot be seen
through, such as a generator or an object of C code, makes its node one of which nothing is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from clew.injection.execution.looking import OpaqueError, look_through
from clew.injection.execution.world import InjectedWorld
from clew.simulation.pool import Envelope
from clew.simulation.world import External


class _Seen(NamedTuple):
    """What a node was like when it was last looked at; None: nobody knows."""

    state: list[Any] | None
    timers: list[Any]
    stored: list[Any] | None
    drawn: object


class IdleWatch:
    """Looks at nodes after their events, and tells which of these did nothing."""

    def __init__(self, world: InjectedWorld) -> None:
        self._world = world
        self._seen: dict[str, _Seen] = {}
        self._sent = 0

    def look_at_all(self) -> None:
        """Take everything as it is now for what the next events change."""
        self._sent = self._world.put_on_way
        self._seen = {name: self._look_at(name) for name in self._world.nodes}

    def sees_nothing(self, what: External | Envelope, node: str) -> bool:
        """Tell whether an event changed no state, storage or timer, and nothing was drawn or sent."""
        if not isinstance(what, Envelope):
            # From outside: rare, and may have changed anything anywhere.
            self.look_at_all()
            return False
        sent, self._sent = self._sent, self._world.put_on_way
        if not node:
            return False
        before, after = self._seen.get(node), self._look_at(node)
        self._seen[node] = after
        return sent == self._sent and after.state is not None and before == after

    def _look_at(self, name: str) -> _Seen:
        world = self._world
        # By number: one that is set again, at the same time, is another.
        timers = [(str(e.payload), e.nth) for e in world.pool.timers if e.target == name]
        timers.sort()
        process, storage = world.processes.get(name), world.storage_of(name)
        drawn = process.random.getstate() if process is not None and process.drew else None
        try:
            state = look_through(world.nodes[name])
            stored = None if storage is None else look_through(storage)
        except OpaqueError:
            return _Seen(None, timers, None, drawn)
        return _Seen(state, timers, stored, drawn)
