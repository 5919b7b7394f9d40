"""Following a schedule to the letter: only messages that say what they said are delivered, all others are skipped.

A smaller message from outside often sends fewer messages on.  Matched by type, the ones that are left take the
places of those that are gone, and too many are delivered: of the lines p, q and r of an order without q, the
answer for r would stand where that for q was.  To leave out the line and its two messages together takes one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clew.minimization.trial import Match, Schedule, Target, attempt, rewrite
from clew.simulation.events import Send
from clew.simulation.values import canonical


def follow_literally(before: Target, schedule: Schedule, after: Target) -> Schedule | None:
    """Return what of a schedule for ``before`` can be taken ``after`` to the letter, if the violation comes."""
    # What became smaller says something else now, and is meant all the same.
    renamed = {
        canonical(new.message): canonical(old.message)
        for old, new in zip(before.externals, after.externals, strict=True)
        if isinstance(old, Send) and isinstance(new, Send)
    }
    literal = rewrite(_compare_contents(before, {}), schedule, Match.TYPE)
    taken = attempt(_compare_contents(after, renamed), literal, Match.FINGERPRINT)
    return None if taken is None else rewrite(after, taken, Match.TYPE)


def _compare_contents(target: Target, renamed: Mapping[str, str]) -> Target:
    """Return the target with all that a message says as its fingerprint."""

    def say_all(message: Any) -> str:
        said = canonical(message)
        return renamed.get(said, said)

    return replace(target, scenario=replace(target.scenario, fingerprint=say_all))
