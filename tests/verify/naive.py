"""A second reading of DRAT: no watched literals, nothing kept between steps, and models by trying all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product

from clew.verify.numbers import Clause, Step


def closure(clauses: Iterable[Collection[int]], assumed: Iterable[int] = ()) -> set[int] | None:
    """Return what unit propagation makes true; None if that is a contradiction."""
    true = set(assumed)
    if any(-literal in true for literal in true):
        return None
    known = [set(clause) for clause in clauses]
    changed = True
    while changed:
        changed = False
        for clause in known:
            if clause & true:
                continue
            left = [literal for literal in clause if -literal not in true]
            if not left:
                return None
            if len(left) == 1:
                true.add(left[0])
                changed = True
    return true


def accepts(clauses: Sequence[Clause], steps: Sequence[Step]) -> bool:
    """Return whether a proof is one."""
    present = [frozenset(clause) for clause in clauses]
    for step in steps:
        known = closure(present)
        if known is None:
            return True
        clause = frozenset(step.clause)
        if step.deletes:
            if clause not in present:
                return False
            rests = sum(literal in known for literal in clause) == 1 and all(
                literal in known or -literal in known for literal in clause
            )
            if not rests:
                present.remove(clause)
        elif follows(present, step.clause) or is_redundant(present, step.clause):
            present.append(clause)
        else:
            return False
    return closure(present) is None


def follows(present: Sequence[Collection[int]], clause: Iterable[int]) -> bool:
    return closure(present, [-literal for literal in clause]) is None


def is_redundant(present: Sequence[Collection[int]], clause: Sequence[int]) -> bool:
    return bool(clause) and all(
        follows(present, [*clause, *(literal for literal in other if literal != -clause[0])])
        for other in present
        if -clause[0] in other
    )


def has_model(clauses: Sequence[Clause], variables: int) -> bool:
    return any(
        all(any(signs[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)
        for signs in product((False, True), repeat=variables)
    )
