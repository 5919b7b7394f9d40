"""When a message arrives, if it does: what losses, crashes and delays make of it."""

from __future__ import annotations

from clew.faults import FailureSpec, FaultSet, Node


class Arrivals:
    """When messages arrive under some faults; made once for all messages of an execution."""

    def __init__(self, spec: FailureSpec, faults: FaultSet) -> None:
        self._eot = spec.eot
        self._nodes = frozenset(spec.nodes)
        self._lost = frozenset(loss.message for loss in faults.losses)
        self._crashed = {crash.node: crash.time for crash in reversed(faults.crashes)}  # the first counts
        self._lags = {delay.message: delay.lag for delay in faults.delays}

    def time_of(self, source: Node, target: Node, sent: int) -> int | None:
        """Return the time at which a message becomes a row; None if it never does."""
        if source == target:
            return sent + 1
        message = source, target, sent
        lost = source not in self._nodes or target not in self._nodes or message in self._lost
        if lost or self._crashed.get(source, sent + 1) <= sent:
            return None
        arrival = sent + 1 + self._lags.get(message, 0)
        return arrival if arrival <= self._eot else None
