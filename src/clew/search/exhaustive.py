"""Every admissible fault set, smallest first: the oracle for small bounds.

Fault sets that cannot differ in any execution are tried once: faults of messages that are never sent, and
of messages that a crashed node no longer sends, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from clew.faults import Crash, Fault, FaultSet, Node, by_message
from clew.search.protocol import SymmetricSystem, System
from clew.search.symmetry import is_representative, rename_faults
from clew.search.verdict import Ledger


def search(
    system: System, ledger: Ledger, *, find_all: bool = False, symmetric: SymmetricSystem | None = None
) -> str | None:
    """Run every fault set; supersets of a known counterexample are skipped."""
    renamings: Sequence[Mapping[Node, Node]] = symmetric.symmetries() if symmetric else ()
    failing: list[frozenset[Fault]] = []
    for faults in fault_sets(system):
        if any(known <= set(faults) for known in failing):
            continue
        if renamings and not is_representative(faults, renamings):
            continue
        ledger.before_run(f"{len(faults)} faults")
        run = system.run(faults)
        ledger.after_run(run)
        if run.violations:
            ledger.record(run)
            if not find_all:
                return None
            failing += [frozenset(faults), *(frozenset(rename_faults(faults, r)) for r in renamings)]
    return None


def fault_sets(system: System) -> Iterator[FaultSet]:
    """The admissible fault sets that can differ, by size, then in the order of the faults."""
    crashes = [f for f in system.faults if isinstance(f, Crash)]
    message_faults = by_message(system.faults)
    most_crashes = min(system.spec.crashes, len(system.spec.nodes))
    for size in range(len(message_faults) + most_crashes + 1):
        for crash_count in range(min(most_crashes, size) + 1):
            for crashed in combinations(crashes, crash_count):
                first_silent = {c.node: c.time for c in crashed}
                if len(first_silent) < crash_count:
                    continue
                sending = [
                    options
                    for (source, _, time), options in message_faults.items()
                    if time < first_silent.get(source, time + 1)
                ]
                for messages in combinations(sending, size - crash_count):
                    for chosen in product(*messages):
                        yield FaultSet.of((*crashed, *chosen))
