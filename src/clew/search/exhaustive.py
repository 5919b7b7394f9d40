"""Every admissible fault set, smallest first: the oracle for small bounds.

Fault sets that cannot differ in any execution are tried once: faults of messages that are never sent, and of
messages that a crashed node no longer sends, are left out.  It knows nothing of supports and asks no solver,
which is why the other strategies are tested against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from clew.faults import KINDS, FailureSpec, Fault, FaultSet, by_message
from clew.search.failing import Failing
from clew.search.protocol import SymmetricSystem, System
from clew.search.symmetry import Symmetries
from clew.search.verdict import Ledger


def search(
    system: System,
    ledger: Ledger,
    *,
    find_all: bool = False,
    symmetric: SymmetricSystem | None = None,
    promises: Sequence[str] = (),
) -> str | None:
    """Run every fault set; supersets of a known counterexample are skipped, of several ``promises`` for each."""
    symmetries = Symmetries(symmetric.symmetries() if symmetric else (), system.spec.nodes)
    failing: Failing[Fault] = Failing(promises)
    for faults in fault_sets(system):
        # By size, so what is found first is minimal, and a superset of it would not be.
        if failing.cover(faults):
            continue
        if symmetries.renamings and not symmetries.is_representative(faults):
            continue
        ledger.before_run(f"{len(faults.failures)} faults")
        run = system.run(faults)
        ledger.after_run(run)
        if broken := failing.broken_anew(run):
            ledger.record(run)
            if not find_all:
                return None
            for image in (faults, *symmetries.images(faults)):
                failing.add(image, broken)
    return None


def fault_sets(system: System) -> Iterator[FaultSet]:
    """Yield the admissible fault sets that can differ, by weight, then in the order of the faults."""
    given = [f for f in system.faults if not f.kind.is_failure]
    if not given:
        for size in range(len(system.faults) + 1):
            yield from _failure_sets(system, size)
        return
    # Whatever is given costs no failure: all of it is tried before one more fails.
    for size in range(len(system.faults) - len(given) + 1):
        failing = list(_failure_sets(system, size))
        for more in range(len(given) + 1 if failing else 0):
            for faults in failing:
                for chosen in _choose_given(given, more, system.spec):
                    both = FaultSet.of((*faults, *chosen))
                    if system.spec.admits(both):
                        yield both


def _choose_given(given: Sequence[Fault], number: int, spec: FailureSpec) -> Iterator[tuple[Fault, ...]]:
    """Yield so many of what may be given; none of them with more inputs than the bounds allow."""
    # To make all sets and ask each whether it is admissible takes for ever: 40 inputs have 10^12 subsets.
    if any(fault.most(spec) is not None for fault in given):
        limited = [fault for fault in given if fault.most(spec) is not None]
        others = [fault for fault in given if fault.most(spec) is None]
        most = min((fault.most(spec) or 0 for fault in limited), default=0)
        for few in range(min(most, number) + 1):
            for some in combinations(limited, few):
                yield from ((*some, *rest) for rest in combinations(others, number - few))
    else:
        yield from combinations(given, number)


def _failure_sets(system: System, size: int) -> Iterator[FaultSet]:
    node_faults = [f for f in system.faults if f.message is None and f.kind.is_failure]
    message_faults = by_message(system.faults)
    # The sets are admissible as they are made, unless faults of messages are limited in number.  To ask each set
    # took more than twice the time to make it (6.5 instead of 2.7 microseconds).
    limited = any(f.message and f.most(system.spec) is not None for f in system.faults)
    most_of_nodes = sum(_most(kind, system.spec, node_faults) for kind in KINDS)
    if size > len(message_faults) + most_of_nodes:
        return
    for count in range(min(most_of_nodes, size) + 1):
        for hit in combinations(node_faults, count):
            if not system.spec.admits(FaultSet.of(hit)):
                continue
            # What does not arrive in any case can be lost or delayed without making a difference.
            arriving = [
                options
                for message, options in message_faults.items()
                if not any(fault.prevents(message) for fault in hit)
            ]
            for messages in combinations(arriving, size - count):
                for chosen in product(*messages):
                    faults = FaultSet.of((*hit, *chosen))
                    if not limited or system.spec.admits(faults):
                        yield faults


def _most(kind: type[Fault], spec: FailureSpec, faults: Sequence[Fault]) -> int:
    """Return how many faults of a kind can happen at once: without this bound, most sets would be made in vain."""
    possible, most = sum(isinstance(f, kind) for f in faults), kind.most(spec)
    return possible if most is None else min(most, possible)
