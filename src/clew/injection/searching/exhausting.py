"""Every set of faults within the bounds, on one schedule, the fewest faults first: what certifies.

Sets are made as ``possible`` says: each fault is added where it strikes, so that no set is run twice and none is
missing.  Two prunings are sound:

- a fault that changes nothing is left out (``possible_faults``);
- sets of faults that lead to the same history are one.  What follows from a history is the same, so that of two
  runs with the same one only that is extended which leaves more faults to add.  A partition that is not over is
  more than its history: it would lose what is sent because of the next fault.  And a copy that has not arrived is
  in no other history.

All of this takes for granted that a run under one more fault is the same up to where that fault strikes.  That is
looked at in every run: code that draws or remembers what it should not is found out.

At each size the faults come first that cut what the promises rest on: bugs are mostly there.

The sets of one size may be run anywhere (``sharing``).  What is seen of them is taken in their order, so that
neither the answer nor the number of runs depends on who runs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from clew.faults import FaultsOf
from clew.injection.execution.course import explain_no_end
from clew.injection.faults import CodeFault
from clew.injection.searching.frontier import Frontier, OrderedFaults, read_frontier
from clew.injection.searching.saving import Saving
from clew.injection.searching.system import CodeSystem
from clew.injection.searching.visiting import Visited, Visitor
from clew.injection.written import flag_reader
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf


class Visits(Protocol):
    """Who runs the sets of one size."""

    def visit_level(self, front: Frontier) -> Iterator[Visited]:
        """Run the sets from ``front.place`` on, and yield what they showed, in order."""


class VisitsHere:
    """One set after the other, in this process."""

    def __init__(self, visitor: Visitor, ledger: LedgerOf[CodeFault]) -> None:
        self._visitor = visitor
        self._ledger = ledger

    def visit_level(self, front: Frontier) -> Iterator[Visited]:
        for each in front.level[front.place :]:
            self._ledger.before_run(f"{len(each.faults)} faults")
            yield self._visitor.visit(each)


def search(
    system: CodeSystem,
    ledger: LedgerOf[CodeFault],
    *,
    prune: bool = True,
    saving: Saving | None = None,
    visits: AbstractContextManager[Visits] | None = None,
) -> str | None:
    """Run every set of faults; return why that is not all, or None.  ``prune``: leave out what cannot matter."""
    front = Frontier() if saving is None else _resume(saving, system, ledger)
    if visits is None:
        return _search(system, ledger, front, saving, VisitsHere(Visitor(system, prune), ledger), prune)
    with visits as shared:
        return _search(system, ledger, front, saving, shared, prune)


def _search(
    system: CodeSystem,
    ledger: LedgerOf[CodeFault],
    front: Frontier,
    saving: Saving | None,
    visits: Visits,
    prune: bool,
) -> str | None:
    while front.next() is not None:
        for visited in visits.visit_level(front):
            each = visited.faults
            run = RunOf(FaultsOf.of(each.faults), () if visited.broken is None else (visited.broken,))
            ledger.after_run(run)
            system.vacuous += visited.is_vacuous
            if visited.broken is not None:
                # Smaller sets came before, so there is none with fewer faults, and the search can end.
                ledger.record(run)
                return None
            if not visited.is_over:
                front.unfinished += 1
                front.endless = front.endless or [each]
            if visited.extends and not (prune and _is_known(visited, front.seen)):
                front.following += visited.extend()
            front.place, front.runs, front.vacuous = front.place + 1, ledger.runs, system.vacuous
            # Only here is a run done: what is saved says of none that it was made and forgets what follows.
            if saving is not None:
                saving.offer()
    return _tell_unfinished(system, front) if front.unfinished else None


def _tell_unfinished(system: CodeSystem, front: Frontier) -> str:
    """Return how many runs did not come to their end, with the first of them and why."""
    runs = "1 run" if front.unfinished == 1 else f"{front.unfinished} runs"
    if not front.endless:  # the checkpoint does not say
        return f"{runs} did not come to their end"
    faults = FaultsOf.of(front.endless[0].faults)
    course = system.repeat(faults, observing=False)
    return f"{runs} did not come to their end, the first with {faults}: {explain_no_end(system.scenario, course)}"


def _resume(saving: Saving, system: CodeSystem, ledger: LedgerOf[CodeFault]) -> Frontier:
    """Return how far the search had come when it was saved, or its beginning."""
    front = Frontier()
    if saving.saved is not None:
        front = read_frontier(saving.saved, system.spec, flag_reader(system.scenario))
        ledger.runs, system.vacuous = front.runs, front.vacuous
    saving.save_with(front.to_json, front.runs)
    return front


def _is_known(visited: Visited, seen: dict[bytes, list[OrderedFaults]]) -> bool:
    """Tell whether another set had the same history, with no more faults of any kind, and strikes no later."""
    if visited.history is None:
        return False
    each = visited.faults
    earlier = seen.setdefault(visited.history, [])
    # Only then can the other be extended by all that this one can: what strikes later, and as much.
    if any(other.last <= each.last and _is_cheaper(other.faults, each.faults) for other in earlier):
        return True
    earlier.append(each)
    return False


def _is_cheaper(one: Sequence[CodeFault], other: Sequence[CodeFault]) -> bool:
    # A kind that only the other has is no obstacle: the one has none of it.
    kinds = {type(fault) for fault in one}
    return all(sum(type(f) is kind for f in one) <= sum(type(f) is kind for f in other) for kind in kinds)
