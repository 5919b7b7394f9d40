"""Whether a violation lasts, in one line."""

from __future__ import annotations

from typing import Any

from clew.duration import Duration, Loop, Persistence
from clew.report.text.plain import pluralize


def duration_line(duration: Duration, eot: int, *, open_world: bool = False, of_search: bool = False) -> str:
    """Return what becomes of the violation when the run goes on, and what to do if only EOT was too small.

    ``open_world``: the program is given inputs or chooses, and the run goes on without any more of that.
    ``of_search``: a search found it, which could look for what lasts instead.
    """
    told = _tell(duration, eot, ", or --lasting" if of_search else "")
    conditional = open_world and duration.reason is None and not duration.is_final
    return f"{told}, if nothing more is given or chosen" if conditional else told


def _tell(duration: Duration, eot: int, alternative: str) -> str:
    match duration.persistence:
        case Persistence.LASTING:
            if duration.loop is None:
                return f"lasts: what has happened at time {duration.since} cannot be undone"
            return f"lasts: {_loop_words(duration.loop)}"
        case Persistence.RECURRING:
            assert duration.loop is not None, "what recurs repeats itself"
            times = f"not violated at time {duration.kept}, violated again at {duration.again}"
            return f"recurs: {times}, and so on, every {pluralize(duration.loop.period, 'step')}"
        case Persistence.TRANSIENT:
            seen = "" if duration.loop else f" (followed up to {duration.followed})"
            if duration.void:
                return f"passes at time {duration.since}{seen}: nothing is promised from then on"
            remedy = f"EOT {eot} is too short (--eot {duration.since}{alternative})"
            return f"recovers at time {duration.since}{seen}: {remedy}"
        case Persistence.OPEN:
            return f"open whether it lasts: {duration.reason}"


def _loop_words(loop: Loop) -> str:
    # Of what has no part in the promise nothing is said: a counter of messages may well go on.
    if loop.period == 1:
        grows = ", but for numbers that grow" if loop.grows else ""
        return f"from time {loop.first} on nothing that it depends on changes{grows}"
    rounds = f"from time {loop.first} on the run repeats itself every {loop.period} steps"
    return f"{rounds}, violated throughout{'; numbers grow' if loop.grows else ''}"


def duration_fields(duration: Duration) -> dict[str, Any]:
    """Return the duration as JSON has it; ``null`` where a field does not apply."""
    loop = duration.loop
    return {
        "persistence": duration.persistence.value,
        "since": duration.since,
        "loop": None if loop is None else {"time": loop.first, "period": loop.period, "grows": loop.grows},
        "followed": duration.followed,
        "reason": duration.reason,
    }
