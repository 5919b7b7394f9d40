"""The fewest things that keep a gate up, and the fewest faults that bring it down.

A *support* of a gate is a set of faults whose absence is enough for the gate to hold; a *cut* is a set of faults
that no support avoids.  Both are questions to clingo about the circuit, asked of the failure-free run,
in which no fault is present: leaves that need one do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clingo import Control, Function, MessageCode, Model, Number

from clew.engine.solving import last, models
from clew.faults import Fault, FaultSet, Loss, fault_key
from clew.interrupt import Deadline
from clew.lineage.circuit import Absent, AllOf, AnyOf, AtLeast, Circuit, Present

#: How hard to look for the fewest losses, in conflicts of the solver: the same on every machine.
_MOST_CONFLICTS = 5_000

Support = tuple[Fault, ...]


def minimal_supports(circuit: Circuit, gate: int, limit: int, deadline: Deadline) -> list[Support]:
    """The subset-minimal supports, fewest faults first; if there are more than ``limit``, some of them."""
    leaves = _leaves(circuit, gate)
    if not leaves:
        return [()] if circuit.evaluate(gate, FaultSet()) else []
    control = _control(circuit, gate, f"--enum-mode=domRec --heuristic=Domain --models={limit}")
    heuristics = "".join(f"#heuristic h({leaf}). [1,level] #heuristic h({leaf}). [-1,sign]" for leaf in leaves)
    _ground(control, f"{heuristics} :- not h({gate}).")
    found = [tuple(f for leaf, f in leaves.items() if _holds(m, leaf)) for m in models(control, deadline)]
    return sorted(found, key=lambda s: (len(s), [fault_key(f) for f in s]))


def independent_supports(supports: Sequence[Support]) -> int:
    """How many of these supports, at least, rest on pairwise different messages.

    The next one picked is always the one that rules out the fewest others.  ``fewest_losses`` bounds the number
    from above; where the two meet, it is exact.  Supports that need no message count once together.
    """
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
    """How many lost messages bring the gate down, None if no number of them was found; and whether that is proven.

    Unproven, it is still enough: no more supports than that can be independent of each other.
    """
    leaves = _leaves(circuit, gate)
    losses = [leaf for leaf, fault in leaves.items() if isinstance(fault, Loss)]
    kept = "".join(f"h({leaf})." for leaf in leaves if leaf not in losses)
    control = _control(circuit, gate, f"--opt-mode=opt --solve-limit={_MOST_CONFLICTS}")
    _ground(control, f"{kept} :- h({gate}). " + "".join(f":~ not h({leaf}). [1,{leaf}]" for leaf in losses))
    best, proven = last(models(control, deadline), lambda m: sum(not _holds(m, leaf) for leaf in losses))
    return best, proven or best == 0


def _leaves(circuit: Circuit, gate: int) -> dict[int, Fault]:
    """The leaves that hold while a fault is absent, in the one order of faults."""
    found = {number: leaf.fault for number in circuit.below([gate]) if isinstance(leaf := circuit[number], Absent)}
    return dict(sorted(found.items(), key=lambda item: fault_key(item[1])))


def _control(circuit: Circuit, gate: int, options: str) -> Control:
    control = Control(["--warn=none", *options.split()], logger=_ignore)
    control.add("base", [], "\n".join(_rules(circuit, gate)))
    return control


def _ignore(code: MessageCode, message: str) -> None:
    """clingo's remarks on circuits without a choice."""


def _rules(circuit: Circuit, gate: int) -> Iterator[str]:
    """``h(n)``: gate number n holds; whether the leaves do is open."""
    for number in circuit.below([gate]):
        match circuit[number]:
            case Absent():
                yield f"{{ h({number}) }}."
            case Present():
                pass  # no fault is present
            case AllOf(inputs):
                yield f"h({number}){':-' if inputs else ''}{','.join(f'h({i})' for i in inputs)}."
            case AnyOf(inputs):
                yield from (f"h({number}) :- h({i})." for i in inputs)
            case AtLeast(bound, inputs, weights):
                parts = (f"{w},{k}:h({i})" for k, (i, w) in enumerate(zip(inputs, weights, strict=True)))
                yield f"h({number}) :- {bound} #sum{{ {';'.join(parts)} }}."


def _ground(control: Control, question: str) -> None:
    control.add("base", [], question)
    control.ground([("base", [])])


def _holds(model: Model, gate: int) -> bool:
    return model.contains(Function("h", [Number(gate)]))
