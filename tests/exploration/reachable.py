"""The reference for global states: all that can be reached, found by a search that remembers where it has been.

It knows nothing of dependence: two paths are one only when they lead to the same situation, down to every message
on its way.  So it finds out where events are wrongly taken for unrelated, which counting classes would not.
"""

from __future__ import annotations

from clew.simulation.scenario import Scenario
from exploration.attempt import Attempt, Label, Limits
from exploration.brute import Counted, TooManyError, View


def reachable(scenario: Scenario, limits: Limits, most: int, view: View) -> Counted:
    """Return states and violations; ``most`` is a limit on the number of situations."""
    counted = Counted()
    seen = set()
    pending: list[tuple[Label, ...]] = [()]
    while pending:
        path = pending.pop()
        attempt = Attempt(scenario, limits)
        for label in path:
            attempt.take(label)
        # A node that is down is remembered by its storage.
        stored = tuple(sorted((name, repr(dict(kept))) for name, kept in attempt.world._durable.items()))
        situation = attempt.situation((view(attempt.world.nodes), stored))
        if situation in seen:
            continue
        seen.add(situation)
        if len(seen) > most:
            raise TooManyError
        counted.look(attempt, view)
        pending += [(*path, label) for label in attempt.possible()]
    return counted
