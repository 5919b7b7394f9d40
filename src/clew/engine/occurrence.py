"""Whether something happens: in the failure-free run, in some admissible execution, or in none.

The conditions are added to the ground program, so each question is about all executions at once and its answer
exact.  An execution that the solver shows for one condition answers for every other that holds in it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import TypeVar

from clew.engine.ground import GroundProgram
from clew.engine.solving import last
from clew.errors import BudgetExhaustedError
from clew.faults import FaultSet

#: How hard to look, in conflicts of the solver for each condition: unlike seconds, the same on every machine.
MOST_CONFLICTS = 20_000

K = TypeVar("K")


class Occurrence(enum.Enum):
    """When something happens; the values are what JSON calls them."""

    FAILURE_FREE = "failure-free"
    UNDER_FAULTS = "under faults"
    NEVER = "never"
    UNKNOWN = "unknown"


def find_occurrences(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> dict[K, Occurrence]:
    """Return for each condition, given as bodies of which any will do, when it holds.

    Unknown is what the time limit, an interrupt or the limit of the effort left open.
    """
    atoms = _add(ground, conditions)
    found = {key: Occurrence.UNKNOWN if key in atoms else Occurrence.NEVER for key in conditions}
    try:
        without_faults = ground.truth(FaultSet(), list(atoms.values()))
        found.update({key: Occurrence.FAILURE_FREE for key, atom in atoms.items() if atom in without_faults})
        for key in atoms:
            if found[key] is Occurrence.UNKNOWN:
                found.update(_ask(ground, key, {k: a for k, a in atoms.items() if found[k] is Occurrence.UNKNOWN}))
    except BudgetExhaustedError:
        pass  # what was found so far is true, and the rest is unknown
    return found


def find_failure_free(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> frozenset[K]:
    """Return the conditions that hold in the failure-free run."""
    atoms = _add(ground, conditions)
    true = ground.truth(FaultSet(), list(atoms.values()))
    return frozenset(key for key, atom in atoms.items() if atom in true)


def _add(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> dict[K, int]:
    """Ground the conditions; return the atoms of those that the grounder could not refute."""
    name = f"occurs{ground.next_part()}"
    lines = [f"{name}({n}) :- {body}." for n, bodies in enumerate(conditions.values()) for body in bodies]
    ground.extend(name, "\n".join(lines))
    literals = {values[0]: literal for literal, values in ground.atoms(name, 1)}
    return {key: literals[n] for n, key in enumerate(conditions) if n in literals}


def _ask(ground: GroundProgram, key: K, open_atoms: Mapping[K, int]) -> dict[K, Occurrence]:
    """Look for an execution in which one condition holds; return what that tells about the open ones."""
    holding, exhausted = last(
        ground.solutions([open_atoms[key]], "ignore", "auto", conflicts=MOST_CONFLICTS, most=1),
        lambda model: [k for k, atom in open_atoms.items() if model.is_true(atom)],
    )
    if holding is not None:
        return dict.fromkeys(holding, Occurrence.UNDER_FAULTS)
    return {key: Occurrence.NEVER if exhausted else Occurrence.UNKNOWN}
