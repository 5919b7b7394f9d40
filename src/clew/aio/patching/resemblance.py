"""Let what stands in for a function of Python be called what it stands for.

Analyses that run in this process, of rules and of dataflows, know by module and name which functions are no
functions of their arguments: one of ours in the place of ``time.time`` would look like somebody's pure function.
"""

from __future__ import annotations

import types
from typing import Any


def resemble(stand_in: Any, original: Any, home: str) -> None:
    """Give a function the names of the one that it stands for; ``home``: the module in which that is found."""
    if isinstance(stand_in, types.FunctionType):
        # A method of the generator behind ``random`` has no module of its own.
        stand_in.__module__ = getattr(original, "__module__", None) or home
        stand_in.__name__ = original.__name__
        stand_in.__qualname__ = getattr(original, "__qualname__", original.__name__)
