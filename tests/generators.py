"""Random small programs, failure bounds and faults, for tests that compare two ways to the same answer.

Every program obeys the safety rules of the language by construction: variables of heads, negations and
comparisons are bound by positive premises, and each relation has a *level* such that rules of the same time
read relations of their own level only positively and without arithmetic or aggregation in the head, otherwise
relations of lower levels; so each time step is stratified and finite.

Purely random rules rarely communicate.  A program therefore has a core, a broadcast with random choices
(one-shot or retried, relayed, acknowledged, stopped by an ack), then free rules that read and disturb it,
and assertions about what was broadcast, so that some faults matter and others do not.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from math import comb
from typing import TypeVar

from hypothesis import note
from hypothesis import strategies as st

from clew.dedalus.printer import print_program
from clew.faults import KINDS, FailureSpec, Fault, FaultSet
from clew.program.checks import check_program
from clew.program.ir import (
    CRASH,
    DOWN,
    Aggregate,
    AggregateName,
    ArithmeticOp,
    BinOp,
    Choose,
    Comparison,
    ComparisonOp,
    Const,
    Expr,
    Fact,
    HeadArg,
    InputRule,
    Premise,
    Program,
    Rule,
    Term,
    Timing,
    Value,
    Var,
    Wildcard,
)

#: Exhaustive enumeration of fault sets stays feasible up to about this many possible faults.
FEW_FAULTS = 12

T = TypeVar("T")


class Kind(enum.Enum):
    """What a column usually holds; it steers joins towards matches and is no promise."""

    NODE = "X"
    NUMBER = "N"
    ANY = "V"


@dataclass(frozen=True)
class Relation:
    """A relation of the generated program; its first column is a location."""

    name: str
    kinds: tuple[Kind, ...]
    level: int

    def pattern(self, *args: Term) -> Premise:
        return Premise(self.name, args)

    def columns(self) -> tuple[Var, ...]:
        return tuple(Var(f"C{i}") for i in range(len(self.kinds)))


@dataclass(frozen=True)
class Scope:
    """The variables that the positive premises of a rule have bound so far, with the kind of their values."""

    bound: tuple[tuple[Var, Kind], ...] = ()

    def of(self, *kinds: Kind) -> list[Var]:
        return [v for v, kind in self.bound if kind in kinds]

    def every(self) -> list[Var]:
        return [v for v, _ in self.bound]

    def kind(self, var: Var) -> Kind:
        return dict(self.bound)[var]

    def fresh(self, kind: Kind) -> Var:
        return Var(f"{kind.value}{len(self.bound)}")

    def plus(self, var: Var, kind: Kind) -> Scope:
        return self if var in self.every() else Scope((*self.bound, (var, kind)))


ANYTHING = Wildcard()
X, Y, P = Var("X"), Var("Y"), Var("P")
NODES = ("a", "b", "c")
NUMBERS: tuple[Value, ...] = (1, 2, 0, 3, -1, -3)
VALUES: tuple[Value, ...] = (1, "a", 2, "b", "ab", "B", -2, "z1", "é", "a b")
TOP_LEVEL = 3

NODE_TO_NODE = Relation("node", (Kind.NODE, Kind.NODE), 0)
CRASHES = Relation(CRASH, (Kind.NODE, Kind.NODE, Kind.NUMBER), 0)


def programs() -> st.SearchStrategy[Program]:
    """A small program: a broadcast core, free rules and, mostly, assertions."""
    return _programs()


def failure_specs(program: Program) -> st.SearchStrategy[FailureSpec]:
    """Tiny bounds over the nodes of the program; now and then a node is forgotten."""
    return st.builds(
        FailureSpec,
        _spec_nodes(program),
        eot=st.sampled_from((4, 3, 2, 5)),
        eff=st.sampled_from((2, 3, 0, 1)),
        crashes=st.integers(0, 2),
        delays=st.integers(0, 2),
    )


@st.composite
def problems(
    draw: st.DrawFn, specs: Callable[[Program], st.SearchStrategy[FailureSpec]] | None = None
) -> tuple[Program, FailureSpec]:
    """A checked program and bounds for it, tiny ones unless others are given; told if a test fails."""
    program = check_program(draw(programs())).program
    spec = draw((specs or tiny_specs)(program))
    note(f"{spec}\n{print_program(program)}")
    return program, spec


def tiny_specs(program: Program) -> st.SearchStrategy[FailureSpec]:
    """Bounds with at most ``FEW_FAULTS`` possible faults, and mostly with some."""
    eots = st.sampled_from((4, 3, 3, 2, 5))
    return st.builds(_few_fault_specs, _spec_nodes(program), eots).flatmap(st.sampled_from)


@st.composite
def fault_sets(draw: st.DrawFn, spec: FailureSpec) -> FaultSet:
    """Faults within the bounds."""
    possible = list(spec.possible_faults())
    chosen: list[Fault] = []
    if possible:
        for fault in draw(st.lists(st.sampled_from(possible), max_size=6, unique=True)):
            if spec.admits(FaultSet.of([*chosen, fault])):
                chosen.append(fault)
    return FaultSet.of(chosen)


def program_nodes(program: Program) -> tuple[str, ...]:
    """The nodes of a generated program: where the rows of ``node`` are."""
    found = {f.args[0] for f in program.facts if f.relation == NODE_TO_NODE.name}
    return tuple(sorted(node for node in found if isinstance(node, str)))


def _spec_nodes(program: Program) -> st.SearchStrategy[tuple[str, ...]]:
    nodes = program_nodes(program)
    forgotten = nodes[:-1] if len(nodes) > 2 else nodes
    return st.sampled_from([nodes] * 19 + [forgotten])


def _few_fault_specs(nodes: tuple[str, ...], eot: int) -> list[FailureSpec]:
    specs = [
        FailureSpec(nodes, eot, eff, crashes, delays)
        for eff in (2, 3, 0)
        for crashes in range(3)
        for delays in (0, 1)
    ]
    counts = {spec: len(list(spec.possible_faults())) for spec in specs}
    return [s for s in specs if 0 < counts[s] <= FEW_FAULTS] + [s for s in specs if counts[s] == 0][:1]


# Draws.


def _chance(draw: st.DrawFn, percent: int) -> bool:
    """False is the simpler choice."""
    return draw(_PERCENT) >= 100 - percent


def _pick(draw: st.DrawFn, options: Sequence[T]) -> T:
    """Earlier options are simpler; repeat one to make it likelier."""
    picked: T = draw(_one_of(tuple(options)))
    return picked


# Made once: Hypothesis takes longer to look at a new strategy than to draw from one that it knows.
_PERCENT = st.sampled_from(range(100))


@lru_cache(maxsize=4096)
def _one_of(options: tuple[T, ...]) -> st.SearchStrategy[T]:
    return st.sampled_from(options)


def _constant(draw: st.DrawFn, kind: Kind, nodes: Sequence[str]) -> Const:
    match kind:
        case Kind.NODE:
            return Const("elsewhere" if _chance(draw, 3) else _pick(draw, nodes))
        case Kind.NUMBER:
            return Const(_pick(draw, NUMBERS))
        case Kind.ANY:
            return Const(_pick(draw, VALUES))


# The program.


@dataclass(frozen=True)
class Core:
    """The relations of the broadcast; ``message`` remembers the sender."""

    start: Relation
    log: Relation
    message: Relation
    ack: Relation

    def relations(self) -> tuple[Relation, ...]:
        return (NODE_TO_NODE, self.start, self.log, self.message, self.ack)


@st.composite
def _programs(draw: st.DrawFn) -> Program:
    nodes = NODES[: _pick(draw, (2, 2, 3))]
    core = _core(draw)
    extra = tuple(_extra_relation(draw, i) for i in range(_pick(draw, (1, 2, 0))))
    readable = (*core.relations(), *extra)
    rules = _core_rules(draw, core)
    rules += [_feed(draw, relation, core) for relation in extra]
    rules += [_persist(relation) for relation in extra if _chance(draw, 50)]
    writable = (*extra, *extra, core.message, core.ack, core.log)
    rules += [_free_rule(draw, _pick(draw, writable), readable, nodes) for _ in range(_pick(draw, (2, 1, 3, 0)))]
    if not _chance(draw, 15):
        rules += _assertions(draw, core, extra, nodes)
    return Program((*_facts(draw, core, extra, nodes), *dict.fromkeys(rules)))


def _core(draw: st.DrawFn) -> Core:
    value = _pick(draw, (Kind.NUMBER, Kind.ANY))
    return Core(
        start=Relation("start", (Kind.NODE, value), 0),
        log=Relation("log", (Kind.NODE, value), 1),
        message=Relation("message", (Kind.NODE, Kind.NODE, value), 0),
        ack=Relation("ack", (Kind.NODE, Kind.NODE, value), 0),
    )


def _extra_relation(draw: st.DrawFn, index: int) -> Relation:
    kinds = [_pick(draw, tuple(Kind)) for _ in range(_pick(draw, (1, 0, 2)))]
    return Relation(f"extra{index}", (Kind.NODE, *kinds), _pick(draw, (1, 2, 2)))


def _facts(draw: st.DrawFn, core: Core, extra: Sequence[Relation], nodes: Sequence[str]) -> list[Fact]:
    to_itself = _chance(draw, 40)
    facts = [Fact("node", (m, n)) for m in nodes for n in nodes if m != n or to_itself]
    givers = [core.start] * _pick(draw, (1, 1, 2)) + [r for r in extra if _chance(draw, 30)]
    for index, relation in enumerate(givers):
        args = tuple(_constant(draw, kind, nodes).value for kind in relation.kinds)
        facts.append(Fact(relation.name, args, _pick(draw, (1, 1, 2)) if index > 0 else 1))
    return facts


def _persist(relation: Relation, *unless: Premise) -> Rule:
    columns = relation.columns()
    body = (relation.pattern(*columns), *(replace(p, negated=True) for p in unless))
    return Rule(relation.name, columns, Timing.NEXT, body)


def _core_rules(draw: st.DrawFn, core: Core) -> list[Rule]:
    """The broadcast: who starts, what is sent and sent again, what is answered."""
    start, log, message, ack = core.start, core.log, core.message, core.ack
    acked = replace(ack.pattern(X, Y, P), negated=True)
    sending = (start.pattern(X, P), NODE_TO_NODE.pattern(X, Y))
    if _chance(draw, 25):
        sending = (log.pattern(X, P), NODE_TO_NODE.pattern(X, Y))
    rules = [
        _persist(NODE_TO_NODE),
        Rule("message", (Y, X, P), Timing.ASYNC, (*sending, *((acked,) if _chance(draw, 50) else ()))),
        Rule("log", (X, P), Timing.SAME, (message.pattern(X, ANYTHING, P),)),
        Rule("log", (X, P), _pick(draw, (Timing.SAME, Timing.NEXT)), (start.pattern(X, P),)),
    ]
    if not _chance(draw, 10):
        rules.append(_persist(log))
    if not _chance(draw, 15):
        rules.append(Rule("ack", (Y, X, P), Timing.ASYNC, (message.pattern(X, Y, P),)))
        rules.append(_persist(ack))
    if _chance(draw, 55):
        once_acked = ack.pattern(Var("C0"), ANYTHING, Var("C1"))
        rules.append(_persist(start, once_acked) if _chance(draw, 35) else _persist(start))
    if _chance(draw, 20):
        rules.append(_closure(message))
    return rules


def _closure(message: Relation) -> Rule:
    """Who heard from whom, transitively: recursion within one time."""
    body = (message.pattern(X, Y, P), message.pattern(Y, Var("Z"), P))
    return Rule(message.name, (X, Var("Z"), P), Timing.SAME, body)


def _feed(draw: st.DrawFn, relation: Relation, core: Core) -> Rule:
    """A rule that puts rows of the core into a further relation, so that it is not always empty."""
    source = _pick(draw, (core.log, core.ack, core.message, NODE_TO_NODE))
    columns = source.columns()
    scope = Scope(tuple(zip(columns, source.kinds, strict=True)))
    args: list[HeadArg] = [columns[0]]
    for kind in relation.kinds[1:]:
        same: list[HeadArg] = [*scope.of(kind)[-1:]]
        other = Aggregate("count", columns[-1]) if kind is Kind.NUMBER and len(args) == 1 else columns[-1]
        args.append(_pick(draw, same or [other]))
    timing = _pick(draw, (Timing.SAME, Timing.NEXT, Timing.SAME)) if relation.level > source.level else Timing.NEXT
    return Rule(relation.name, tuple(args), timing, (source.pattern(*columns),))


# Assertions.


def _assertions(draw: st.DrawFn, core: Core, extra: tuple[Relation, ...], nodes: Sequence[str]) -> list[Rule]:
    """``pre`` and ``post``, about who has what was broadcast."""
    readable = (*core.relations(), *extra)
    shape = _pick(draw, ("delivered", "agreed", "answered", "counted", "traced", "free"))
    unless_crashed = Premise(CRASH, (X, _pick(draw, (X, Y)), ANYTHING), negated=True)
    guard: tuple[Premise, ...] = (unless_crashed,) if _chance(draw, 60) else ()
    to_others: tuple[Premise | Comparison, ...] = (NODE_TO_NODE.pattern(X, Y), Comparison("!=", X, Y), *guard)
    given, acked = replace(core.start.pattern(X, P), at=1), core.ack.pattern(X, Y, P)
    delivered = [
        _same("pre", (Y, P), _pick(draw, (given, core.log.pattern(X, P))), *to_others),
        _same("post", (Y, P), core.log.pattern(Y, P)),
    ]
    match shape:
        case "delivered":
            return delivered
        case "agreed":
            return _agreement(core, to_others)
        case "answered":
            return [_same("pre", (X, Y), given, *to_others), _same("post", (X, Y), acked)]
        case "counted":
            functions: tuple[AggregateName, ...] = ("count", "max", "min")
            answers = (X, Aggregate(_pick(draw, functions), Y))
            return [_same("pre", answers, given, *to_others), _same("post", answers, acked, *to_others)]
        case "traced":
            return _trace(draw, (core.log, core.message, *extra), nodes, given)
        case _:
            free = [
                _free_rule(draw, Relation(n, core.log.kinds, TOP_LEVEL), readable, nodes) for n in ("pre", "post")
            ]
            return [*delivered, *free]


def _same(name: str, args: tuple[HeadArg, ...], *body: Premise | Comparison) -> Rule:
    return Rule(name, args, Timing.SAME, body)


def _agreement(core: Core, others: tuple[Premise | Comparison, ...]) -> list[Rule]:
    """What one has, all have."""
    held = core.log.pattern(X, P)
    absent = replace(core.log.pattern(Y, P), negated=True)
    nobody_misses = Premise("missing", (ANYTHING, P), negated=True)
    return [
        _same("missing", (Y, P), held, *others, absent),
        _same("pre", (X, P), held),
        _same("post", (X, P), held, nobody_misses),
    ]


def _trace(draw: st.DrawFn, subjects: Sequence[Relation], nodes: Sequence[str], given: Premise) -> list[Rule]:
    """What was started has left some trace, or rarely: has left none."""
    scope = Scope(((Y, Kind.NODE), (X, Kind.NODE), (P, Kind.ANY)))
    trace = _premise(draw, _pick(draw, subjects), scope, nodes, negated=True)
    trace = replace(trace, negated=_chance(draw, 20))
    body = (given, NODE_TO_NODE.pattern(X, Y))
    return [_same("pre", (Y, P), *body), _same("post", (Y, P), *body, trace)]


# Free rules.


def _free_rule(draw: st.DrawFn, head: Relation, readable: Sequence[Relation], nodes: Sequence[str]) -> Rule:
    """A safe rule for this relation with joins, negation, comparisons, arithmetic and aggregates."""
    asserting = head.level == TOP_LEVEL
    timing = Timing.SAME if asserting else _pick(draw, (Timing.ASYNC, Timing.SAME, Timing.ASYNC, Timing.NEXT))
    readable = (*readable, CRASHES)
    lower = [r for r in readable if r.level < head.level]
    if timing is Timing.SAME and not lower:
        timing = Timing.NEXT
    recursive = timing is Timing.SAME and _chance(draw, 30)
    later = timing is not Timing.SAME
    up_to_here = [r for r in readable if r.level <= head.level] if recursive else lower
    body, scope = _positive_body(draw, readable if later else up_to_here, nodes)
    body += _conditions(draw, scope, readable if later else lower, nodes)
    args = _head_args(draw, head, timing, scope, nodes, plain=recursive)
    rule = Rule(head.name, args, timing, tuple(body))
    shuffled = replace(rule, body=tuple(draw(st.permutations(body)))) if _chance(draw, 15) else rule
    return rule if isinstance(shuffled.location, Wildcard) else shuffled


Body = list[Premise | Comparison]


def _positive_body(draw: st.DrawFn, usable: Sequence[Relation], nodes: Sequence[str]) -> tuple[Body, Scope]:
    body: Body = []
    scope = Scope()
    moving = [r for r in usable if r not in (NODE_TO_NODE, CRASHES)] or usable
    for index in range(_pick(draw, (2, 1, 2, 3))):
        relation = _pick(draw, moving if index == 0 else (*usable, NODE_TO_NODE))
        premise = _premise(draw, relation, scope, nodes)
        for arg, kind in zip(premise.args, relation.kinds, strict=True):
            scope = scope.plus(arg, kind) if isinstance(arg, Var) else scope
        if _chance(draw, 12):
            times: tuple[int | Var, ...] = (Var("Now"), 1, 2, 3)
            time = _pick(draw, times)
            premise = replace(premise, at=time)
            scope = scope.plus(time, Kind.NUMBER) if isinstance(time, Var) else scope
        body.append(premise)
    return body, scope


def _premise(
    draw: st.DrawFn, relation: Relation, scope: Scope, nodes: Sequence[str], *, negated: bool = False
) -> Premise:
    """A pattern over the scope; only a positive one may bring new variables."""
    args: list[Term] = []
    for column, kind in enumerate(relation.kinds):
        known = scope.of(kind) or (scope.of(Kind.NUMBER, Kind.ANY) if kind is not Kind.NODE else [])
        if not scope.bound and not negated:
            arg: Term = scope.fresh(kind) if _chance(draw, 95) else _constant(draw, kind, nodes)
        elif known and _chance(draw, 75 if column == 0 else 50):
            arg = known[0] if column == 0 else _pick(draw, known)
        elif _chance(draw, 10):
            arg = _constant(draw, kind, nodes)
        else:
            arg = ANYTHING if negated or _chance(draw, 20) else scope.fresh(kind)
        args.append(arg)
        scope = scope.plus(arg, kind) if isinstance(arg, Var) else scope
    return Premise(relation.name, tuple(args), negated)


def _conditions(draw: st.DrawFn, scope: Scope, negatable: Sequence[Relation], nodes: Sequence[str]) -> Body:
    body: Body = []
    if negatable and _chance(draw, 40):
        negative = _premise(draw, _pick(draw, negatable), scope, nodes, negated=True)
        body.append(replace(negative, at=_pick(draw, (1, 2, 3))) if _chance(draw, 10) else negative)
    if _chance(draw, 15):
        body.append(_premise(draw, CRASHES, scope, nodes, negated=True))
    if scope.bound and _chance(draw, 45):
        body.append(_comparison(draw, scope, nodes))
    return body


def _comparison(draw: st.DrawFn, scope: Scope, nodes: Sequence[str]) -> Comparison:
    operators: tuple[ComparisonOp, ...] = ("!=", "==", "<", "<=", ">", ">=")
    left = _pick(draw, scope.every())
    kind = scope.kind(left)
    alike = [v for v in scope.of(kind) if v != left]
    if alike and _chance(draw, 50):
        right: Expr = _pick(draw, alike)
    elif kind is not Kind.NODE and _chance(draw, 40):
        right = _arithmetic(draw, scope.of(Kind.NUMBER, Kind.ANY))
    else:
        right = _constant(draw, _pick(draw, (kind, kind, Kind.ANY)), nodes)
    return Comparison(_pick(draw, operators), left, right)


def _arithmetic(draw: st.DrawFn, variables: Sequence[Var]) -> BinOp:
    """Values grow slowly: no products of variables."""
    operators: tuple[ArithmeticOp, ...] = ("+", "-", "/", "*")
    op = _pick(draw, operators)
    left: Expr = _pick(draw, variables)
    right: Expr = Const(_pick(draw, (1, 2, 0, -2)))
    if op != "*" and _chance(draw, 25):
        right = _pick(draw, variables)
    return BinOp(op, right, left) if _chance(draw, 15) else BinOp(op, left, right)


def _head_args(
    draw: st.DrawFn, head: Relation, timing: Timing, scope: Scope, nodes: Sequence[str], *, plain: bool
) -> tuple[HeadArg, ...]:
    places = scope.of(Kind.NODE)
    if timing is Timing.ASYNC:
        places = places[1:] * 4 + places[:1]
    args: list[HeadArg] = [_pick(draw, places[::-1]) if places else _constant(draw, Kind.NODE, nodes)]
    aggregated = bool(scope.bound) and not plain and _chance(draw, 25)
    for kind in head.kinds[1:]:
        if aggregated:
            args.append(_aggregate(draw, kind, scope))
            aggregated = _chance(draw, 10)
        else:
            args.append(_plain_arg(draw, kind, scope, nodes, plain=plain))
    return tuple(args)


def _plain_arg(draw: st.DrawFn, kind: Kind, scope: Scope, nodes: Sequence[str], *, plain: bool) -> HeadArg:
    numbers = scope.of(Kind.NUMBER, Kind.ANY)
    if kind is not Kind.NODE and numbers and not plain and _chance(draw, 45):
        return _arithmetic(draw, numbers)
    fitting = scope.of(kind) or (numbers if kind is not Kind.NODE else [])
    return _pick(draw, fitting) if fitting else _constant(draw, kind, nodes)


def _aggregate(draw: st.DrawFn, kind: Kind, scope: Scope) -> Aggregate:
    var = _pick(draw, scope.of(kind) or scope.every())
    functions: tuple[AggregateName, ...] = ("count", "min", "max", "sum", "avg")
    if kind is Kind.NODE:
        functions = ("min", "max")
    per = (_pick(draw, scope.every()),) if _chance(draw, 20) else ()
    return Aggregate(_pick(draw, functions), var, per)


# Aggregates.


@st.composite
def aggregating_programs(draw: st.DrawFn) -> Program:
    """A small program that also aggregates, compares and divides scores, of which every node has several.

    In others, rows are rare for which it shows what is counted, how it is rounded, or which value is the least.
    """
    program = draw(programs())
    nodes = program_nodes(program)
    score = Relation("score", (Kind.NODE, Kind.NODE, Kind.ANY), 0)
    facts = [
        Fact(score.name, (_pick(draw, nodes), _pick(draw, nodes), _score(draw)), _pick(draw, (1, 1, 2)))
        for _ in range(_pick(draw, (3, 4, 5, 6)))
    ]
    rules = [_persist(score), *(_total(draw, score) for _ in range(_pick(draw, (1, 2))))]
    rules.append(Rule("share", (X, Y, _arithmetic(draw, (P,))), Timing.NEXT, (score.pattern(X, Y, P),)))
    if _chance(draw, 50):
        rules.append(Rule("log", (X, P), Timing.NEXT, (Premise("total", (X, ANYTHING, P)),)))
    return replace(program, clauses=(*facts, *program.clauses, *dict.fromkeys(rules)))


def _score(draw: st.DrawFn) -> Value:
    return _pick(draw, NUMBERS) if _chance(draw, 80) else _pick(draw, VALUES)


def _total(draw: st.DrawFn, score: Relation) -> Rule:
    """Aggregate what a node has, for each other node or for all, here or where it is sent."""
    body: Body = [score.pattern(X, Y, P)]
    if _chance(draw, 50):
        body.append(_comparison(draw, Scope(((P, Kind.ANY), (Y, Kind.NODE))), NODES))
    if _chance(draw, 20):
        body.append(Premise("log", (X, P), negated=True))
    functions: tuple[AggregateName, ...] = ("avg", "sum", "min", "max", "count")
    found = Aggregate(_pick(draw, functions), P, (Y,) if _chance(draw, 40) else ())
    keys: tuple[HeadArg, ...] = (Const("all"), Y, Aggregate("count", Y))
    key = _pick(draw, keys)
    timing = _pick(draw, (Timing.NEXT, Timing.ASYNC, Timing.NEXT))
    if timing is Timing.ASYNC:
        body.append(NODE_TO_NODE.pattern(X, Var("Z")))
    return Rule("total", (Var("Z") if timing is Timing.ASYNC else X, key, found), timing, tuple(body))


# Faults that pass.


@st.composite
def lasting_programs(draw: st.DrawFn) -> Program:
    """A small program that says which relations survive a restart, and sometimes asks who is down."""
    program = draw(programs())
    names = sorted({rule.relation for rule in program.rules if rule.timing is Timing.NEXT} | {"node", "start"})
    durable = frozenset(draw(st.lists(st.sampled_from(names), unique=True)))
    rules: list[Rule] = []
    if _chance(draw, 30):
        node, other = Var("N"), Var("M")
        seen = Premise(DOWN, (node, other), negated=_chance(draw, 30))
        known = Premise(NODE_TO_NODE.name, (node, other))
        rules.append(Rule("suspect", (node, other), _pick(draw, (Timing.SAME, Timing.NEXT)), (known, seen)))
        rules.append(Rule("message", (other, node, Const(1)), Timing.ASYNC, (Premise("suspect", (node, other)),)))
    pre = next((rule for rule in program.rules if rule.relation == "pre"), None)
    if pre is not None and _chance(draw, 30):
        # Sets do not mind to be told twice; a node that takes what it knows for news does.
        node, value = Var("N"), Var("V")
        news = (Premise("message", (node, ANYTHING, value)), Premise("log", (node, value)))
        rules.append(Rule("twice", (node,), Timing.NEXT, news))
        rules.append(Rule("twice", (node,), Timing.NEXT, (Premise("twice", (node,)),)))
        rules.append(
            Rule("pre", (node, *[Const("twice")] * (len(pre.args) - 1)), Timing.SAME, (Premise("twice", (node,)),))
        )
    return replace(program, clauses=(*program.clauses, *rules), durable=durable)


def mixed_specs(program: Program) -> st.SearchStrategy[FailureSpec]:
    """Bounds that allow faults of all kinds together."""
    return st.builds(
        FailureSpec,
        _spec_nodes(program),
        eot=st.sampled_from((5, 4, 6, 3)),
        eff=st.sampled_from((4, 3, 5, 2, 0)),
        crashes=st.integers(0, 1),
        delays=st.integers(0, 1),
        duplicates=st.integers(0, 2),
        restarts=st.integers(0, 2),
        pauses=st.integers(0, 2),
        partitions=st.integers(0, 2),
        stops=st.integers(0, 1),
    )


def few_mixed_specs(program: Program, most_sets: int = 600) -> st.SearchStrategy[FailureSpec]:
    """Bounds that allow some kinds together, with at most so many sets of faults."""
    return st.builds(_few_mixed_specs, _spec_nodes(program), st.just(most_sets)).flatmap(st.sampled_from)


@cache
def _few_mixed_specs(nodes: tuple[str, ...], most_sets: int) -> list[FailureSpec]:
    found = []
    for eot, eff, crashes, delays in product((4, 3, 5), (3, 2, 4), (0, 1), (0, 1)):
        for counts in product(*[(0, 1, 2)] * 4, (0, 1)):
            spec = FailureSpec(nodes, eot, eff, crashes, delays, *counts)
            if eff <= eot and 0 < sum(counts) <= 3 and _number_of_sets(spec) <= most_sets:
                found.append(spec)
    return found


def _number_of_sets(spec: FailureSpec) -> int:
    number = 1
    for kind in KINDS:
        possible, most = sum(1 for _ in kind.possible(spec)), kind.most(spec)
        number *= 2**possible if most is None else sum(comb(possible, k) for k in range(most + 1))
    return number


# Inputs and choices.


@st.composite
def open_programs(draw: st.DrawFn, base: st.SearchStrategy[Program] | None = None) -> Program:
    """A small program with assertions that is given inputs, or chooses, or both; as it is written."""
    chosen = programs() if base is None else base
    stated = ("pre", "never", "pre_", "never_")
    program = draw(chosen.filter(lambda p: any(rule.relation.startswith(stated) for rule in p.rules)))
    inputs, facts = _inputs(draw, program) if not _chance(draw, 25) else ((), ())
    rules = _choosing_rules(draw) if not inputs or _chance(draw, 60) else []
    # After the others: which rule of a relation has which number does not depend on what is added.
    return replace(program, clauses=(*facts, *program.clauses, *rules), inputs=tuple(inputs))


def _inputs(draw: st.DrawFn, program: Program) -> tuple[list[InputRule], list[Fact]]:
    arities = {rule.relation: len(rule.args) for rule in program.rules} | {"start": 2}
    read = [name for name in ("start", "log", "ack", "extra0") if name in arities]
    facts = [Fact("offered", (value,)) for value in draw(st.lists(st.sampled_from(VALUES[:4]), max_size=2))]
    facts.append(Fact("offered", (draw(st.sampled_from(NUMBERS)),), draw(st.sampled_from((1, 2)))))
    found = []
    for relation in draw(st.lists(st.sampled_from(read), min_size=1, max_size=2, unique=True)):
        arity = arities[relation]
        times: tuple[int | Var, ...] = (Var("T"), Var("T"), 1, 2)
        time = _pick(draw, times)
        body: list[Premise | Comparison] = [Premise("node", (X, Y)), Premise("offered", (P,))]
        if isinstance(time, Var):
            body.append(Comparison(_pick(draw, ("<=", "<", "==")), time, Const(_pick(draw, (2, 1, 3)))))
        if _chance(draw, 30):
            body.append(Comparison(_pick(draw, ("!=", "<")), X, _constant(draw, Kind.NODE, NODES)))
        if _chance(draw, 20):
            body.append(Premise("offered", (X,), negated=True))
        columns: tuple[HeadArg, ...] = (X, Y, P) if arity > 2 else (X, P)
        args = list(columns[:arity])
        if _chance(draw, 15) and isinstance(time, Var):
            args[-1] = BinOp("+", time, Const(1)) if arity > 1 else X
        found.append(InputRule(Rule(relation, tuple(args), Timing.SAME, tuple(body)), time))
    return found, facts


def _choosing_rules(draw: st.DrawFn) -> list[Rule]:
    """Who is told next, or which value is taken, is chosen."""
    options: tuple[tuple[Premise, ...], ...] = (
        (Premise("log", (X, P)), Premise("node", (X, Y))),
        (Premise("start", (X, P)), Premise("node", (X, Y))),
        (Premise("message", (X, Y, P)),),
    )
    rules = []
    for _ in range(_pick(draw, (1, 1, 2))):
        body: tuple[Premise | Comparison, ...] = _pick(draw, options)
        if _chance(draw, 30):
            body = (*body, Premise("ack", (X, Y, ANYTHING), negated=True))
        if _chance(draw, 20):
            body = (*body, Comparison("!=", X, Y))
        keys: tuple[Var, ...] = _pick(draw, ((), (X,), (P,), (X, P)))
        values = tuple(v for v in _pick(draw, ((Y,), (Y, P), (P, Y))) if v not in keys) or (Y,)
        chosen = Choose(keys, values)
        timing = _pick(draw, (Timing.SAME, Timing.NEXT, Timing.ASYNC))
        if timing is Timing.ASYNC:
            rules.append(Rule("message", (Y, X, P), timing, (*body, chosen)))
        else:
            rules.append(Rule("favourite", (X, Y, P), timing, (*body, chosen)))
    favourite = Premise("favourite", (X, Y, P))
    rules.append(Rule("message", (Y, X, P), Timing.ASYNC, (favourite,)))
    if _chance(draw, 50):
        rules.append(Rule("log", (X, P), Timing.NEXT, (favourite,)))
    return list(dict.fromkeys(rules))


def open_specs(program: Program, *, mixed: bool = False) -> st.SearchStrategy[FailureSpec]:
    """Tiny bounds with few failures (``mixed``: of any kind), and inputs bounded or not."""
    some = st.integers(0, 1) if mixed else st.just(0)
    return st.builds(
        FailureSpec,
        _spec_nodes(program),
        eot=st.sampled_from((4, 3, 2)),
        eff=st.sampled_from((2, 0)),
        crashes=st.integers(0, 1),
        delays=some,
        duplicates=some,
        partitions=some,
        stops=some,
        restarts=st.integers(0, 1) if program.durable is not None else st.just(0),
        pauses=st.integers(0, 1) if program.durable is not None else st.just(0),
        inputs=st.sampled_from((None, 1, 2, 0)),
    )
