"""A second reading of Dedalus: a deliberately naive interpreter, to be compared with the engine.

It knows nothing of the solver or of its encoding; an error there shows up as a disagreement with this
module.  It runs one execution, under one given set of faults, one time after the other: first the rows that
are given or arrive, then the rules of the same time stratum by stratum until nothing changes, then the rules
whose conclusions hold later.  Nothing here is clever or fast: every rule tries every combination of rows.

Where the description of the language leaves room, this is the reading:

- a message to oneself always arrives, also at a place that is no node; between two places both must be nodes;
- a message that is delayed beyond the end does not arrive within the execution;
- an anonymous location is that of the matched row;
- numbers come before strings, strings compare by their bytes and add nothing to ``sum`` and ``avg``;
- numbers are unbounded, and arithmetic without a result silences the rule instance;
- a node that is down, paused or has stopped runs no rule; what only defines assertions runs everywhere, at all
  times.  A rule that concludes at another place runs only while both places do;
- a node that stops has what its last step has concluded, and its configuration if it begins then; that stays as it
  is, and nothing reaches it any more;
- facts later than time 1 come from outside, as messages do; those at time 1 are configuration;
- inputs come from outside at any time; which there are, facts of all times say;
- ``choose`` takes, at each place and time, the least of what is picked and on offer, or of all that is on offer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from clew.faults import Crash, Duplicate, FailureSpec, FaultSet, Input, Loss, Partition, Pause, Pick, Restart, Stop
from clew.program.ir import (
    CRASH,
    DOWN,
    Aggregate,
    AggregateName,
    ArithmeticOp,
    BinOp,
    Comparison,
    Const,
    HeadArg,
    Premise,
    Program,
    Rule,
    Term,
    Timing,
    Value,
    Var,
    Wildcard,
)

Row = tuple[Value, ...]
Execution = dict[int, dict[str, frozenset[Row]]]
History = dict[int, dict[str, set[Row]]]
Binding = Mapping[Var, Value]

#: Stands for a location that the program leaves anonymous; no program can spell a variable like this.
_SOMEWHERE = Var("_")


@dataclass(frozen=True)
class Conclusion:
    """A row that a rule derives, and where the rule ran (None where that does not matter)."""

    sender: Value | None
    row: Row


class UndefinedError(ArithmeticError):
    """Arithmetic without a result: on a string, or a division by zero."""


@dataclass(frozen=True)
class Offer:
    """What a rule with ``choose`` could take at a time for one key, which begins all of the rows."""

    name: str
    rows: frozenset[Row]
    time: int

    def pick(self, row: Row) -> Pick:
        return Pick(self.name, row, self.time)


def evaluate(
    program: Program, spec: FailureSpec, faults: FaultSet, offers: list[Offer] | None = None
) -> Execution:
    """The rows of every relation the program names, at every time; ``offers`` gets what there is to choose."""
    return _evaluate(program, spec, faults, offers) if offers is not None else _remembered(program, spec, faults)


@lru_cache(maxsize=4)
def _remembered(program: Program, spec: FailureSpec, faults: FaultSet) -> Execution:
    """The same; tests ask for the rows of an execution, and then for what it violates and sends."""
    return _evaluate(program, spec, faults, None)


def _evaluate(program: Program, spec: FailureSpec, faults: FaultSet, offers: list[Offer] | None) -> Execution:
    nodes = _Nodes(program, faults, offers)
    history = _given_rows(program, spec, faults, nodes)
    rules = [_with_location(rule) for rule in program.rules]
    nodes.name_choices(rules)
    for time in history:
        for stratum in _strata(rules, time):
            _saturate(stratum, history, time, nodes)
        for rule in rules:
            if rule.timing is not Timing.SAME:
                _conclude_later(rule, history, time, spec, faults, nodes)
        if time < spec.eot:
            _keep_what_is_halted(history, time, nodes)
    return {t: {name: frozenset(rows) for name, rows in tables.items()} for t, tables in history.items()}


def violations(program: Program, spec: FailureSpec, faults: FaultSet) -> frozenset[Row]:
    """Rows of ``pre`` without ``post``; without assertions, (relation, *row) that persisted before the faults."""
    end = evaluate(program, spec, faults)[spec.eot]
    if any(clause.relation in ("pre", "post") for clause in program.clauses):
        return end.get("pre", frozenset()) - end.get("post", frozenset())
    expected = evaluate(program, spec, FaultSet())[spec.eot]
    return frozenset((name, *row) for name in persistent_relations(program) for row in expected[name] - end[name])


def broken_promises(
    program: Program, spec: FailureSpec, faults: FaultSet
) -> frozenset[tuple[str, Row, int | None]]:
    """Every row that breaks a promise stated by name; of what must never hold, with the first time it does."""
    history = evaluate(program, spec, faults)
    names = _stated(program)
    found: set[tuple[str, Row, int | None]] = set()
    for pre in (n for n in names if n == "pre" or n.startswith("pre_")):
        owed = history[spec.eot][pre] - history[spec.eot]["post" + pre[3:]]
        found |= {(pre, row, None) for row in owed}
    for never in (n for n in names if n == "never" or n.startswith("never_")):
        seen: set[Row] = set()
        for time in sorted(history):
            found |= {(never, row, time) for row in history[time][never] - seen}
            seen |= history[time][never]
    return frozenset(found)


def _stated(program: Program) -> frozenset[str]:
    """The relations that state promises: pairs of which both halves are defined, and what must never hold."""
    defined = {clause.relation for clause in program.clauses}
    names = {n for n in defined if n == "never" or n.startswith("never_")}
    for pre in (n for n in defined if n == "pre" or n.startswith("pre_")):
        if "post" + pre[3:] in defined:
            names |= {pre, "post" + pre[3:]}
    return frozenset(names)


def offered_inputs(program: Program, eot: int) -> frozenset[Input]:
    """Every row that a declaration of inputs offers, at each of its times."""
    facts: dict[str, set[Row]] = {}
    for fact in program.facts:
        facts.setdefault(fact.relation, set()).add(fact.args)
    found = set()
    for declared in program.inputs:
        for time in range(1, eot + 1):
            if isinstance(declared.time, int) and declared.time != time:
                continue
            at_all_times = {time: {p.relation: facts.get(p.relation, set()) for p in declared.rule.premises}}
            known = {declared.time: time} if isinstance(declared.time, Var) else {}
            for binding in _bindings(declared.rule, at_all_times, time, known):
                try:
                    row = tuple(_value(arg, binding) for arg in declared.rule.args)
                except UndefinedError:
                    continue
                found.add(Input(declared.relation, row, time))
    return frozenset(found)


def violations_by_choice(program: Program, spec: FailureSpec, faults: FaultSet) -> Iterator[frozenset[Row]]:
    """What is violated for each way to choose, step by step, whatever rules with ``choose`` offer."""
    waiting: list[FaultSet] = [faults]
    while waiting:
        decided = waiting.pop()
        offers: list[Offer] = []
        end = evaluate(program, spec, decided, offers)[spec.eot]
        open_offers = [o for o in offers if len(o.rows) > 1 and not any(o.pick(row) in decided for row in o.rows)]
        if not open_offers:
            yield end.get("pre", frozenset()) - end.get("post", frozenset())
            continue
        first = min(open_offers, key=lambda offer: offer.time)  # what is decided later may depend on it
        waiting += [FaultSet.of((*decided, first.pick(row))) for row in sorted(first.rows, key=repr)]


def sendings(program: Program, spec: FailureSpec, faults: FaultSet) -> frozenset[tuple[str, Value, Row, int]]:
    """Every message as (relation, sender, row, time); also those that get lost, and of nodes that have crashed."""
    nodes = _Nodes(program, faults)
    rules = [_with_location(rule) for rule in program.rules]
    nodes.name_choices(rules)
    history: History = {
        time: {name: set(rows) for name, rows in tables.items()}
        for time, tables in evaluate(program, spec, faults).items()
    }
    return frozenset(
        (rule.relation, conclusion.sender, conclusion.row, time)
        for rule in rules
        if rule.timing is Timing.ASYNC
        for time in range(1, spec.eot)
        for conclusion in _conclusions(rule, history, time, nodes)
        if conclusion.sender is not None
    )


def persistent_relations(program: Program) -> frozenset[str]:
    """The relations with a rule that keeps their rows as they are."""
    return frozenset(
        r.relation
        for r in program.rules
        if r.timing is Timing.NEXT and r.body == (Premise(r.relation, _as_terms(r.args)),)
    )


def _as_terms(args: Sequence[HeadArg]) -> tuple[Term, ...]:
    return tuple(a for a in args if isinstance(a, Const | Var | Wildcard))


# Nodes that do not run.


class _Nodes:
    """Which nodes are down or paused at which times, and what they keep."""

    def __init__(self, program: Program, faults: FaultSet, offers: list[Offer] | None = None) -> None:
        self.picks = {f for f in faults if isinstance(f, Pick)}
        self.offers = offers
        self.choices: dict[Rule, str] = {}
        self._restarts = [f for f in faults if isinstance(f, Restart)]
        self._pauses = [f for f in faults if isinstance(f, Pause)]
        self._stops = [f for f in faults if isinstance(f, Stop)]
        self._durable = program.durable or frozenset()
        self.observed = _observed(program) | program.observed

    def name_choices(self, rules: Sequence[Rule]) -> None:
        """Name each rule that chooses by its relation, and further ones of a relation by a number."""
        for rule in rules:
            if rule.choices:
                number = 1 + sum(other.relation == rule.relation for other in self.choices)
                self.choices[rule] = rule.relation if number == 1 else f"{rule.relation}.{number}"

    def is_down(self, node: Value, time: int) -> bool:
        return any(r.node == node and r.time <= time < r.until for r in self._restarts)

    def is_paused(self, node: Value, time: int) -> bool:
        return any(p.node == node and p.time <= time < p.until for p in self._pauses)

    def has_stopped(self, node: Value, time: int) -> bool:
        return any(s.node == node and s.time <= time for s in self._stops)

    def runs(self, node: Value, time: int) -> bool:
        halted = self.is_down(node, time) or self.is_paused(node, time) or self.has_stopped(node, time)
        return not halted

    def survives(self, relation: str, row: Row, time: int) -> bool:
        """Whether a row that is there when this time begins is there at this time."""
        return relation in self._durable | self.observed or not self.is_down(row[0], time)

    def received(self, node: Value, time: int) -> int | None:
        """When a node takes in what reaches it at a time."""
        while self.is_paused(node, time):
            time += 1
        return None if self.is_down(node, time) or self.has_stopped(node, time) else time

    def beginnings(self, relation: str, node: Value) -> list[int]:
        """When a node is given a row of its configuration."""
        again = [r.until for r in self._restarts if r.node == node and not self.is_down(node, r.until)]
        if relation in self._durable:
            return [1]
        return again if self.is_down(node, 1) else [1, *again]


def _observed(program: Program) -> frozenset[str]:
    """What only an observer of all nodes would say: promises, and what follows at once for them alone."""
    readers: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.premises:
            readers.setdefault(premise.relation, set()).add(rule.relation)
    stated = {"pre", "post", *_stated(program)}
    reached = set(stated)
    grown = True
    while grown:
        new = {name for name, heads in readers.items() if heads - {name} and heads - {name} <= reached}
        grown = not new <= reached
        reached |= new
    executed = {fact.relation for fact in program.facts} | {given.relation for given in program.inputs}
    executed |= {r.relation for r in program.rules if r.timing is not Timing.SAME}
    reached -= executed
    shrunk = True
    while shrunk:
        kept = {name for name in reached if readers.get(name, set()) <= reached | stated}
        shrunk = kept != reached
        reached = kept
    return frozenset(reached | stated)


def _keep_what_is_halted(history: History, time: int, nodes: _Nodes) -> None:
    """What a node has that does not run at this time, it has at the next."""
    for relation, rows in history[time].items():
        for row in rows:
            # Who is down is seen by whoever looks, and is no row of a node that pauses.
            executed = relation not in nodes.observed and relation not in (CRASH, DOWN)
            kept = (
                nodes.is_paused(row[0], time)
                or nodes.has_stopped(row[0], time)
                or (nodes.is_down(row[0], time) and nodes.survives(relation, row, time))
            )
            if executed and kept and nodes.survives(relation, row, time + 1):
                history[time + 1][relation].add(row)


def _given_rows(program: Program, spec: FailureSpec, faults: FaultSet, nodes: _Nodes) -> History:
    """Facts at their time; what is known of crashes at every time."""
    names = {c.relation for c in (*program.clauses, *program.inputs)}
    names |= {p.relation for r in program.rules for p in r.premises}
    history: History = {t: {name: set() for name in sorted(names)} for t in range(1, spec.eot + 1)}
    for fact in program.facts:
        given: list[int | None] = [*nodes.beginnings(fact.relation, fact.args[0])]
        if fact.time > 1:
            given = [nodes.received(fact.args[0], fact.time)]
        for time in given:
            if time is not None and time <= spec.eot:
                history[time][fact.relation].add(fact.args)
    for given_row in (f for f in faults if isinstance(f, Input)):
        received = nodes.received(given_row.row[0], given_row.time)
        if received is not None and received <= spec.eot:
            history[received][given_row.relation].add(given_row.row)
    if CRASH in names:
        for tables in history.values():
            crashed = [f for f in faults if isinstance(f, Crash | Stop)]
            tables[CRASH] = {(observer, c.node, c.time) for observer in spec.nodes for c in crashed}
    if DOWN in names:
        for time, tables in history.items():
            down = {
                n
                for n in spec.nodes
                if nodes.is_down(n, time) or nodes.has_stopped(n, time) or _has_crashed(n, time, faults.crashes)
            }
            tables[DOWN] = {(observer, node) for observer in spec.nodes for node in down}
    return history


def _with_location(rule: Rule) -> Rule:
    """The rule with a name for its location, if the program wrote ``_`` there."""
    if not isinstance(rule.location, Wildcard) or not rule.positive:
        return rule
    first = rule.positive[0]
    named = replace(first, args=(_SOMEWHERE, *first.args[1:]))
    rest = list(rule.body)
    rest.remove(first)
    return replace(rule, body=(named, *rest))


# Strata: which rules of the same time run before which.


def _strata(rules: Sequence[Rule], time: int) -> list[list[Rule]]:
    """The rules that conclude at the same time, in groups: what negates or aggregates runs after its premises."""
    active = [r for r in rules if r.timing is Timing.SAME and not _waits(r, time)]
    level = {r.relation: 0 for r in active}
    changed = True
    while changed:
        changed = False
        for rule in active:
            needed = max((_needed_level(rule, p, level, time) for p in rule.premises), default=0)
            if needed > level[rule.relation]:
                if needed > len(level):
                    raise ValueError(f"'{rule.relation}' depends on its own negation or aggregation")
                level[rule.relation] = needed
                changed = True
    return [[r for r in active if level[r.relation] == n] for n in sorted(set(level.values()))]


def _needed_level(rule: Rule, premise: Premise, level: Mapping[str, int], time: int) -> int:
    if premise.relation not in level or (isinstance(premise.at, int) and premise.at != time):
        return 0
    complete_first = premise.negated or bool(rule.aggregates) or bool(rule.choices)
    return level[premise.relation] + (1 if complete_first else 0)


def _saturate(rules: Sequence[Rule], history: History, time: int, nodes: _Nodes) -> None:
    changed = True
    while changed:
        changed = False
        for rule in rules:
            rows = {c.row for c in _conclusions(rule, history, time, nodes)}
            table = history[time][rule.relation]
            changed = changed or not rows <= table
            table |= rows


# Later times: persistence and messages.


def _conclude_later(
    rule: Rule, history: History, time: int, spec: FailureSpec, faults: FaultSet, nodes: _Nodes
) -> None:
    if time == spec.eot:
        return
    for conclusion in _conclusions(rule, history, time, nodes):
        if rule.timing is Timing.ASYNC:
            for reached in _arrivals(conclusion, time, spec, faults):
                arrival = nodes.received(conclusion.row[0], reached)
                if arrival is not None and arrival <= spec.eot:
                    history[arrival][rule.relation].add(conclusion.row)
        elif nodes.survives(rule.relation, conclusion.row, time + 1):
            history[time + 1][rule.relation].add(conclusion.row)


def _arrivals(message: Conclusion, time: int, spec: FailureSpec, faults: FaultSet) -> list[int]:
    """When a message sent at ``time`` reaches its receiver: once, twice, or never."""
    sender, receiver = message.sender, message.row[0]
    if sender is None:
        raise ValueError("a message is sent from nowhere")
    if sender == receiver:
        return [time + 1]
    if sender not in spec.nodes or receiver not in spec.nodes:
        return []
    if Loss(sender, receiver, time) in faults or _has_crashed(sender, time, faults.crashes):
        return []
    partitions = (f for f in faults if isinstance(f, Partition) and f.time <= time < f.until)
    if any((sender in partition.group) is not (receiver in partition.group) for partition in partitions):
        return []
    lag = sum(d.lag for d in faults.delays if (d.source, d.target, d.time) == (sender, receiver, time))
    second = [
        time + 1 + d.lag
        for d in faults
        if isinstance(d, Duplicate) and (d.source, d.target, d.time) == (sender, receiver, time)
    ]
    return [time + 1 + lag, *second]


def _has_crashed(node: Value, time: int, crashes: Iterable[Crash]) -> bool:
    return any(c.node == node and c.time <= time for c in crashes)


# One rule at one time.


def _waits(rule: Rule, time: int) -> bool:
    """Whether a premise speaks of a time that has not come yet."""
    return any(isinstance(p.at, int) and time < p.at for p in rule.premises)


def _conclusions(rule: Rule, history: History, time: int, nodes: _Nodes) -> set[Conclusion]:
    if _waits(rule, time):
        return set()
    if rule.aggregates:
        return _aggregated(rule, history, time, nodes)
    found = set()
    for binding in _executed(rule, history, time, nodes):
        try:
            row = tuple(_value(arg, binding) for arg in rule.args)
        except UndefinedError:
            continue
        found.add(Conclusion(_sender(rule, binding), row))
    return found


def _sender(rule: Rule, binding: Binding) -> Value | None:
    if rule.timing is not Timing.ASYNC or isinstance(rule.location, Wildcard):
        return None
    return _value(rule.location, binding)


def _executed(rule: Rule, history: History, time: int, nodes: _Nodes) -> Iterator[Binding]:
    """The ways to satisfy the body at places that run."""
    places = [rule.location] if rule.timing is Timing.ASYNC else [rule.location, rule.args[0]]
    bindings = list(_bindings(rule, history, time))
    if rule.choices:
        bindings = _chosen(rule, bindings, time, nodes)
    for binding in bindings:
        known = [_value(p, binding) for p in places if isinstance(p, Const) or p in binding]
        if rule.relation in nodes.observed or all(nodes.runs(place, time) for place in known):
            yield binding


def _chosen(rule: Rule, bindings: Sequence[Binding], time: int, nodes: _Nodes) -> list[Binding]:
    """Those of the bindings that have what is chosen for their place and key."""
    (choose,) = rule.choices
    name = nodes.choices[rule]
    keys: list[HeadArg] = [rule.location, *(v for v in dict.fromkeys(choose.keys) if v != rule.location)]
    offered: dict[Row, set[Row]] = {}
    for binding in bindings:
        place = _value(rule.location, binding)
        if rule.relation in nodes.observed or nodes.runs(place, time):
            key = tuple(_value(k, binding) for k in keys)
            offered.setdefault(key, set()).add(tuple(binding[v] for v in choose.values))
    taken: dict[Row, Row] = {}
    for key, options in offered.items():
        picked = {option for option in options if Pick(name, (*key, *option), time) in nodes.picks}
        taken[key] = min(picked or options, key=lambda option: tuple(map(_order, option)))
        if nodes.offers is not None:
            nodes.offers.append(Offer(name, frozenset((*key, *option) for option in options), time))
    found = []
    for binding in bindings:
        key = tuple(_value(k, binding) for k in keys)
        if taken.get(key) == tuple(binding[v] for v in choose.values):
            found.append(binding)
    return found


def _aggregated(rule: Rule, history: History, time: int, nodes: _Nodes) -> set[Conclusion]:
    """One conclusion for each group: the sender (of a message) and the plain arguments of the head."""
    groups: dict[Conclusion, list[Binding]] = {}
    for binding in _executed(rule, history, time, nodes):
        try:
            plain = tuple(_value(a, binding) for a in rule.args if not isinstance(a, Aggregate))
        except UndefinedError:
            continue
        groups.setdefault(Conclusion(_sender(rule, binding), plain), []).append(binding)
    return {Conclusion(g.sender, _aggregate_row(rule, g.row, members)) for g, members in groups.items()}


def _aggregate_row(rule: Rule, plain: Row, members: Sequence[Binding]) -> Row:
    rest = iter(plain)
    return tuple(
        _aggregate(arg.function, _counted(arg, members)) if isinstance(arg, Aggregate) else next(rest)
        for arg in rule.args
    )


def _counted(aggregate: Aggregate, members: Sequence[Binding]) -> list[Value]:
    """The values that count: equal ones once, or, where they are told apart by others, once for each of those."""
    distinct = {(b[aggregate.var], *(b[v] for v in aggregate.per)) for b in members}
    return [value for value, *_ in distinct]


def _aggregate(function: AggregateName, values: Sequence[Value]) -> Value:
    """Strings count, and have a place in the order, but add nothing to a sum."""
    total = sum(v for v in values if isinstance(v, int))
    match function:
        case "count":
            return len(values)
        case "sum":
            return total
        case "avg":
            return _divide(total, len(values))
        case "min":
            return min(values, key=_order)
        case "max":
            return max(values, key=_order)


def _bindings(rule: Rule, history: History, time: int, known: Binding | None = None) -> Iterator[Binding]:
    """Every way to satisfy the body, where some variables may be known."""
    found: list[Binding] = [{**(known or {}), **{p.at: time for p in rule.premises if isinstance(p.at, Var)}}]
    for premise in rule.positive:
        rows = _rows(premise, history, time)
        matches = (_match(premise.args, row, binding) for binding in found for row in rows)
        found = [m for m in matches if m is not None]
    for binding in found:
        absent = all(
            _match(p.args, row, binding) is None for p in rule.negative for row in _rows(p, history, time)
        )
        if absent and all(_holds(c, binding) for c in rule.comparisons):
            yield binding


def _rows(premise: Premise, history: History, time: int) -> set[Row]:
    return history[premise.at if isinstance(premise.at, int) else time][premise.relation]


def _match(args: Sequence[Term], row: Row, binding: Binding) -> Binding | None:
    """The binding extended so that the arguments are this row; None if they cannot be.

    A variable that nothing has bound takes any value, which under negation is the reading of ``_``.
    """
    extended = dict(binding)
    for arg, value in zip(args, row, strict=True):
        match arg:
            case Const(constant) if constant != value:
                return None
            case Var() if extended.setdefault(arg, value) != value:
                return None
    return extended


# Values.


def _value(expr: HeadArg, binding: Binding) -> Value:
    match expr:
        case Const(value):
            return value
        case Var():
            return binding[expr]
        case BinOp(op, left, right):
            return _compute(op, _value(left, binding), _value(right, binding))
        case _:
            raise ValueError(f"{expr} has no value")


def _compute(op: ArithmeticOp, left: Value, right: Value) -> int:
    if not isinstance(left, int) or not isinstance(right, int):
        raise UndefinedError(f"{left!r} {op} {right!r}")
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return _divide(left, right)


def _divide(left: int, right: int) -> int:
    """Integer division that truncates toward zero."""
    if right == 0:
        raise UndefinedError(f"{left} / 0")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _holds(comparison: Comparison, binding: Binding) -> bool:
    try:
        left, right = _value(comparison.left, binding), _value(comparison.right, binding)
    except UndefinedError:
        return False
    before, after = _order(left) < _order(right), _order(left) > _order(right)
    match comparison.op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return before
        case "<=":
            return not after
        case ">":
            return after
        case ">=":
            return not before


def _order(value: Value) -> tuple[bool, int, bytes]:
    """Numbers before strings; strings by their bytes."""
    if isinstance(value, int):
        return (False, value, b"")
    assert isinstance(value, str), "the text of Dedalus has no other values"
    return (True, 0, value.encode())
