"""The dataflow of a Dedalus program.

A relation with a rule ``p@next :- p`` is a table, one that is concluded ``@async`` a channel.  ``pre``, ``post``
and the views that only they use are no part of the program: the relations that they look at are its outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from clew.analysis.calm.dataflow.graph import (
    Aggregation,
    Combination,
    Dataflow,
    Edge,
    Leaf,
    Node,
    NodeKind,
    Reading,
    Statement,
)
from clew.analysis.calm.refinements.monotone_columns import (
    OF_AGGREGATE,
    AnalysableRule,
    Changing,
    Column,
    Direction,
    Reads,
    RuleAnalysis,
    Trusted,
    analyse_rules,
    find_misuse,
    shift_column,
)
from clew.dedalus.printer import print_clause
from clew.errors import Notice, ProgramError
from clew.program.assertions import assertion_names
from clew.program.ir import (
    BUILT_IN,
    Aggregate,
    BinOp,
    Const,
    HeadArg,
    Program,
    Rule,
    Timing,
    Var,
    expr_vars,
)
from clew.program.outcomes import persistent_relations


def dedalus_dataflow(program: Program, name: str, notices: Sequence[Notice] = ()) -> Dataflow:
    """Return the graph of a program that was checked; refuse one that chooses."""
    for choice in program.choices:
        raise ProgramError(
            "what 'choose' takes nobody decides, so that no order of messages makes the outcome certain",
            position=choice.position,
            remedy="write min<Y> or max<Y> for one of them, or leave the rule out to analyse the others",
        )
    asserted = _assertions(program)
    lasting = persistent_relations(program)
    # ``p@next :- p`` makes a table of p; as a rule it would be a cycle that says nothing.
    rules = [r for r in program.rules if r.relation not in asserted and not _is_persistence(r, lasting)]
    nodes = _nodes(program, rules, asserted)
    read = {p.relation for rule in rules for p in rule.premises}
    found = analyse_rules(
        [AnalysableRule(r.relation, r.timing is Timing.SAME, partial(_understand, r)) for r in rules],
        frozenset(n.name for n in nodes if n.kind is NodeKind.SCRATCH and not n.observed and n.name in read),
    )
    edges = (
        Edge(
            one.collection,
            rule.relation,
            number,
            sends=rule.timing is Timing.ASYNC,
            temporal=rule.timing is Timing.NEXT,
            reason=one.reason,
            refined=one.refined,
        )
        for number, (rule, whole) in enumerate(zip(rules, found, strict=True))
        for one in whole.reads
    )
    return Dataflow(name, nodes, tuple(map(_statement, rules)), tuple(edges), tuple(notices))


def _is_persistence(rule: Rule, lasting: Sequence[str]) -> bool:
    return (
        rule.relation in lasting
        and rule.timing is Timing.NEXT
        and len(rule.body) == 1
        and rule.premises[0].relation == rule.relation
        and rule.premises[0].args == rule.args
    )


def _assertions(program: Program) -> frozenset[str]:
    """Return the relations of promises and what only they use; but what is kept or sent belongs to the program."""
    # What is kept or sent has effects that ``post`` only looks at: it cannot be a mere view.
    own = {rule.relation for rule in program.rules if rule.timing is not Timing.SAME}
    users: dict[str, set[str]] = {}
    for rule in program.rules:
        for premise in rule.premises:
            users.setdefault(premise.relation, set()).add(rule.relation)
    found = set(assertion_names(program))
    while True:
        # A relation that nobody uses is no view of an assertion but an output, hence the test for other heads.
        more = {name for name, heads in users.items() if heads - {name} and heads <= found | {name}} - own - found
        if not more:
            return frozenset(found)
        found |= more


# -- relations ---------------------------------------------------------------------------------------------------


def _nodes(program: Program, rules: Sequence[Rule], asserted: frozenset[str]) -> tuple[Node, ...]:
    named: dict[str, None] = {}
    for clause in program.clauses:
        if clause.relation not in asserted:
            named[clause.relation] = None
    for rule in rules:
        named.update({p.relation: None for p in rule.premises if p.relation not in BUILT_IN})
    looked_at = {p.relation for r in program.rules if r.relation in asserted for p in r.premises}
    concluded = {rule.relation for rule in rules}
    kept = _find_tables(program)
    sent = {rule.relation for rule in rules if rule.timing is Timing.ASYNC}
    positions = {clause.relation: clause.position for clause in reversed(program.clauses)}
    return tuple(
        Node(
            name,
            NodeKind.TABLE if name in kept else NodeKind.CHANNEL if name in sent else NodeKind.SCRATCH,
            given=_is_given(program, name, name in kept),
            observed=name in looked_at and name in concluded,
            position=positions.get(name),
        )
        for name in named
    )


def _find_tables(program: Program) -> frozenset[str]:
    """Return the relations whose rows stay, if only until something takes them away."""
    # ``p@next :- p, !del`` still keeps p, until del comes: a table with deletions.
    conditional = (
        r.relation
        for r in program.rules
        if r.timing is Timing.NEXT and any(p.relation == r.relation and p.args == r.args for p in r.positive)
    )
    return frozenset((*persistent_relations(program), *conditional))


def _is_given(program: Program, name: str, kept: bool) -> bool:
    """Tell whether rows come from outside: events, or what begins later than the program.

    What is there from the first time on and stays is no event; it has no order.
    """
    times = [fact.time for fact in program.facts if fact.relation == name]
    concluded = any(rule.relation == name for rule in program.rules)
    # Without facts and rules, rows can only come from outside the text.
    if not times:
        return not concluded
    return not kept or any(time > 1 for time in times)


# -- rules -------------------------------------------------------------------------------------------------------


def _statement(rule: Rule) -> Statement:
    return Statement(
        rule.relation,
        rule.text or print_clause(rule),
        "",
        _reading(rule),
        rule.timing is Timing.ASYNC,
        rule.position,
        later=rule.timing is Timing.NEXT,
    )


def _reading(rule: Rule) -> Reading | None:
    sides = tuple(Leaf(p.relation) for p in rule.positive if p.relation not in BUILT_IN)
    if not sides:
        return None
    reading = Combination(sides) if len(sides) > 1 else sides[0]
    return Aggregation(reading) if rule.aggregates else reading


def _understand(rule: Rule, trusted: Trusted) -> RuleAnalysis:
    reader = _Reader(rule, trusted)
    reader.compare()
    columns = tuple(reader.column(arg) for arg in rule.args)
    if rule.timing is not Timing.SAME or rule.relation not in trusted:
        reader.use(columns)
        columns = ()
    return RuleAnalysis(reader.reads(), reader.misused, columns)


class _Reader:
    """One rule: which of its variables change, and what it does with them."""

    def __init__(self, rule: Rule, trusted: Trusted) -> None:
        self._rule = rule
        self._used: dict[int | str, None] = {}
        self._bound: dict[Var, Column] = {}
        occurring = [a for p in rule.premises for a in p.args if isinstance(a, Var)]
        for premise in rule.positive:
            columns = trusted.get(premise.relation, ())
            for arg, column in zip(premise.args, columns, strict=False):
                # A variable that occurs twice is compared for equality, which a
                # changing value makes true and false again.
                if isinstance(arg, Var) and occurring.count(arg) == 1:
                    self._bound[arg] = column
                elif isinstance(arg, Var | Const):
                    self.use([column])  # rows that are equal in it meet
        # A called function uses its arguments in ways that are not seen.
        for call in rule.calls:
            self.use(self._bound.get(v) for arg in call.args for v in expr_vars(arg))

    @property
    def misused(self) -> frozenset[str]:
        return frozenset(owner for owner in self._used if isinstance(owner, str))

    def use(self, columns: Iterable[Column]) -> None:
        for column in columns:
            if column is not None:
                self._used.update(dict.fromkeys(column.owners))

    def compare(self) -> None:
        for comparison in self._rule.comparisons:
            sides = self.column(comparison.left), self.column(comparison.right)
            self._used.update(dict.fromkeys(find_misuse(comparison.op, *sides)))

    def column(self, arg: HeadArg) -> Column:
        match arg:
            case Aggregate(function, var, per):
                self.use(self._bound.get(v) for v in (var, *per))
                return Changing(OF_AGGREGATE.get(function, Direction.ANY), (0,))
            case Var():
                return self._bound.get(arg)
            case BinOp(op, left, right):
                factor = next((s.value for s in (right, left) if isinstance(s, Const)), None)
                return shift_column(op, self.column(left), self.column(right), factor)
        found = [c for c in (self._bound.get(v) for v in expr_vars(arg)) if c is not None]
        return Changing(Direction.ANY, tuple(o for c in found for o in c.owners)) if found else None

    def reads(self) -> tuple[Reads, ...]:
        """Return what each relation is read for; the reasons are those of the rule as a whole."""
        rule = self._rule
        functions = ", ".join(dict.fromkeys(a.function for a in rule.aggregates))
        absent = {p.relation for p in rule.negative}
        found: dict[str, Reads] = {}
        for premise in rule.premises:
            name = premise.relation
            if name in BUILT_IN or name in found:
                continue
            if name in absent:
                found[name] = Reads(name, f"notin {name}")
            elif functions:
                said = f"{functions} over {name}"
                found[name] = Reads(name, said) if 0 in self._used else Reads(name, refined=said)
            # ``p@next :- p, !q`` is how Dedalus deletes: p is read in a way that is not monotone, too.
            elif absent and rule.timing is Timing.NEXT and name == rule.relation:
                found[name] = Reads(name, f"{name} loses rows")
            else:
                found[name] = Reads(name)
        return tuple(found.values())
