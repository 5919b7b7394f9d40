"""Labels: what messages are called where people read of them, in diagrams, tables and texts.

A message may say it itself (``label``: a string, a property or a method without arguments).  Otherwise it is
called by its fingerprint, if the scenario has one, or else by its type.  Nothing is identified by a label:
recordings and searches never see one, so that it can be changed freely.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any

from clew.errors import ClewError, Position, UsageError
from clew.names import in_one_line
from clew.simulation.scenario import Scenario
from clew.simulation.user_code import ask
from clew.simulation.values import isolate

#: A label is a name in a diagram: what is longer is cut.
LONGEST_LABEL = 60

_REMEDY = "let it return a string for every message of this type"


def label_of(scenario: Scenario, message: Any) -> str:
    """Return what a message is called; "" where its type is all there is to say."""
    label = _own_label(message)
    if label is None and scenario.fingerprint is not None:
        label = scenario.fingerprint_of(message)
    # Cut before it is made harmless, which takes its time with a text of any length.
    shown = in_one_line((label or "").strip()[: LONGEST_LABEL + 1])
    shown = shown if len(shown) <= LONGEST_LABEL else f"{shown[: LONGEST_LABEL - 1]}…"
    return "" if shown == type(message).__qualname__ else shown


def _own_label(message: Any) -> str | None:
    """Return what a message says that it is called, if it says anything."""
    kind = type(message)
    declared = inspect.getattr_static(message, "label", None)
    if declared is None or isinstance(declared, str):
        return declared
    what = f"the label of a {kind.__qualname__}"
    try:
        # Asked of a copy: one that changes its message would change the execution that is only looked at.
        label = ask(what, getattr, isolate(message), "label", remedy=_REMEDY)
        computed = callable(label) or isinstance(declared, property | cached_property)
        if callable(label):
            label = ask(what, label, remedy=_REMEDY)
    except ClewError as error:
        raise UsageError(
            error.message, position=error.position or _line_of(declared), remedy=error.remedy
        ) from error
    if label is None or isinstance(label, str):
        return label
    if not computed:
        return None  # a field that happens to be called so
    raise UsageError(f"{what} is {label!r:.60}", position=_line_of(declared), remedy=_REMEDY)


def _line_of(declared: Any) -> Position | None:
    """Return where a property or method begins."""
    function = declared.fget if isinstance(declared, property) else getattr(declared, "__func__", declared)
    code = getattr(function, "__code__", None)
    return None if code is None else Position(code.co_filename, code.co_firstlineno, 1)
