"""The failure specification of a search: which faults are possible within its bounds, and which sets of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from clew.faults.kinds import KINDS, Fault
from clew.faults.limits import Limits
from clew.faults.sets import FaultSet


@dataclass(frozen=True)
class FailureSpec(Limits):
    """The bounds of a search.

    ``eot`` is the last time of an execution, losses happen at times ``< eff``, at most ``crashes`` nodes
    crash, each at a time ``< eot``, and a delivered message takes at most ``delays`` extra steps.
    """

    def possible_faults(self) -> Iterator[Fault]:
        """Yield every single fault that these bounds admit, kind by kind."""
        for kind in KINDS:
            yield from kind.possible(self)

    def admits(self, faults: FaultSet) -> bool:
        """Tell whether this set of faults stays within the bounds."""
        return (
            all(fault.admitted(self) for fault in faults)
            and len({fault.hits for fault in faults}) == len(faults)
            and all(self._are_few_enough(kind, faults) for kind in KINDS)
        )

    def _are_few_enough(self, kind: type[Fault], faults: FaultSet) -> bool:
        most = kind.most(self)
        return most is None or len(faults.of_kind(kind)) <= most

    def combinations(self) -> int:
        """Return the paper's bound on the number of failure combinations (the Combinations column).

        A factor for the arrival of every message is added when messages may be delayed.
        """
        return prod(kind.combinations(self) for kind in KINDS)
