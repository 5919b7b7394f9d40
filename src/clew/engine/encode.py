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
``bad<i>(args)``      a violation; ``violated`` if there is any
``rule(k) given``     only in a traceable encoding: which rule it was; always true
===================== =====================================================================

A *traceable* encoding keeps every premise in the ground rules: clingo takes what is certain out of them, so rules
and facts get a premise that it cannot know to be true.  Searches do without it, because smaller rules are faster;
explanations need to show the premises, however certain.

``tests/reference.py`` says the same a second time, as a plain interpreter; generated programs must agree on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clew.engine.fault_semantics import UNCUT, fault_lines, few_fault_lines, ways_to_arrive
from clew.engine.values import encode_tuple, encode_value
from clew.faults import FailureSpec, FaultSet
from clew.program.ir import (
    CRASH,
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
)
from clew.program.outcomes import POST, PRE

#: The marks of a traceable encoding; relations are numbered, so these names are free.
RULE, GIVEN = "rule", "given"

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

    @staticmethod
    def of(program: Program) -> Relations:
        # Relations that are only read have numbers, too: they are empty, and ``notin`` of them holds.
        used = [(c.relation, len(c.args)) for c in program.clauses]
        used += [(p.relation, len(p.args)) for r in program.rules for p in r.premises]
        return Relations(tuple((name, arity) for name, arity in dict.fromkeys(used) if name != CRASH))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, (name, _) in enumerate(self.arities)}

    def number(self, name: str) -> int:
        return self._numbers[name]

    def arity(self, name: str) -> int:
        return self.arities[self.number(name)][1]


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
    if traceable:
        lines.append(f"#external {GIVEN}. #external {RULE}(0..{len(program.rules) - 1}).")
    given = f" :- {GIVEN}" if traceable else ""
    lines += [_fact_line(fact, relations, given) for fact in program.facts if fact.time <= spec.eot]
    for index, rule in enumerate(program.rules):
        lines += RuleEncoder(rule, index, relations, spec, traceable).lines()
    lines += _arrival_lines(program, relations, spec, "link(F,A0,T)" if only is None else UNCUT)
    # Without them, what must hold is known only after the failure-free run: see encode_expected_rows.
    if {PRE, POST} <= {name for name, _ in relations.arities}:
        lines += _outcome_lines(relations, spec)
    return Encoding("\n".join(lines) + "\n", relations)


def encode_expected_rows(expected: Mapping[int, Sequence[tuple[Value, ...]]], eot: int) -> str:
    """Return violations for a program without ``pre`` and ``post``: a row of the failure-free run is missing.

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


def _fact_line(fact: Fact, relations: Relations, given: str) -> str:
    args = ",".join(map(encode_value, fact.args))
    return f"r{relations.number(fact.relation)}({args},{fact.time}){given}."


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
        lines.append(f"r{i}({args},T+1) :- {message}, F=A0.")
        for way in ways_to_arrive(spec, works, "F", "A0"):
            in_time = "" if way.bounded else f", {way.time}<={spec.eot}"
            lines.append(f"r{i}({args},{way.time}) :- {message}, {way.condition}{in_time}.")
    return lines


def _outcome_lines(relations: Relations, spec: FailureSpec) -> list[str]:
    # At the end of time only: what is missing earlier may still come.
    pre, post = relations.number(PRE), relations.number(POST)
    args = ",".join(f"A{k}" for k in range(relations.arity(PRE)))
    return [
        f"bad{pre}({args}) :- r{pre}({args},{spec.eot}), not r{post}({args},{spec.eot}).",
        f"violated :- bad{pre}({args}).",
    ]


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
        literals += [self._call(number, c) for number, c in enumerate(rule.calls)]
        literals += [self._comparison(c) for c in rule.comparisons]
        # What is said of a later time is not known yet: such a rule waits for that time.
        literals += [f"T>={p.at}" for p in rule.premises if isinstance(p.at, int) and p.at > 1]
        if rule.timing is not Timing.SAME:  # what would hold after the end is not grounded
            literals.append(f"T<{self.spec.eot}")
        return literals + self._marks

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
