"""Log lines that others can cause, without giving them the disk: a few of each kind, and then a count."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

#: For how long the lines of a kind are counted together, in seconds.
PERIOD = 10.0
#: The longest line; it may quote what somebody sent.
_LONGEST = 500


class LimitedLog:
    """Lines by kind: at most ``lines`` of a kind within a period, then how many more there were.

    ``later`` calls a function after some seconds, as an event loop does: a count is told when its period is over,
    whether or not anything else happens.
    """

    def __init__(
        self, log: logging.Logger, lines: int, later: Callable[[float, Callable[[], None]], object]
    ) -> None:
        self._log = log
        self._lines = lines
        self._later = later
        self._written: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._counting = False

    def write(self, kind: str, text: str, *arguments: object, exc_info: bool = False) -> None:
        """Write a warning; with ``exc_info``, an error with the exception that is being handled."""
        if not self._counting:
            self._counting = True
            self._later(PERIOD, self.tell)
        if self._written[kind] >= self._lines:
            self._left_out[kind] += 1
            return
        self._written[kind] += 1
        line = text % arguments
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST]}... ({len(line)} characters)"
        self._log.log(logging.ERROR if exc_info else logging.WARNING, "%s", line, exc_info=exc_info)

    def tell(self) -> None:
        """Write down the counts, and begin anew."""
        for kind, count in sorted(self._left_out.items()):
            self._log.warning("%s: %d more like that within %g seconds", kind, count, PERIOD)
        self._written.clear()
        self._left_out.clear()
        self._counting = False
