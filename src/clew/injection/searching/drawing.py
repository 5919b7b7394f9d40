"""Faults drawn at random: the baseline that lineage is compared with.

How many faults of each kind there are is drawn, then which: of all that the runs so far have shown to be possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from clew.faults import FaultsOf
from clew.files.json_document import Item
from clew.injection.faults import CODE_KINDS, CodeFault
from clew.injection.searching.possible import possible_faults
from clew.injection.searching.saving import MOST_RUNS, Saving
from clew.injection.searching.system import CodeSystem, violation_of
from clew.injection.written import flag_reader, write_flag
from clew.lineage.saved_circuits import KnownFaults
from clew.search.protocol import RunOf
from clew.search.verdict import LedgerOf


@dataclass
class Draws:
    """How far a search has come: the faults that are known to be possible, those that are next, and the source."""

    random: Random
    known: dict[CodeFault, None] = field(default_factory=dict)
    next: FaultsOf[CodeFault] = field(default_factory=FaultsOf)
    runs: int = 0
    vacuous: int = 0

    def to_json(self) -> dict[str, object]:
        _, state, _ = self.random.getstate()
        return {
            "faults": [write_flag(fault) for fault in self.known],
            # Only what is known can have been drawn, so that numbers are enough.
            "next": [list(self.known).index(fault) for fault in self.next],
            "random": list(state),
            "runs": self.runs,
            "vacuous": self.vacuous,
        }


def search(
    system: CodeSystem,
    ledger: LedgerOf[CodeFault],
    *,
    seed: int,
    max_runs: int,
    saving: Saving | None = None,
) -> str | None:
    """Draw and run until something breaks or the runs are used up."""
    draws = Draws(Random(seed)) if saving is None else _resume(saving, system, ledger, seed)
    while draws.runs < max_runs:
        ledger.before_run("drawing at random")
        course = system.execute(draws.next)
        broken = course.broken if course.is_within(system.spec.within) else None
        run = RunOf(draws.next, () if broken is None else (violation_of(broken),))
        ledger.after_run(run)
        system.count(course)
        if broken is not None:
            ledger.record(run)
            return None
        draws.known.update(dict.fromkeys(possible.fault for possible in possible_faults(course, system.spec)))
        draws.next = _draw(system, list(draws.known), draws.random)
        # Together with what was drawn: a run that is interrupted is made again, from the same draw.
        draws.runs, draws.vacuous = ledger.runs, system.vacuous
        if saving is not None:
            saving.offer()
    return f"{max_runs} random runs showed no violation, which proves nothing"


def _resume(saving: Saving, system: CodeSystem, ledger: LedgerOf[CodeFault], seed: int) -> Draws:
    """Return how far the search had come when it was saved, or its beginning."""
    draws = Draws(Random(seed))
    if saving.saved is not None:
        draws = _read_draws(saving.saved, system)
        ledger.runs, system.vacuous = draws.runs, draws.vacuous
    saving.save_with(draws.to_json, draws.runs)
    return draws


def _read_draws(saved: Item, system: CodeSystem) -> Draws:
    faults, following, state, runs, vacuous = saved.members("faults", "next", "random", "runs", "vacuous")
    known = KnownFaults(faults, flag_reader(system.scenario))
    drawn = known.several(following)
    if len(set(drawn)) < len(drawn) or not system.spec.admits(drawn):
        following.refuse("faults within the bounds, each once")
    return Draws(
        _read_source(state),
        dict.fromkeys(known.all),
        FaultsOf.of(drawn),
        runs.number(0, MOST_RUNS),
        vacuous.number(0, MOST_RUNS),
    )


def _read_source(item: Item) -> Random:
    """Return the source of random numbers, in the middle of them."""
    # The length and the version are those of this Python, which need not be the one that wrote the file.
    version, usual, _ = Random(0).getstate()
    words = [word.number(0, 2**32 - 1) for word in item.items()]
    if len(words) != len(usual) or words[-1] >= len(usual):
        item.refuse("the state of a source of random numbers")
    source = Random()
    source.setstate((version, tuple(words), None))
    return source


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
