"""The shape that every result of Clew shares, whatever was asked.

``check``, ``run``, ``fuzz``, ``explore``, ``minimize``, ``replay``, ``calm`` and ``blazes`` return dataclasses of
their own, each with what only it can tell.  All of them derive from ``Result``, so that a caller (a test, a CI
job, the command line) can treat them alike: what is the answer, why is it no better, what exit code is that.

How a result looks is the business of ``clew.report``, which knows all of them and stands to the right of all rooms
that make them.  Results must not import it, and a command that prints one kind must not load the code for the
others.  So this module names one module of ``report``, the table of renderers, and loads it when a result is
shown: the only arrow from left to right, beside those of ``clew/__init__``, and in one place.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enum import Enum

    from clew.errors import Notice

#: Exit codes, as docs/reliability.md promises them.  0, 1 and 3 are answers, and only a result has them; all else
#: that can happen is 2 or 4, so that an exception is never read as a counterexample.
HOLDS = 0
VIOLATED = 1
BAD_INPUT = 2
INCOMPLETE = 3
FAILED = 4

_RENDERERS = "clew.report.renderers"


class Result:
    """An answer with its reason: print it, write it as JSON, or give it to ``clew.write_report``."""

    # Declared for the type checker only: at run time, a dataclass would take an inherited property for the default
    # of its field of the same name.
    if TYPE_CHECKING:

        @property
        def answer(self) -> Enum:
            """Return the answer; its ``value`` is the word for it in JSON."""

        @property
        def reason(self) -> str | None:
            """Return why the answer is no better, or None where there is nothing to say."""

        @property
        def notices(self) -> tuple[Notice, ...]:
            """Return what the author of the program should know, and the answer does not say."""

        @property
        def exit_code(self) -> int:
            """Return what the command ends with: 0 holds, 1 violated, 3 incomplete."""

    def __str__(self) -> str:
        """Return what the terminal shows."""
        text: str = self._renderer().text(self)
        return text.rstrip("\n")

    def to_json(self) -> str:
        """Return what ``--json`` writes; docs/json.md documents it."""
        text: str = self._renderer().json_text(self)
        return text

    def _renderer(self) -> Any:
        return import_module(_RENDERERS).renderer_of(self)
