"""How the absence of a row is explained.

A rule with a negated premise fired because some row was *not* there: a retry was sent because no acknowledgement
had come.  The paper's appendix B leaves open how such an absence is traced back to faults and names three ways;
these are ours.  Only the first two give certificates.
"""

from __future__ import annotations

import enum


class Negation(enum.Enum):
    """Why a negated premise holds, and goes on holding.

    - ``EXACT``: every ground rule that could derive the row keeps at least one premise false.  The paper could
      not do this: its provenance records only rules that fired.  We have the ground rules of *all* executions.
    - ``CONSERVATIVE``: no row that reaches its relation through an odd number of negations, at an earlier or
      equal time, goes away, and the faults of the run stay (the paper's optimised over-approximation).  It needs
      the program text and the rows of the run, not the rules that did not fire.
    - ``IGNORE``: taken for granted; the search is then incomplete.
    """

    EXACT = "exact"
    CONSERVATIVE = "conservative"
    IGNORE = "ignore"
