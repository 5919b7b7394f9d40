"""Rows that the adversary gives or not: inputs, and what rules with ``choose`` take.

Each is a choice of the solver, as every fault is::

    { input("write",(X0,X1),T) } :- f3(X0), f4(X1), time(T), T>=2.      declared rows, over facts ``f<i>``
    r5(A0,A1,T) :- input("write",(A0,A1),T).                            what is given is there

    #external pick("leader",(A0,A1),T) : r7(A0,A1,T).                   r7: what is offered, in any execution
    r8(A0,A1,T) :- pick("leader",(A0,A1),T).

Which rows a rule offers depends on the execution, so a choice rule for picks would make it impossible to pick what
is not on offer, and a set of faults with such a pick would be no execution.  An external is free, whatever holds:
like the loss of a message that nobody sends, such a pick changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.engine.encode import Relations, RuleEncoder
from clew.engine.fault_semantics import reception
from clew.engine.values import encode_tuple, encode_value
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import Fact, InputRule, Premise, Program, Var

#: Below the level of failures: of these there are as few as the failures allow.
_LEVEL = -1


def given_row_lines(
    program: Program, relations: Relations, spec: FailureSpec, only: FaultSet | None
) -> Iterator[str]:
    """Yield what may be given, and what comes of it; with ``only``, the choices themselves are made elsewhere."""
    yield from (line for fact in program.given for line in _arrive(relations, fact.relation, spec, fact))
    if only is None:
        yield from _offer_lines(program, relations, spec)
    for relation in dict.fromkeys(declared.relation for declared in program.inputs):
        yield from _arrive(relations, relation, spec, None)
    for choice in program.choices:
        args = _columns(choice.keys + choice.values)
        picked = f"pick({encode_value(choice.name)},{encode_tuple(args)},T)"
        yield f"r{relations.number(choice.picked)}({','.join(args)},T) :- {picked}."


def _offer_lines(program: Program, relations: Relations, spec: FailureSpec) -> Iterator[str]:
    read = {premise.relation for declared in program.inputs for premise in declared.rule.premises}
    facts = dict.fromkeys((fact.relation, fact.args) for fact in program.facts if fact.relation in read)
    for relation, row in facts:
        yield f"f{relations.number(relation)}({','.join(map(encode_value, row))})."
    for number, declared in enumerate(program.inputs):
        yield _InputEncoder(declared, len(program.rules) + number, relations, spec).line()
    if program.inputs:
        if spec.inputs is not None:
            yield f":- #count {{ R,A,T : input(R,A,T) }} > {spec.inputs}."
        yield f"#minimize {{ 1@{_LEVEL},i,R,A,T : input(R,A,T) }}."
    for choice in program.choices:
        args = _columns(choice.keys + choice.values)
        offered = f"r{relations.number(choice.offered)}({','.join(args)},T)"
        yield f"#external pick({encode_value(choice.name)},{encode_tuple(args)},T) : {offered}."
    if program.choices:
        yield f"#minimize {{ 1@{_LEVEL},k,R,A,T : pick(R,A,T) }}."


def _arrive(relations: Relations, relation: str, spec: FailureSpec, certain: Fact | None) -> Iterator[str]:
    """Yield that what is given is there, where its place runs; ``certain``: this row is."""
    number, arity = relations.number(relation), relations.arity(relation)
    args = _columns(arity) if certain is None else list(map(encode_value, certain.args))
    time = "T" if certain is None else str(certain.time)
    row = ",".join([*args, time])
    given = f"input({encode_value(relation)},{encode_tuple(args)},T)" if certain is None else "#true"
    if spec.can_pause:
        yield f"a{number}({row}) :- {given}."
    else:
        yield f"r{number}({row}) :- {', '.join([given, *reception(spec, args[0], time)])}."


def _columns(arity: int) -> list[str]:
    return [f"A{number}" for number in range(arity)]


class _InputEncoder(RuleEncoder):
    """Writes one declaration: its premises are about facts."""

    def __init__(self, declared: InputRule, index: int, relations: Relations, spec: FailureSpec) -> None:
        super().__init__(declared.rule, index, relations, spec, traceable=False)
        self._time = declared.time
        if isinstance(declared.time, Var):
            self.names[declared.time] = "T"

    def line(self) -> str:
        literals = [self._premise(p) for p in self.rule.positive]
        literals.append("time(T)")
        if isinstance(self._time, int):
            literals.append(f"T={self._time}")
        literals += [f"not {self._premise(p)}" for p in self.rule.negative]
        literals += [self._comparison(c) for c in self.rule.comparisons]
        row = encode_tuple([self.expr(arg) for arg in self.rule.args])
        return f"{{ input({encode_value(self.rule.relation)},{row},T) }} :- {', '.join(literals)}."

    def _premise(self, premise: Premise) -> str:
        return f"f{self.relations.number(premise.relation)}({','.join(self.expr(a) for a in premise.args)})"
