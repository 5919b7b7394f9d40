"""Collect garbage at times that can be repeated: what is in a cycle ends there, and may do something then.

A stream writer that nobody has closed closes its connection when it is collected.  When Python's collector runs
depends on all that was ever allocated in the process.  So it is off while hosts run, and young objects are
collected after so many events of an execution.
"""

from __future__ import annotations

import gc

#: After so many events of an execution; young objects alone, of which there are few.
EVENTS = 500


class Collector:
    """Stands for the collector during one execution."""

    def __init__(self) -> None:
        self._events = 0

    def note_event(self) -> None:
        """Note that an event begins, and collect what it is time for."""
        if gc.isenabled():
            # The first event, or another execution has ended meanwhile.
            gc.disable()
            _suspended.append(True)
        self._events += 1
        if self._events % EVENTS == 0:
            gc.collect(0)

    def end(self) -> None:
        """Let Python collect by itself again, if it did."""
        if _suspended:
            _suspended.clear()
            gc.enable()


#: Whether the collector is off only because hosts run.
_suspended: list[bool] = []
