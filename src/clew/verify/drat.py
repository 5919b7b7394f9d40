"""Check a proof in DRAT that clauses have no model.

A step adds a clause that follows by unit propagation (RUP), or that changes nothing about whether there is a
model, because every resolvent on its first literal follows so (RAT); or it deletes a clause.  The proof is
accepted when unit propagation alone leads to a contradiction.

As in other checkers, a clause is not deleted while all but one of its literals are false for good: what follows
from it has been used.  To keep a clause is always sound; it only makes RAT harder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clew.verify.numbers import Clause, Cnf, Step
from clew.verify.refusals import RefusedError

#: Called now and then with the number of steps done; may raise to end the work.
Tick = Callable[[int], None]


def check_proof(cnf: Cnf, steps: Sequence[Step], tick: Tick = lambda done: None) -> int:
    """Check that a proof refutes the clauses; return the number of steps that this took."""
    largest = max((abs(literal) for step in steps for literal in step.clause), default=0)
    if largest > cnf.variables + sum(len(step.clause) for step in steps):  # there are lists for all of them
        raise RefusedError("the proof has a variable far beyond those of the CNF")
    database = _Database(max(cnf.variables, largest))
    for number, clause in enumerate(cnf.clauses):
        if number % 10_000 == 0:
            tick(0)
        database.add(clause)
    for number, step in enumerate(steps, start=1):
        if database.refuted:  # whatever comes after it, the clauses have no model
            return number - 1
        tick(number)
        if step.deletes:
            if not database.delete(step.clause):
                raise RefusedError(f"step {number} of the proof deletes a clause that is not there")
        # RUP first: it is what solvers write, and RAT looks at every clause with the negated literal.
        elif not (database.follows(step.clause) or database.is_redundant(step.clause)):
            raise RefusedError(f"step {number} of the proof does not follow: {_show_clause(step.clause)}")
        else:
            database.add(step.clause)
    if not database.refuted:
        raise RefusedError("the proof ends before there is a contradiction")
    return len(steps)


def _show_clause(clause: Clause) -> str:
    text = " ".join(map(str, clause[:10]))
    return f"{text} ..." if len(clause) > 10 else f"{text} 0".lstrip()


class _Database:
    """Clauses with two watched literals each, and what follows from them by unit propagation for good.

    Lists are indexed by literals: Python counts a negative index from the end.
    """

    def __init__(self, variables: int) -> None:
        self.refuted = False
        self._value = [0] * (2 * variables + 1)  # 1 true, -1 false, 0 open
        self._watching: list[list[list[int]]] = [[] for _ in range(2 * variables + 1)]
        self._trail: list[int] = []
        self._propagated = 0
        self._present: dict[frozenset[int], list[list[int]]] = {}

    def add(self, clause: Iterable[int]) -> None:
        """Add a clause and what follows from it."""
        value = self._value
        literals = list(dict.fromkeys(clause))
        literals.sort(key=lambda literal: value[literal] < 0)  # the watched ones must not be false
        self._present.setdefault(frozenset(literals), []).append(literals)
        possible = sum(value[literal] >= 0 for literal in literals[:2])
        if possible == 0:
            self.refuted = True
        elif possible == 1:
            # Satisfied or a unit, for good: there is nothing to watch.
            self._assign(literals[0])
            self.refuted = self.refuted or self._propagate()
        else:
            self._watching[literals[0]].append(literals)
            self._watching[literals[1]].append(literals)

    def delete(self, clause: Iterable[int]) -> bool:
        """Delete a clause, unless something rests on it; return whether it was there."""
        key = frozenset(clause)
        copies = self._present.get(key)
        if not copies:
            return False
        true = sum(self._value[literal] > 0 for literal in key)
        if true == 1 and all(self._value[literal] for literal in key):
            return True
        copies.pop().clear()  # an empty list is no longer watched
        if not copies:
            del self._present[key]
        return True

    def follows(self, clause: Iterable[int]) -> bool:
        """Return whether unit propagation refutes the negation of a clause."""
        return self._contradicts(-literal for literal in clause)

    def is_redundant(self, clause: Clause) -> bool:
        """Return whether each resolvent on the first literal follows."""
        if not clause:
            return False
        pivot = clause[0]
        against = [-literal for literal in clause]
        # Walks over all clauses instead of keeping an index: the proofs of clew's solver have no such step.
        return all(
            self._contradicts([*against, *(-literal for literal in other if literal != -pivot)])
            for other in self._present
            if -pivot in other
        )

    def _contradicts(self, literals: Iterable[int]) -> bool:
        """Return whether these literals lead to a contradiction; nothing of it is kept."""
        level = len(self._trail)
        contradiction = False
        for literal in literals:
            if self._value[literal] < 0:
                contradiction = True
                break
            self._assign(literal)
        contradiction = contradiction or self._propagate()
        for literal in self._trail[level:]:
            self._value[literal] = self._value[-literal] = 0
        del self._trail[level:]
        self._propagated = level
        return contradiction

    def _assign(self, literal: int) -> None:
        if not self._value[literal]:
            self._value[literal] = 1
            self._value[-literal] = -1
            self._trail.append(literal)

    def _propagate(self) -> bool:
        """Assign what follows; return whether that is a contradiction."""
        # Everything in local variables: this loop is nearly all of the time that checking takes.
        value, watching, trail = self._value, self._watching, self._trail
        while self._propagated < len(trail):
            false = -trail[self._propagated]
            self._propagated += 1
            clauses = watching[false]
            kept: list[list[int]] = []
            watching[false] = kept
            for number, clause in enumerate(clauses):
                if not clause:
                    continue  # deleted
                # The watched literals are the first two; the one that became false is put second.
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                other = clause[0]
                if value[other] > 0:
                    kept.append(clause)
                    continue
                for place in range(2, len(clause)):
                    if value[clause[place]] >= 0:
                        clause[1], clause[place] = clause[place], false
                        watching[clause[1]].append(clause)
                        break
                else:
                    kept.append(clause)
                    if value[other] < 0:
                        kept.extend(clauses[number + 1 :])
                        return True
                    value[other] = 1
                    value[-other] = -1
                    trail.append(other)
        return False
