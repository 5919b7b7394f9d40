"""What the answer of a check is worth: certificates that say nothing, and what makes an answer mean less."""

from __future__ import annotations

from collections.abc import Iterator

from clew.injection.bounds import InjectionBounds
from clew.injection.execution.course import Course, explain_no_end
from clew.injection.faults import CODE_KINDS
from clew.injection.searching.possible import possible_faults
from clew.simulation.scenario import Scenario


def find_hollow(scenario: Scenario, peaceful: Course, bounds: InjectionBounds) -> str | None:
    """Return why it says nothing that no faults break anything, if that is so."""
    if peaceful.is_vacuous:
        why = scenario.explain_vacuity(peaceful.world)
        return f"also without faults nothing is promised ({why}), so nothing can be broken"
    if not _delivers(peaceful):
        return "nothing was tried: without faults nothing is delivered"
    if not _strikes(peaceful, bounds):
        return "nothing was tried: no fault within the bounds strikes the execution without faults"
    return None


def find_cautions(scenario: Scenario, peaceful: Course, bounds: InjectionBounds) -> tuple[str, ...]:
    """Return what makes it mean little that nothing was found."""
    return tuple(_cautions(scenario, peaceful, bounds))


def _cautions(scenario: Scenario, peaceful: Course, bounds: InjectionBounds) -> Iterator[str]:
    if not scenario.promises and not scenario.invariants:
        yield "the scenario has neither promises nor invariants: only that no handler raises is checked"
    if peaceful.broken is not None:
        return  # it ended there, so that it does not show what else would have happened
    if not _delivers(peaceful):
        yield "without faults nothing is delivered"
    if not peaceful.is_over:
        yield f"without faults the execution does not come to its end: {explain_no_end(scenario, peaceful)}"
    elif peaceful.to_come:
        number = f"{peaceful.to_come} event{'' if peaceful.to_come == 1 else 's'}"
        yield f"without faults {number} from outside did not happen: what they wait for did not come in time"
    struck = _strikes(peaceful, bounds)
    for kind in CODE_KINDS:
        if bounds.most(kind) and not any(isinstance(fault, kind) for fault in struck):
            yield f"no {kind.name} within the bounds strikes the execution without faults"


def _delivers(course: Course) -> bool:
    return any(occurrence.fate == "deliver" for occurrence in course.occurrences)


def _strikes(course: Course, bounds: InjectionBounds) -> list[object]:
    return [possible.fault for possible in possible_faults(course, bounds)]
