"""How the absence of a row is explained (appendix B of the paper names three ways)."""

from __future__ import annotations

import enum


class Negation(enum.Enum):
    """Why a negated premise holds, and goes on holding.

    - ``EXACT``: every ground rule that could derive the row keeps at least one premise false.
    - ``CONSERVATIVE``: no row that reaches its relation through an odd number of negations, at an earlier or
      equal time, goes away, and the faults of the run stay (the paper's optimised over-approximation).
    - ``IGNORE``: taken for granted; the search is then incomplete.
    """

    EXACT = "exact"
    CONSERVATIVE = "conservative"
    IGNORE = "ignore"
