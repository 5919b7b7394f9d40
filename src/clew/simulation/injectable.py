"""What may be done to a scenario when it is checked: how many faults of which kind, and when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from clew.errors import UsageError

#: What is tried when neither the scenario nor the command says anything.
USUAL_LOSSES, USUAL_CRASHES = 2, 1
#: Seconds for which a node is down and a partition lasts, when nothing else is said.
USUAL_OUTAGE = 1.0
#: Virtual time is counted in microseconds.
SHORTEST_OUTAGE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Faults:
    """At most so many ``losses``, ``crashes``, ``restarts``, ``partitions`` and ``duplicates``, and so many in
    ``total``.

    They begin ``until`` some seconds of virtual time have passed (default: at any time).  Restarts and partitions
    last as long as one of the ``outages``, in seconds.  What is None is open: a flag, or the usual, decides.
    """

    losses: int | None = None
    crashes: int | None = None
    restarts: int | None = None
    partitions: int | None = None
    duplicates: int | None = None
    total: int | None = None
    until: float | None = None
    outages: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("losses", "crashes", "restarts", "partitions", "duplicates", "total"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
                raise UsageError(f"{name} is {number!r}", remedy="give a whole number, from 0 on")
        if self.until is not None and not _is_time(self.until):
            raise UsageError(f"until is {self.until!r}", remedy="give seconds of virtual time, at least 0")
        if self.outages is not None:
            self._check_outages(self.outages)

    def _check_outages(self, outages: object) -> None:
        remedy = "say how long restarts and partitions last, in seconds of virtual time, as in (0.5, 2)"
        if not isinstance(outages, tuple | list) or not outages:
            raise UsageError(f"outages is {outages!r}", remedy=remedy)
        for time in outages:
            # A partition that lasts for no time loses nothing.
            if not _is_time(time) or time < SHORTEST_OUTAGE:
                raise UsageError(f"one of the outages is {time!r}", remedy=remedy)

    def or_else(self, others: Faults) -> Faults:
        """Return these, and where they are open the others."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        return replace(others, **given)

    @property
    def is_open(self) -> bool:
        """Tell whether nothing is said about how many faults there may be."""
        numbers = (self.losses, self.crashes, self.restarts, self.partitions, self.duplicates)
        return all(number is None for number in numbers)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
