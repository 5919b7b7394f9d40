"""What a node spends on others at most: time, memory, and lines of its log.

Each limit can be exceeded by who attacks the node, and by nobody else.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields

from clew.errors import UsageError

#: For how long the lines of a kind are counted together, in seconds.
PERIOD = 10.0
#: The longest line; it may quote what somebody sent.
_LONGEST = 500


@dataclass(frozen=True)
class Limits:
    """Bounds for what arrives and for what waits; ``Bloom(..., limits=Limits(frame=8 * 2**20))``.

    ``frame``: bytes of the largest row; a row that does not fit is not sent, and refused where it arrives.
    ``elements``: numbers, texts, tuples and sets in one packet, nested ones included.  Decoding takes some
    microseconds for each, during which the node does nothing else.
    ``connections``: from others, and as many to others.  When one more comes, the idlest goes.
    ``frame_seconds``: from the first byte of a frame to the last, and from a connection to its first frame.
    ``idle_seconds``: between two frames.
    ``unfinished``: bytes of frames that have not arrived completely, of all connections together.
    ``unsent``: bytes that wait for one peer that does not read, and for all addresses that have not answered yet.
    ``log_lines``: of one kind within ten seconds; the others are counted.
    """

    frame: int = 2**20
    elements: int = 2**15
    connections: int = 256
    frame_seconds: float = 10.0
    idle_seconds: float = 60.0
    unfinished: int = 64 * 2**20
    unsent: int = 64 * 2**20
    log_lines: int = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            # True is a number, too, and limits=Limits(frame=True) a mistake.
            if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
                raise UsageError(f"the limit {field.name} is {given!r}", remedy="give a number greater than 0")
        # The length of a frame is written in four bytes.
        if self.frame >= 2**32:
            raise UsageError(f"the limit frame is {self.frame}", remedy="a frame has less than 4 GiB")


DEFAULT_LIMITS = Limits()


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
            # A timer that runs only while there is something to count: an idle node does nothing.
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
