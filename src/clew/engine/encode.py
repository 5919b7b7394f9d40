"""From a program and a failure spec to a logic program: what an execution *is*, in one file.

Section 4.1 of the paper rewrites Dedalus to Datalog and runs it once for each set of faults, with a ``clock``
relation that says which messages get through.  Here the evaluator is clingo, and the faults are *choices* it may
make: the models of the logic program are exactly the admissible executions.  So a program is grounded once (2 to
10 ms for the protocols of the paper, Flux 56), and everything after that is a question about the same ground
program: one execution, all counterexamples, the proof that there is none.  An evaluator of our own would have
answered only the first.

Every relation gets a last column with the time, as in the paper.  ``@next`` rules conclude at ``T+1``.  An
``@async`` rule derives a *message* atom at the sender's time; it becomes a row of the receiver when the link
between the two works (the paper's ``clock``).  A message of its own, not a row with a condition, because reports
show messages that were sent and lost.  As an example, the first rule of a broadcast, with bcast, node and log as
relations 0, 1 and 2::

    log(B, P)@async :- bcast(A, P), node(A, B);

    m2(X0,X2,X1,T) :- r0(X0,X1,T), r1(X0,X2,T), T<5.        what is sent
    r2(A0,A1,T+1)  :- m2(F,A0,A1,T), link(F,A0,T).          what arrives

*Asynchrony is one more fault.*  A delay makes a message arrive at ``T+1+L`` instead of ``T+1``, chosen like a
loss, so the same search covers reordering, which the paper leaves out (3PC breaks with delays of one step and no
other fault, found in 8 ms).

User relations are numbered, never spelled, so no name can clash with the vocabulary:

===================== =====================================================================
``r<i>(args, T)``     a row of relation number i
``m<i>(From, args, T)`` a message sent at T that will be such a row where it arrives
``sends(F, G, T)``    some message goes from F to G at T
``g<k>(group, X.., T)`` what rule number k aggregates
``loss crash delay``  the faults; ``down``, ``late`` and ``link`` (or ``cut``) what follows from them
``restart pause stop`` faults of nodes; ``stopped``, ``paused`` and ``gone``, or ``halted`` for any of them, say
                      when a node does not run, and ``started`` when it runs anew
``input pick``        what is given beside faults: see ``clew.engine.given_rows``
``partition``         of a group, whose ``member`` are known; ``parted``: no link between two nodes
``a<i>(args, T)``     what arrives, where it may have to wait: only if nodes can pause
``bad<i>(args)``      a violation, ``bad<i>(args, T)`` of what must never hold; ``violated`` if there is any
``broken<i>``         there is a violation of relation i; only where there are several promises
``rule(k) given``     only in a traceable encoding: which rule it was; always true
===================== =====================================================================

A *traceable* encoding keeps every premise in the ground rules: clingo takes what is certain out of them, so rules
and facts get a premise that it cannot know to be true.  Searches do without it, because smaller rules are faster;
explanations need to show the premises, however certain.

``tests/reference.py`` says the same a second time, as a plain interpreter; generated programs must agree on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from clew.engine.fault_semantics import (
    UNCUT,
    Arrival,
    fault_lines,
    few_fault_lines,
    reception,
    seen_down_lines,
    ways_to_arrive,
)
from clew.engine.values import encode_tuple, encode_value
from clew.faults import FailureSpec, FaultSet
from clew.program.assertions import Assertion, find_assertions
from clew.program.ir import (
    BUILT_IN,
    CRASH,
    DOWN,
    Aggregate,
    BinOp,
    Call,
    Comparison,
    Const,
    Fact,
    HeadArg,
    Nested,
    Premise,
    Program,
    Rule,
    Timing,
    Value,
    Var,
    Wildcard,
    as_place,
    expr_vars,
)
from clew.program.outcomes import assertion_definitions

#: The marks of a traceable encoding; relations are numbered, so these names are free.
RULE, GIVEN = "rule", "given"

#: What searches look for, unless they say something else.
VIOLATED = "violated"

_OPERATOR_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
#: What clingo takes for the least and the largest of nothing.
_EMPTY = {"min": "#sup", "max": "#inf"}
_COMPARISONS = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass(frozen=True)
class Relations:
    """The numbering of the user's relations, in the order of the text: a program always has the same encoding.

    That order matters to more than taste: the models that clingo finds first depend on it, and ``clew verify``
    compares encodings byte by byte.
    """

    arities: tuple[tuple[str, int], ...]
    program: Program = field(repr=False, compare=False)

    @staticmethod
    def of(program: Program) -> Relations:
        # Relations that are only read have numbers, too: they are empty, and ``notin`` of them holds.
        used = [(c.relation, len(c.args)) for c in program.clauses]
        used += [(p.relation, len(p.args)) for r in program.rules for p in r.premises]
        used += [(declared.relation, len(declared.args)) for declared in program.inputs]
        used += [(p.relation, len(p.args)) for declared in program.inputs for p in declared.rule.premises]
        used += [(fact.relation, len(fact.args)) for fact in program.given]
        named = ((name, arity) for name, arity in dict.fromkeys(used) if name not in BUILT_IN)
        return Relations(tuple(named), program)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, (name, _) in enumerate(self.arities)}

    def number(self, name: str) -> int:
        return self._numbers[name]

    def arity(self, name: str) -> int:
        return self.arities[self.number(name)][1]

    def is_durable(self, name: str) -> bool:
        """Tell whether its rows are still there when a node restarts."""
        return self.program.durable is not None and name in self.program.durable

    def is_observed(self, name: str) -> bool:
        """Tell whether it is part of an assertion, which nobody executes: it sees nodes that do not run."""
        return name in self._observed

    @cached_property
    def _observed(self) -> frozenset[str]:
        return assertion_definitions(self.program) | self.program.observed


class Encoding(NamedTuple):
    """The text for clingo, and the numbers it uses for relations."""

    text: str
    relations: Relations


def encode(
    program: Program, spec: FailureSpec, *, traceable: bool = False, only: FaultSet | None = None
) -> Encoding:
    """Return the logic program whose models are the admissible executions.

    With ``only``, no faults but these can happen.  Almost everything is certain then, so what is left of the
    ground program tells apart the few executions that an explanation compares.
    """
    relations = Relations.of(program)
    lines = [f"node({encode_value(node)})." for node in spec.nodes]
    lines.append(f"time(1..{spec.eot}).")  # a finite execution is what makes the ground program finite
    lines += fault_lines(spec) if only is None else few_fault_lines(spec, only)
    if program.reads_down:
        lines += seen_down_lines(spec)
    if traceable:
        lines.append(f"#external {GIVEN}. #external {RULE}(0..{len(program.rules) - 1}).")
    given = f" :- {GIVEN}" if traceable else ""
    lines += [
        line
        for fact in program.facts
        if fact.time <= spec.eot
        for line in _fact_lines(fact, relations, spec, given)
    ]
    for index, rule in enumerate(program.rules):
        lines += RuleEncoder(rule, index, relations, spec, traceable).lines()
    if spec.halts:
        lines += _kept_lines(relations, spec)
    lines += _arrival_lines(program, relations, spec, "link(F,A0,T)" if only is None else UNCUT)
    # Without any, what must hold is known only after the failure-free run: see encode_expected_rows.
    stated = find_assertions(program)
    for assertion in stated:
        lines += _outcome_lines(assertion, relations, spec, alone=len(stated) == 1)
    return Encoding("\n".join(lines) + "\n", relations)


def encode_expected_rows(expected: Mapping[int, Sequence[tuple[Value, ...]]], eot: int) -> str:
    """Return violations for a program without assertions: a row of the failure-free run is missing.

    The rows are known only after the failure-free run, so this text is grounded later, on top of the rest.
    """
    lines = []
    for relation, rows in expected.items():
        for row in rows:
            args = ",".join(map(encode_value, row))
            lines.append(f"bad{relation}({args}) :- not r{relation}({args},{eot}).")
            lines.append(f"violated :- bad{relation}({args}).")
    return "\n".join(lines)


@dataclass(frozen=True)
class Aggregated:
    """The columns of ``g<k>``: the group, what is aggregated, what tells equal values apart, the time.

    As in the paper (section 4.1.2), an aggregate takes two rules, one for the bindings and one over them: further
    columns of the premises must not change what a group is.
    """

    group: int
    values: int
    per: tuple[Var, ...]

    @staticmethod
    def of(rule: Rule) -> Aggregated:
        group = len(rule.args) - len(rule.aggregates) + (rule.timing is Timing.ASYNC)
        return Aggregated(
            group, len(rule.aggregates), tuple(dict.fromkeys(v for a in rule.aggregates for v in a.per))
        )

    @property
    def arity(self) -> int:
        return self.group + self.values + len(self.per) + 1


def _fact_lines(fact: Fact, relations: Relations, spec: FailureSpec, given: str) -> list[str]:
    """Return the fact; where nodes can stop, only those that run receive it, and configuration is given anew."""
    i, args = relations.number(fact.relation), ",".join(map(encode_value, fact.args))
    if not spec.halts or as_place(fact.args[0]) not in spec.nodes:
        return [f"r{i}({args},{fact.time}){given}."]
    place, given = encode_value(fact.args[0]), given or " :- #true"
    if fact.time > 1:  # from outside, as a message is
        if spec.can_pause:
            return [f"a{i}({args},{fact.time}){given}."]
        received = ", ".join(reception(spec, place, str(fact.time)))
        return [f"r{i}({args},{fact.time}){given}, {received}."]
    if relations.is_durable(fact.relation) or not spec.can_restart:
        return [f"r{i}({args},1){given}."]
    return [f"r{i}({args},1){given}, not stopped({place},1).", f"r{i}({args},U){given}, started({place},U)."]


def _kept_lines(relations: Relations, spec: FailureSpec) -> list[str]:
    """Return what nodes that do not run keep: durable rows while they are down, otherwise all.

    What arrives at a node that pauses waits (``a<i>``) until the node goes on.
    """
    lines = []
    # A pick is of its time: no rule chooses while a node pauses, and what was picked for then is not what it
    # picks when it goes on.
    momentary = {choice.picked for choice in relations.program.choices}
    for i, (name, arity) in enumerate(relations.arities):
        if relations.is_observed(name) or name in momentary:
            continue
        args = ",".join(f"A{k}" for k in range(arity))
        durable = relations.is_durable(name)
        if durable and spec.can_restart:
            lines.append(f"r{i}({args},T+1) :- r{i}({args},T), stopped(A0,T), T<{spec.eot}.")
        if spec.can_stop:
            lines.append(f"r{i}({args},T+1) :- r{i}({args},T), gone(A0,T), T<{spec.eot}.")
        if spec.can_pause:
            kept = "" if durable else ", not stopped(A0,T+1)"
            lines.append(f"r{i}({args},T+1) :- r{i}({args},T), paused(A0,T), T<{spec.eot}{kept}.")
            lines.append(f"a{i}({args},T+1) :- a{i}({args},T), paused(A0,T), T<{spec.eot}.")
            lines.append(f"r{i}({args},T) :- a{i}({args},T), not halted(A0,T).")
    return lines


def _arrival_lines(program: Program, relations: Relations, spec: FailureSpec, works: str) -> list[str]:
    """Return the rules by which messages become rows where the link works.

    A message to oneself always arrives, at the next time: the paper's ``clock`` always has (n, n, t), too.
    """
    sent = {r.relation: len(r.args) for r in program.rules if r.timing is Timing.ASYNC}
    lines = []
    for relation, arity in sent.items():
        i = relations.number(relation)
        args = ",".join(f"A{k}" for k in range(arity))
        message = f"m{i}(F,{args},T)"
        # One atom for all messages of a link at a time: faults hit links, and most of them carry nothing.
        lines.append(f"sends(F,A0,T) :- {message}.")
        for way in [Arrival("F=A0", "T+1", bounded=True), *ways_to_arrive(spec, works, "F", "A0")]:
            in_time = "" if way.bounded else f", {way.time}<={spec.eot}"
            arrives = f"({args},{way.time}) :- {message}, {way.condition}{in_time}"
            if spec.can_pause:
                lines.append(f"a{i}{arrives}.")
            else:
                lines.append(f"r{i}{', '.join([arrives, *reception(spec, 'A0', way.time)])}.")
    return lines


def _outcome_lines(assertion: Assertion, relations: Relations, spec: FailureSpec, *, alone: bool) -> list[str]:
    i = relations.number(assertion.relation)
    args = ",".join(f"A{k}" for k in range(relations.arity(assertion.relation)))
    if assertion.post is None:
        bad = f"bad{i}({args},T)"
        line = f"{bad} :- r{i}({args},T)."
    else:
        # At the end of time only: what is missing earlier may still come.
        bad = f"bad{i}({args})"
        line = f"{bad} :- r{i}({args},{spec.eot}), not r{relations.number(assertion.post)}({args},{spec.eot})."
    # Of several promises, each can be asked about for itself.
    return [line, f"violated :- {bad}."] if alone else [line, f"broken{i} :- {bad}.", f"violated :- broken{i}."]


class RuleEncoder:
    """Writes one rule; variables are renamed X0, X1, ... and T is the rule's time.

    Renamed, because names of Dedalus may contain ``.`` and ``?``, and those that front ends make up anything.
    ``clew.engine.conditions`` asks about rules with the same encoder, so a question cannot drift from the rule.
    """

    def __init__(self, rule: Rule, index: int, relations: Relations, spec: FailureSpec, traceable: bool) -> None:
        self.rule = rule
        self._marks = [f"{RULE}({index})"] if traceable else []
        self.index = index
        self.relations = relations
        self.spec = spec
        self.names: dict[Var, str] = {p.at: "T" for p in rule.premises if isinstance(p.at, Var)}

    def lines(self) -> list[str]:
        """Return the rule: one line, or two for an aggregate."""
        body = ", ".join(self.body())
        if not self.rule.aggregates:
            args = [self.expr(a) for a in self.rule.args]
            body = ", ".join([body, *self._survives(args[0])])
            return [f"{self._head(args, self.expr(self.rule.location))} :- {body}."]
        return self._aggregate_lines(body)

    def body(self) -> list[str]:
        """Return the literals of the body: what binds variables comes first, as names are given in this order."""
        rule = self.rule
        literals = [self._premise(p) for p in rule.positive]
        # Without a premise at the rule's own time, nothing else would bind T.
        if all(isinstance(p.at, int) or p.relation == CRASH for p in rule.positive):
            literals.append("time(T)")
        literals += [f"not {self._premise(p)}" for p in rule.negative]
        literals += self._runs()
        literals += [self._call(number, c) for number, c in enumerate(rule.calls)]
        literals += [self._comparison(c) for c in rule.comparisons]
        # What is said of a later time is not known yet: such a rule waits for that time.
        literals += [f"T>={p.at}" for p in rule.premises if isinstance(p.at, int) and p.at > 1]
        if rule.timing is not Timing.SAME:  # what would hold after the end is not grounded
            literals.append(f"T<{self.spec.eot}")
        return literals + self._marks

    def _runs(self) -> list[str]:
        """Return that the places of the rule run; nobody executes an assertion, so that it always does."""
        rule = self.rule
        if not self.spec.halts or self.relations.is_observed(rule.relation):
            return []
        places: list[HeadArg] = [rule.location]
        if rule.timing is not Timing.ASYNC:  # a message needs its sender alone
            places.append(rule.args[0])
        variables = {v for p in rule.positive for a in p.args for v in expr_vars(a)}
        named = [p for p in dict.fromkeys(places) if isinstance(p, Const) or p in variables]
        return [f"not halted({self.expr(place)},T)" for place in named]

    def _survives(self, place: str) -> list[str]:
        """Return that what holds at the next time is not lost with a node that goes down then."""
        lost = self.rule.timing is Timing.NEXT and self.spec.can_restart
        relation = self.rule.relation
        if not lost or self.relations.is_durable(relation) or self.relations.is_observed(relation):
            return []
        return [f"not stopped({place},T+1)"]

    def _head(self, args: Sequence[str], location: str) -> str:
        """Return the conclusion: the temporal annotations of the paper's examples 1 to 3 (section 4.1.1)."""
        i = self.relations.number(self.rule.relation)
        joined = ",".join(args)
        match self.rule.timing:
            case Timing.SAME:
                return f"r{i}({joined},T)"
            case Timing.NEXT:
                return f"r{i}({joined},T+1)"
            case Timing.ASYNC:
                return f"m{i}({location},{joined},T)"

    def _premise(self, premise: Premise) -> str:
        args = ",".join(self.expr(a) for a in premise.args)
        if premise.relation == CRASH:
            return f"seen_crash({args})"
        if premise.relation == DOWN:
            return f"seen_down({args},{premise.at if isinstance(premise.at, int) else 'T'})"
        time = premise.at if isinstance(premise.at, int) else "T"
        return f"r{self.relations.number(premise.relation)}({args},{time})"

    def _comparison(self, comparison: Comparison) -> str:
        return f"{self.expr(comparison.left)}{_COMPARISONS[comparison.op]}{self.expr(comparison.right)}"

    def _call(self, number: int, call: Call) -> str:
        # Rule and number instead of the function's name: clingo calls back into Python, see engine.callbacks.
        args = ",".join(str(a) for a in (self.index, number, *map(self.expr, call.args)))
        return f"{encode_tuple([self.expr(v) for v in call.results])}=@call({args})"

    def expr(self, expr: HeadArg) -> str:
        match expr:
            case Const(value):
                return encode_value(value)
            case Wildcard():
                return "_"
            case Var():
                return self.names.setdefault(expr, f"X{len(self.names)}")
            case BinOp(op, left, right):
                # Evaluated in Python: clingo would wrap around silently on overflow.
                return f"@{_OPERATOR_NAMES[op]}({self.index},{self.expr(left)},{self.expr(right)})"
            case Nested(items):
                return encode_tuple([self.expr(item) for item in items])
            case Aggregate():
                raise AssertionError("aggregates are encoded by _aggregate_lines")

    def _aggregate_lines(self, body: str) -> list[str]:
        """Return what is aggregated, as rows of its own; then one conclusion for each non-empty group."""
        rule = self.rule
        group = [a for a in rule.args if not isinstance(a, Aggregate)]
        if rule.timing is Timing.ASYNC:
            group.append(rule.location)  # each sender aggregates what it knows
        columns = Aggregated.of(rule)
        collected = [self.expr(a) for a in (*group, *(a.var for a in rule.aggregates), *columns.per)]
        lines = [f"g{self.index}({','.join([*collected, 'T'])}) :- {body}."]

        keys = [f"G{k}" for k in range(len(group))]
        literals = [self._collected(keys, columns, {}), *self._marks]
        results = []
        for k, aggregate in enumerate(rule.aggregates):
            literals += self._aggregate(k, aggregate, keys, columns)
            results.append(f"N{k}")
        group_keys, result_keys = iter(keys), iter(results)
        args = [next(result_keys) if isinstance(a, Aggregate) else next(group_keys) for a in rule.args]
        literals += self._survives(args[0])
        lines.append(f"{self._head(args, keys[-1] if keys else '')} :- {', '.join(literals)}.")
        return lines

    def _aggregate(self, k: int, aggregate: Aggregate, keys: list[str], columns: Aggregated) -> list[str]:
        """Return the literals that make N<k> the result of aggregate number k."""
        # Elements are sets: equal values count once, unless the columns of ``per`` tell them apart.
        names = {k: "V"} | {columns.values + columns.per.index(v): f"P{n}" for n, v in enumerate(aggregate.per)}
        element = f"{{ {','.join(names.values())} : {self._collected(keys, columns, names)} }}"
        if aggregate.function == "avg":
            # clingo has no #avg.  The division is safe here: sums that could wrap around are refused.
            return [f"S{k}=#sum{element}", f"C{k}=#count{element}", f"N{k}=S{k}/C{k}"]
        # The value of an empty #min or #max; the group is never empty, so it is no answer.
        never = [f"N{k}!={_EMPTY[aggregate.function]}"] if aggregate.function in _EMPTY else []
        return [f"N{k}=#{aggregate.function}{element}", *never]

    def _collected(self, keys: list[str], columns: Aggregated, names: Mapping[int, str]) -> str:
        """Return the atom ``g<k>`` with a variable for the columns that have names, and ``_`` for the others."""
        values = [names.get(k, "_") for k in range(columns.values + len(columns.per))]
        return f"g{self.index}({','.join([*keys, *values, 'T'])})"
