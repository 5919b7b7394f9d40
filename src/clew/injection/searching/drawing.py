"""Faults drawn at random: the baseline that lineage is compared with.

How many faults of each kind there are is drawn, then which: of all that the runs so far have shown to be possible.
"""

from __future__ import annotations

from random import Random

from clew.faults import FaultsOf
from clew.injection.faults import CODE_KINDS, CodeFault
from clew.injection.searching.possible import possible_faults
from clew.injection.searching.system import CodeSystem, violation_of
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf


def search(system: CodeSystem, ledger: LedgerOf[CodeFault], *, seed: int, max_runs: int) -> str | None:
    """Draw and run until something breaks or the runs are used up."""
    random = Random(seed)
    known: dict[CodeFault, None] = {}
    faults: FaultsOf[CodeFault] = FaultsOf()
    for _ in range(max_runs):
        ledger.before_run("drawing at random")
        course = system.execute(faults)
        broken = course.broken if course.is_within(system.spec.within) else None
        run = RunOf(faults, () if broken is None else (violation_of(broken),))
        ledger.after_run(run)
        system.count(course)
        if broken is not None:
            ledger.record(run)
            return None
        known.update(dict.fromkeys(possible.fault for possible in possible_faults(course, system.spec)))
        faults = _draw(system, list(known), random)
    return f"{max_runs} random runs showed no violation, which proves nothing"


def _draw(system: CodeSystem, known: list[CodeFault], random: Random) -> FaultsOf[CodeFault]:
    """Draw faults within the bounds; of two that exclude each other the one that was drawn first stays."""
    chosen: list[CodeFault] = []
    for kind in CODE_KINDS:
        of_kind = [fault for fault in known if isinstance(fault, kind)]
        number = random.randint(0, min(system.spec.most(kind), len(of_kind)))
        for fault in random.sample(of_kind, number):
            if system.spec.admits([*chosen, fault]):
                chosen.append(fault)
    return FaultsOf.of(chosen)
