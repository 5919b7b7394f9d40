"""How long a violation lasts: what becomes of a run that is violated at its end, when it goes on.

*Lasting*: the run repeats itself after the last fault, and it is violated at every time of what it repeats.
*Recurring*: it repeats itself, and is violated at some of these times.  *Transient*: it recovers.  *Open*: nobody
knows, and ``reason`` says why.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass


class Persistence(enum.Enum):
    """What becomes of a violation; the values are what JSON calls them."""

    LASTING = "lasting"
    RECURRING = "recurring"
    TRANSIENT = "transient"
    OPEN = "open"


@dataclass(frozen=True)
class Loop:
    """From time ``first`` on, what happens happens again every ``period`` steps.

    ``grows``: but for numbers that have grown, between which the program cannot tell the difference.
    """

    first: int
    period: int
    grows: bool = False

    @property
    def again(self) -> int:
        """Return the first time that is as an earlier one was."""
        return self.first + self.period


@dataclass(frozen=True)
class Duration:
    """What becomes of a violation in a run that was executed up to time ``followed``.

    ``loop``: where the run repeats itself, if it was seen to; without it a recovery holds as far as that.
    A lasting violation without one is of what must never hold, and has held.
    ``since``: of a lasting violation the time from which on it is violated at every time, of a transient one the
    time from which on it is not.  ``void``: since then nothing is promised, so that nothing can be violated.
    ``kept`` and ``again``: of a recurring one a time after the end at which it is not violated, and the next at
    which it is.
    """

    persistence: Persistence
    followed: int
    loop: Loop | None = None
    since: int | None = None
    void: bool = False
    kept: int | None = None
    again: int | None = None
    reason: str | None = None

    @property
    def lasts(self) -> bool:
        """Tell whether it is known to be violated for ever."""
        return self.persistence is Persistence.LASTING

    @property
    def is_final(self) -> bool:
        """Tell whether nothing that comes after could change it: what must never hold has held."""
        return self.lasts and self.loop is None

    @property
    def passes(self) -> bool:
        """Tell whether it is known not to last, be it that it comes again."""
        return self.persistence in (Persistence.TRANSIENT, Persistence.RECURRING)

    @property
    def repeated(self) -> Loop | None:
        """Return the loop in which it is violated, throughout or now and then; None if there is none."""
        return self.loop if self.persistence in (Persistence.LASTING, Persistence.RECURRING) else None


def once_happened(eot: int, time: int) -> Duration:
    """Return that something has held which must never hold: whatever comes after does not undo that."""
    return Duration(Persistence.LASTING, eot, since=time)


def never_followed(eot: int, reason: str) -> Duration:
    """Return that nothing is known beyond the end."""
    return Duration(Persistence.OPEN, eot, reason=reason)


class State(enum.Enum):
    """How things stand at one time of a run: nothing is promised, a promise is broken, or all are kept."""

    VACUOUS = "vacuous"
    BAD = "bad"
    GOOD = "good"


def judge_course(course: Sequence[State], eot: int, loop: Loop | None) -> Duration:
    """Return what becomes of a violation at ``eot``: ``course`` has the state at times 1, 2, ... of the run."""
    followed = len(course)
    bad = {time for time, state in enumerate(course, start=1) if state is State.BAD}
    if loop is not None:
        repeated = range(max(loop.first, 1), loop.again)
        if all(time in bad for time in repeated):
            since = max((t for t in range(1, loop.first) if t not in bad), default=0) + 1
            return Duration(Persistence.LASTING, followed, loop, since)
        if any(time in bad for time in repeated):
            return _recurring(bad, eot, followed, loop)
    if followed in bad:
        reason = f"at time {followed} it is still violated, and the run still changes"
        return Duration(Persistence.OPEN, followed, reason=reason)
    since = max(max(bad), eot) + 1
    relapsed = any(t in bad and t - 1 not in bad for t in range(eot + 1, followed + 1))
    if loop is None and relapsed:
        reason = f"it is violated again and again up to time {max(bad)}, and the run still changes"
        return Duration(Persistence.OPEN, followed, reason=reason)
    return Duration(Persistence.TRANSIENT, followed, loop, since, course[since - 1] is State.VACUOUS)


def _recurring(bad: set[int], eot: int, followed: int, loop: Loop) -> Duration:
    """Return when, after the end, it is kept first, and violated again."""

    def is_bad(time: int) -> bool:
        # Times beyond what was executed are as those of the loop.
        seen = time if time <= followed else loop.first + (time - loop.first) % loop.period
        return seen in bad

    horizon = max(eot, loop.first) + 2 * loop.period + 2
    kept = next(t for t in range(eot + 1, horizon) if not is_bad(t))
    again = next(t for t in range(kept + 1, horizon + loop.period) if is_bad(t))
    return Duration(Persistence.RECURRING, followed, loop, kept=kept, again=again)
