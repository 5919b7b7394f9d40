"""The fewest things that keep a gate up, and the fewest faults that bring it down.

A *support* of a gate is a set of faults whose absence is enough for the gate to hold; a *cut* is a set of faults
that no support avoids.  Both are questions to clingo about the circuit, asked of the failure-free run,
in which no fault is present: leaves that need one do not hold.

This is for explanations, not for the search: what a reader wants to see is each way in which an outcome was
supported (the proof trees of section 4.2 of the paper), and how many of them are redundant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clingo import Backend, Control, HeuristicType, MessageCode

from clew.budgets.deadline import Deadline
from clew.engine.solving import last, models
from clew.faults import Fault, FaultSet, Loss, fault_key
from clew.lineage.circuit import Absent, AllOf, AnyOf, AtLeast, Circuit, Present

#: How hard to look for the fewest losses, in conflicts of the solver: the same on every machine.
_MOST_CONFLICTS = 5_000

Support = tuple[Fault, ...]


def minimal_supports(circuit: Circuit, gate: int, limit: int, deadline: Deadline) -> list[Support]:
    """Return the subset-minimal supports, fewest faults first; if there are more than ``limit``, some of them."""
    leaves = _leaves(circuit, gate)
    if not leaves:
        return [()] if circuit.evaluate(gate, FaultSet()) else []
    # domRec with every leaf preferred false makes each model subset-minimal and rules out its supersets.
    control = _control(f"--enum-mode=domRec --heuristic=Domain --models={limit}")
    with control.backend() as backend:
        holds = _add_gates(backend, circuit, gate)
        for leaf in leaves:
            backend.add_heuristic(holds[leaf], HeuristicType.Level, 1, 0, [])
            backend.add_heuristic(holds[leaf], HeuristicType.Sign, -1, 0, [])
        backend.add_rule([], [-holds[gate]])
    found = [tuple(f for leaf, f in leaves.items() if m.is_true(holds[leaf])) for m in models(control, deadline)]
    return sorted(found, key=lambda s: (len(s), [fault_key(f) for f in s]))


def independent_supports(supports: Sequence[Support]) -> int:
    """Return how many of these supports, at least, rest on pairwise different messages.

    A largest packing is hard to find (it is maximum set packing), so the next one picked is always the one that
    rules out the fewest others.  ``fewest_losses`` bounds the number from above; where the two meet, it is exact.
    Supports that need no message count once together.
    """
    # A support that needs a message needs that it is not lost: the other faults of a message name no further one.
    messages = [frozenset(f for f in support if isinstance(f, Loss)) for support in supports]
    left = {n: set(_overlapping(n, messages)) for n in range(len(messages))}
    picked = 0
    while left:
        best = min(left, key=lambda n: (len(left[n]), n))
        gone = {best, *left[best]}
        picked += 1
        left = {n: others - gone for n, others in left.items() if n not in gone}
    return picked


def _overlapping(number: int, messages: Sequence[frozenset[Loss]]) -> Iterator[int]:
    mine = messages[number]
    for other, theirs in enumerate(messages):
        if other != number and (mine & theirs or not (mine or theirs)):
            yield other


def fewest_losses(circuit: Circuit, gate: int, deadline: Deadline) -> tuple[int | None, bool]:
    """Return how many lost messages bring the gate down, None if no number was found; and whether that is proven.

    Unproven, it is still enough: no more supports than that can be independent of each other.
    """
    leaves = _leaves(circuit, gate)
    losses = [leaf for leaf, fault in leaves.items() if isinstance(fault, Loss)]
    control = _control(f"--opt-mode=opt --solve-limit={_MOST_CONFLICTS}")
    with control.backend() as backend:
        holds = _add_gates(backend, circuit, gate)
        # The question is about messages, so nobody crashes and nothing is late.
        for leaf in leaves.keys() - set(losses):
            backend.add_rule([holds[leaf]])
        backend.add_rule([], [holds[gate]])
        backend.add_minimize(0, [(-holds[leaf], 1) for leaf in losses])
    best, proven = last(models(control, deadline), lambda m: sum(not m.is_true(holds[leaf]) for leaf in losses))
    return best, proven or best == 0


def _leaves(circuit: Circuit, gate: int) -> dict[int, Fault]:
    """Return the leaves that hold while a fault is absent, in the canonical order of faults."""
    found = {number: leaf.fault for number in circuit.below([gate]) if isinstance(leaf := circuit[number], Absent)}
    return dict(sorted(found.items(), key=lambda item: fault_key(item[1])))


def _control(options: str) -> Control:
    return Control(["--warn=none", *options.split()], logger=_ignore)


def _ignore(code: MessageCode, message: str) -> None:
    """Drop clingo's remarks on circuits without a choice."""


def _add_gates(backend: Backend, circuit: Circuit, gate: int) -> dict[int, int]:
    """Add an atom for every gate below this one that says whether it holds; whether the leaves do is open.

    The gates are handed over one by one: as text, parsing them took longer than finding the supports.
    """
    holds: dict[int, int] = {}
    for number in circuit.below([gate]):
        atom = holds[number] = backend.add_atom()
        match circuit[number]:
            case Absent():
                backend.add_rule([atom], choice=True)
            case Present():
                pass  # no fault is present
            case AllOf(inputs):
                backend.add_rule([atom], [holds[i] for i in inputs])
            case AnyOf(inputs):
                for i in inputs:
                    backend.add_rule([atom], [holds[i]])
            case AtLeast(bound, inputs, weights):
                weighted = [(holds[i], w) for i, w in zip(inputs, weights, strict=True)]
                backend.add_weight_rule([atom], bound, weighted)
    return holds
