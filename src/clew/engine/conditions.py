"""Conditions on executions (a rule fires, a promise is broken), and when they hold.

A condition is the body of a rule for clingo, over the vocabulary of ``clew.engine.encode``.  It is added to the
ground program, so each question is about all executions at once and its answer exact: it holds in the failure-free
run, in some admissible execution, or in none.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple, TypeVar

from clew.engine.encode import RuleEncoder
from clew.engine.fault_semantics import ways_to_arrive
from clew.engine.ground import GroundProgram
from clew.engine.solving import last
from clew.engine.values import encode_tuple
from clew.errors import BudgetExhaustedError
from clew.faults import FaultSet
from clew.program.assertions import is_never, post_of
from clew.program.ir import Aggregate, BinOp, HeadArg, Nested, Premise, Rule, Timing, Var, Wildcard


class Instances(NamedTuple):
    """``text`` derives an atom with this ``name`` and ``arity`` for each way in which a rule fires."""

    name: str
    arity: int
    text: str


class RuleConditions(RuleEncoder):
    """What can be asked about one rule of a ground program, in the words in which the rule itself was encoded."""

    def __init__(self, ground: GroundProgram, index: int, rule: Rule | None = None) -> None:
        super().__init__(
            rule or ground.program.rules[index], index, ground.encoding.relations, ground.spec, traceable=False
        )

    def fires(self) -> str:
        """Return the condition that the rule fires at some time."""
        return ", ".join([*self.body(), *self._head_is_defined()])

    def instances(self) -> Instances:
        """Return a rule that derives an atom for each way to fire."""
        body, name = self.fires(), f"fired{self.index}"
        variables = tuple(dict.fromkeys([*self.names.values(), "T"]))
        return Instances(name, len(variables), f"{name}({','.join(variables)}) :- {body}.")

    def concludes_at_end(self) -> list[str]:
        """Return the conditions, any of which will do, that the rule is a reason for a row at the end of time."""
        body, eot = self.fires(), self.spec.eot
        match self.rule.timing:
            case Timing.SAME:
                return [f"{body}, T={eot}"]
            case Timing.NEXT:
                return [f"{body}, T+1={eot}"]
            case Timing.ASYNC if self.rule.aggregates:
                return [f"{body}, T+1<={eot}"]  # nobody sends an aggregate as what is promised
            case Timing.ASYNC:
                return self._arrives_at_end(body)

    def _arrives_at_end(self, body: str) -> list[str]:
        source, target = self.expr(self.rule.location), self.expr(self.rule.args[0])
        ways = ways_to_arrive(self.spec, f"link({source},{target},T)", source, target)
        to_itself = f"{body}, {source}={target}, T+1={self.spec.eot}"
        return [to_itself, *(f"{body}, {way.condition}, {way.time}={self.spec.eot}" for way in ways)]

    def breaks_promise(self) -> str:
        """Return the condition that the rule, a plain one for ``pre``, concludes what ``post`` lacks."""
        body, eot = self.fires(), self.spec.eot
        if is_never(self.rule.relation):
            return body
        args = ",".join(self.expr(a) for a in self.rule.args)
        return f"{body}, T={eot}, not r{self.relations.number(post_of(self.rule.relation))}({args},{eot})"

    def promise_broken(self) -> str:
        """Return the condition that ``pre``, whatever its rules are, has what ``post`` lacks."""
        args = ",".join(f"V{k}" for k in range(len(self.rule.args)))
        pre = self.relations.number(self.rule.relation)
        if is_never(self.rule.relation):
            return f"r{pre}({','.join(['_'] * len(self.rule.args))},T)"
        post = self.relations.number(post_of(self.rule.relation))
        return f"r{pre}({args},{self.spec.eot}), not r{post}({args},{self.spec.eot})"

    def _head_is_defined(self) -> list[str]:
        """Return the head as a condition: where its arithmetic has no result, the rule does not fire."""
        # X=X looks idle, but clingo has to evaluate it, and the instance is gone if a callback returns nothing.
        computed = [a for a in self.rule.args if isinstance(a, BinOp | Nested)]
        return [f"{self.expr(a)}={self.expr(a)}" for a in computed]


class EqualValues(RuleConditions):
    """Two rows of a group with the same value, which a sum counts once."""

    def __init__(self, ground: GroundProgram, index: int) -> None:
        # Rows that differ in a column which the rule does not look at are different rows, too.
        super().__init__(ground, index, _name_wildcards(ground.program.rules[index]))

    def collect(self, name: str, aggregate: Aggregate) -> str:
        """Return the rule that collects group, value, the rows that the value comes from, and time."""
        body = self.fires()
        group = [self.expr(a) for a in self._group()]
        giving = [p for p in self.rule.positive if aggregate.var in p.args]
        row = encode_tuple([self.expr(a) for p in giving for a in p.args])
        return f"{name}({','.join([*group, self.expr(aggregate.var), row, 'T'])}) :- {body}."

    def occur(self, name: str, aggregate: Aggregate) -> str:
        """Return the condition over what was collected under this name."""
        group = [f"G{k}" for k in range(len(self._group()))]
        # A<B, not A!=B: each pair once.
        one, other = (f"{name}({','.join([*group, 'V', row, 'T'])})" for row in ("A", "B"))
        nothing = ", V!=0" if aggregate.function == "sum" else ""  # however often, it changes no sum
        return f"{one}, {other}, A<B{nothing}"

    def _group(self) -> list[HeadArg]:
        group = [a for a in self.rule.args if not isinstance(a, Aggregate)]
        return [*group, self.rule.location] if self.rule.timing is Timing.ASYNC else [*group]


def _name_wildcards(rule: Rule) -> Rule:
    """Return the rule with a variable for every ``_`` of a positive premise; no program can spell these."""
    names = (Var(f"_{n}") for n in count())
    body = tuple(
        replace(b, args=tuple(next(names) if isinstance(a, Wildcard) else a for a in b.args))
        if isinstance(b, Premise) and not b.negated
        else b
        for b in rule.body
    )
    return replace(rule, body=body)


#: How hard to look, in conflicts of the solver for each condition: unlike seconds, the same on every machine.
MOST_CONFLICTS = 20_000

K = TypeVar("K")


class Occurrence(enum.Enum):
    """When something happens; the values are what JSON calls them."""

    FAILURE_FREE = "failure-free"
    UNDER_FAULTS = "under faults"
    NEVER = "never"
    UNKNOWN = "unknown"


def find_occurrences(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> dict[K, Occurrence]:
    """Return for each condition, given as bodies of which any will do, when it holds.

    Unknown is what the time limit, an interrupt or the limit of the effort left open.
    """
    atoms = _add(ground, conditions)
    # What the grounder left out of the program holds in no execution: that is exact, and free.
    found = {key: Occurrence.UNKNOWN if key in atoms else Occurrence.NEVER for key in conditions}
    try:
        without_faults = ground.truth(FaultSet(), list(atoms.values()))
        found.update({key: Occurrence.FAILURE_FREE for key, atom in atoms.items() if atom in without_faults})
        if ground.program.open_rows:
            _ask_without_failures(ground, atoms, found)
        for key in atoms:
            # An execution that the solver shows for one condition answers for every other that holds in it.
            if found[key] is Occurrence.UNKNOWN:
                found.update(_ask(ground, key, {k: a for k, a in atoms.items() if found[k] is Occurrence.UNKNOWN}))
    except BudgetExhaustedError:
        pass  # what was found so far is true, and the rest is unknown
    return found


def find_failure_free(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> frozenset[K]:
    """Return the conditions that hold in the failure-free run."""
    atoms = _add(ground, conditions)
    true = ground.truth(FaultSet(), list(atoms.values()))
    return frozenset(key for key, atom in atoms.items() if atom in true)


def _add(ground: GroundProgram, conditions: Mapping[K, Sequence[str]]) -> dict[K, int]:
    """Ground the conditions; return the atoms of those that the grounder could not refute."""
    name = f"occurs{ground.next_part()}"
    lines = [f"{name}({n}) :- {body}." for n, bodies in enumerate(conditions.values()) for body in bodies]
    ground.extend(name, "\n".join(lines))
    # Grounded in one part: each part costs a call into clingo, however small it is.
    literals = {values[0]: literal for literal, values in ground.atoms(name, 1)}
    return {key: literals[n] for n, key in enumerate(conditions) if n in literals}


def _ask_without_failures(ground: GroundProgram, atoms: Mapping[K, int], found: dict[K, Occurrence]) -> None:
    """Mark the conditions that hold without a failure for some inputs and choices: those are no faults."""
    quiet = [-atom for fault, atom in ground.fault_atoms.items() if fault.kind.is_failure]
    for key, atom in atoms.items():
        if found[key] is Occurrence.UNKNOWN:
            question = ground.solutions([atom, *quiet], "ignore", "auto", conflicts=MOST_CONFLICTS, most=1)
            holding, _ = last(question, lambda model: [k for k, a in atoms.items() if model.is_true(a)])
            found.update(dict.fromkeys(holding or (), Occurrence.FAILURE_FREE))


def _ask(ground: GroundProgram, key: K, open_atoms: Mapping[K, int]) -> dict[K, Occurrence]:
    """Look for an execution in which one condition holds; return what that tells about the open ones."""
    holding, exhausted = last(
        ground.solutions([open_atoms[key]], "ignore", "auto", conflicts=MOST_CONFLICTS, most=1),
        lambda model: [k for k, atom in open_atoms.items() if model.is_true(atom)],
    )
    if holding is not None:
        return dict.fromkeys(holding, Occurrence.UNDER_FAULTS)
    return {key: Occurrence.NEVER if exhausted else Occurrence.UNKNOWN}
