"""A Bloom program as a program of the IR, so that everything that checks Dedalus checks it.

Every collection is a relation with the node as its first column; the location of a channel *is* that column.

========== ======================================================================================
``<=``     a rule of the same time
``<+``     a rule for the next time
``<~``     a message; a loopback is a message to the node itself, which is never lost
``<-``     a row of a helper relation; a row of a table stays unless it is there
table      its rows stay, as far as they are not deleted; deleted and derived again, a row stays, too
periodic   has a row at every time: a timer may fire at any time, and so nothing can be hidden by one that does not
lattice    all that was merged into it stays, in a helper relation; see ``lattices``
die        its rows must never be there: ``never_die``, a promise for each rule
outcomes   relations of no node; rows of other collections are read with the node they are at
========== ======================================================================================

Rows are compared as wholes: two rows with the same key, of which a node would refuse the second, are both there.
Truth values are the numbers 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clew.bloom.ir.expressions import LatticeRef
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.language.capture import statement_at
from clew.bloom.language.setting import Given, Setting
from clew.bloom.to_program.bodies import HERE, NODES, Place, RuleWriter
from clew.bloom.to_program.lattices import (
    EXTREMES,
    entry_relation,
    parts_relation,
    refuse_unknown,
    shift,
    value_of_parts,
)
from clew.bloom.to_program.recursion import find_recursion
from clew.bloom.to_program.rows import RowTranslator
from clew.errors import Notice, ProgramError
from clew.faults import NodeName
from clew.program import ir
from clew.program.assertions import NEVER, POST, PRE, is_never, other_half, stem_of
from clew.program.ir import CRASH, Fact, Premise, Program, Timing, Var
from clew.program.notices import find_unread, unread_notice

_TIMINGS = {Op.NOW: Timing.SAME, Op.NEXT: Timing.NEXT, Op.DELETE: Timing.SAME, Op.SEND: Timing.ASYNC}


@dataclass(frozen=True)
class Translation:
    """The program that is checked, and what it leaves out or takes for something else."""

    program: Program
    notices: tuple[Notice, ...]


def translate(program: BloomProgram, setting: Setting) -> Translation:
    """Translate a program, with the rows that the setting gives."""
    return _Translator(program, setting).translate()


class _Translator:
    def __init__(self, program: BloomProgram, setting: Setting) -> None:
        self._program = program
        self._setting = setting
        self._outcome_targets = dict.fromkeys(rule.target for rule in program.outcomes)
        self._places = {c.name: _place_of(c) for c in program.collections}
        self._helpers: dict[str, None] = {}
        self._observed = set(self._outcome_targets)  # with the helpers of outcomes, which belong to no node either
        self._recursion = find_recursion(program)
        self._refuse_mixtures()

    def _refuse_mixtures(self) -> None:
        for collection in self._program.collections:
            if collection.name in ir.BUILT_IN:
                says = "which nodes crash" if collection.name == CRASH else "which nodes are down"
                raise ProgramError(
                    f"a collection is called '{collection.name}'",
                    position=collection.position,
                    remedy=f"rename it: in checked programs, '{collection.name}' says {says}",
                )
            named = self._places[collection.name].relation
            if collection.kind is Kind.DIE and named in self._program.by_name:
                raise ProgramError(
                    f"a collection is called '{named}'",
                    position=self._program.by_name[named].position,
                    remedy="rename it: in checked programs, that is what an invariant of 'die' is called",
                )
            if is_never(collection.name) and collection.kind not in (Kind.SCRATCH, Kind.TEMP):
                raise ProgramError(
                    f"'{collection.name}' is a {collection.kind.value}, and keeps or carries rows",
                    position=collection.position,
                    remedy=f"declare it with scratch(): in checked programs, a row of '{collection.name}' is a "
                    "violation at any time, and need not be kept",
                )
        for rule in self._program.rules:
            if rule.target in self._outcome_targets:
                raise ProgramError(
                    f"{rule.block}: '{rule.target}' is derived at nodes and by an outcome, which belongs to none",
                    position=rule.position,
                    remedy="use two collections",
                )

    def translate(self) -> Translation:
        every = (*self._program.rules, *self._program.outcomes)
        # Numbered through all rules: helpers are named by it, and must differ.
        rules = [r for index, rule in enumerate(every) for r in self._rules(rule, index)]
        deleted = dict.fromkeys(r.target for r in every if r.op is Op.DELETE)
        for index, collection in enumerate(self._program.collections, start=len(every)):
            rules += self._upkeep(collection, collection.name in deleted, index)
        clauses: list[Fact | ir.Rule] = [*self._facts(), *rules]
        if any(p.relation == NODES for rule in rules for p in rule.premises):
            clauses = [*self._node_facts(), *clauses]
        durable = frozenset(c.name for c in self._program.collections if c.durable)
        program = Program(tuple(clauses), frozenset(self._helpers), durable, frozenset(self._observed))
        return Translation(program, tuple(self._notices(rules)))

    # -- rules ---------------------------------------------------------------------------------------------------

    def _rules(self, rule: Rule, index: int) -> list[ir.Rule]:
        is_outcome = index >= len(self._program.rules)
        target = self._program.by_name[rule.target]
        text = f"{rule.block}: {statement_at(rule.position) or rule}"
        writer = RuleWriter(rule, index, text, is_outcome, self._recursion.cycle_of(rule))
        self._refuse_kinds(writer, target)
        if target.kind is Kind.STDIO or rule in self._recursion.replaced:
            return []  # what is printed changes nothing; what is replaced is part of the upkeep of its target
        # An outcome reads collections of outcomes by name, those of nodes only with the node in front.
        readable = {n: p for n, p in self._places.items() if is_outcome <= (n in self._outcome_targets)}
        relation = self._target_relation(target, rule.op)
        all_nodes = self._places if is_outcome else {}
        for body in RowTranslator(writer, readable, all_nodes).bodies(rule.expr, len(target.schema.columns)):
            args = self._head(writer, target, body.columns)
            writer.conclude(relation, args, body, _TIMINGS[rule.op])
        self._helpers.update(writer.helpers)
        if is_outcome:
            self._observed.update((relation, *writer.helpers))
        return writer.rules

    def _target_relation(self, target: Collection, op: Op) -> str:
        """Return the relation that gets the rows: the collection's own, or a helper."""
        relation = self._places[target.name].relation
        if op is Op.DELETE:
            relation = _deletions_of(target.name)
        elif target.name in self._recursion.offsets:
            relation = entry_relation(target.name)
        elif target.lattice is not None:
            relation = parts_relation(target.name, target.lattice)
        if relation not in (target.name, self._places[target.name].relation):
            self._helpers[relation] = None
        return relation

    def _refuse_kinds(self, writer: RuleWriter, target: Collection) -> None:
        if target.lattice is not None:
            refuse_unknown(writer, target.lattice)
        if writer.is_outcome and writer.rule.op is Op.SEND:
            raise writer.refusal("an outcome sends", "it belongs to no node: derive a scratch with <=")

    def _head(self, writer: RuleWriter, target: Collection, columns: Sequence[ir.Expr]) -> tuple[ir.HeadArg, ...]:
        location = self._places[target.name].location
        if location is None:
            return (*writer.here, *columns)
        return (columns[location], *(c for k, c in enumerate(columns) if k != location))

    def _upkeep(self, collection: Collection, deleted: bool, index: int) -> Iterator[ir.Rule]:
        """Yield the rules by which rows stay, or appear, without any rule of the program."""
        place = self._places[collection.name]
        here = () if collection.name in self._outcome_targets else (HERE,)
        if collection.kind is Kind.TABLE:
            args = (*here, *(Var(f"V{k}") for k in range(place.width)))
            body = [Premise(collection.name, args, position=collection.position)]
            if deleted:
                name = _deletions_of(collection.name)
                # Deletion is for the next time, when the row is not carried over.
                body.append(Premise(name, args, negated=True, position=collection.position))
            text = f"{collection.module}.{collection.name}: rows of a table stay"
            yield ir.Rule(collection.name, args, Timing.NEXT, tuple(body), collection.position, text)
        if collection.lattice is not None:
            yield from self._lattice_upkeep(collection, collection.lattice, index)
        if collection.kind is Kind.PERIODIC:
            now = Var("Now")
            # The time is the key: a number that is new every time, as a timer of a node has.
            premise = Premise(NODES, (HERE,), at=now, position=collection.position)
            text = f"{collection.module}.{collection.name}: fires at every time"
            yield ir.Rule(collection.name, (HERE, now, now), Timing.SAME, (premise,), collection.position, text)

    def _lattice_upkeep(self, collection: Collection, lattice: str, index: int) -> Iterator[ir.Rule]:
        """Yield the rules of a lattice: what was merged stays; the largest or smallest of it is the value."""
        block = f"{collection.module}.{collection.name}"
        rule = Rule(collection.name, Op.NOW, LatticeRef(collection.name, lattice), block, collection.position)
        text = f"{block}: what was merged into a lattice stays"
        writer = RuleWriter(rule, index, text, collection.name in self._outcome_targets)
        parts = Place(parts_relation(collection.name, lattice), 1)
        offsets = self._recursion.offsets.get(collection.name, {})
        for source, by in offsets.items():
            part = shift(writer, writer.all_of(Place(entry_relation(source), 1)), by)
            writer.conclude(parts.relation, (*writer.here, *part.columns), part)
        if offsets:
            self._helpers.update(dict.fromkeys((parts.relation, entry_relation(collection.name))))
        kept = Place(entry_relation(collection.name), 1) if offsets else parts
        row = writer.all_of(kept)
        writer.conclude(kept.relation, (*writer.here, *row.columns), row, Timing.NEXT)
        if lattice in EXTREMES:
            value = value_of_parts(writer, lattice, parts)
            writer.conclude(collection.name, (*writer.here, *value.columns), value)
        self._helpers.update(writer.helpers)
        yield from writer.rules

    # -- facts ---------------------------------------------------------------------------------------------------

    def _node_facts(self) -> Iterator[Fact | ir.Rule]:
        self._helpers[NODES] = None
        yield from (Fact(NODES, (node,)) for node in self._setting.nodes)
        yield ir.Rule(NODES, (HERE,), Timing.NEXT, (Premise(NODES, (HERE,)),), text="nodes stay nodes")

    def _facts(self) -> Iterator[Fact]:
        for given in self._setting.given:
            for row in self._columns(given):
                yield Fact(given.collection, row, given.time, self._setting.position)

    def _columns(self, given: Given) -> Iterator[tuple[ir.Value, ...]]:
        collection = self._program.by_name.get(given.collection)
        if collection is None or collection.kind in (Kind.PERIODIC, Kind.LATTICE, Kind.DIE):
            known = ", ".join(c.name for c in self._program.collections if c.kind is not Kind.LATTICE)
            what = "is none of the program" if collection is None else f"is a {collection.kind.value}"
            message = f"rows are given to '{given.collection}', which {what}"
            raise ProgramError(message, position=self._setting.position, remedy=f"the collections are {known}")
        location, width = self._places[collection.name].location, len(collection.schema.columns)
        for row in given.rows:
            self._check_given(given.node, row, location, width, collection)
            yield (given.node, *(v for k, v in enumerate(row) if k != location))

    def _check_given(
        self, node: NodeName, row: tuple[ir.Value, ...], location: int | None, width: int, collection: Collection
    ) -> None:
        remedy = f"its columns are {', '.join(collection.schema.columns)}"
        if len(row) != width:
            message = f"the row {row!r} is given to '{collection.name}', which has {width} columns"
            raise ProgramError(message, position=self._setting.position, remedy=remedy)
        if location is not None and row[location] != node:
            message = f"the row {row!r} is given to '{collection.name}' at '{node}', where it would not arrive"
            raise ProgramError(message, position=self._setting.position, remedy=remedy)

    # -- notices -------------------------------------------------------------------------------------------------

    def _notices(self, rules: Sequence[ir.Rule]) -> Iterable[Notice]:
        yield from self._forgotten_outcomes()
        yield from self._unread(rules)
        keyed = [
            c for c in self._program.collections if c.kind not in (Kind.PERIODIC, Kind.LATTICE) and c.schema.values
        ]
        if keyed:
            names = ", ".join(f"'{c.name}'" for c in keyed)
            yield Notice(
                f"two rows with the same key and other values are not noticed in {names}",
                keyed[0].position,
                "a node would refuse the second; if that can happen, say in an outcome that it must not",
            )

    def _unread(self, rules: Sequence[ir.Rule]) -> Iterator[Notice]:
        """Warn of temps and collections of outcomes that nothing reads: a misspelt temp is a new one."""
        collections = self._program.collections
        private = [c.name for c in collections if c.kind is Kind.TEMP or c.name in self._outcome_targets]
        for group in find_unread([name for name in private if stem_of(name) is None], rules):
            known = [c.name for c in collections]
            yield unread_notice(group, self._program.by_name[group[0]].position, known)

    def _forgotten_outcomes(self) -> Iterator[Notice]:
        """Warn of promises that are declared and never derived: then something else is checked."""
        derived = {rule.target for rule in (*self._program.rules, *self._program.outcomes)}
        stated = [c for c in self._program.collections if self._states_promise(c.name)]
        remedy = "mark the block that derives it with @outcome, or leave the declaration out"
        if stated and not any(c.name in derived for c in stated):
            instead = "it is checked that what persists does not get lost"
            yield Notice(f"no rule derives '{stated[0].name}': {instead}", stated[0].position, remedy)
            return
        for collection in stated:
            # Half of a pair that is derived is refused, as in any program.
            if collection.name not in derived and (
                is_never(collection.name) or other_half(collection.name) not in derived
            ):
                yield Notice(
                    f"no rule derives '{collection.name}': nothing is promised by it", collection.position, remedy
                )

    def _states_promise(self, name: str) -> bool:
        """Tell whether a collection is half of a pair of which both are declared, or what must never hold."""
        if stem_of(name) is None or name in (PRE, POST) or is_never(name):
            return stem_of(name) is not None
        return other_half(name) in self._program.by_name


def _place_of(collection: Collection) -> Place:
    schema = collection.schema
    location = schema.index(schema.location) if collection.kind is Kind.CHANNEL and schema.location else None
    return Place(_relation_of(collection), len(schema.columns), location)


def _relation_of(collection: Collection) -> str:
    """Return what the rows of a collection are called; those of ``die`` must never be there."""
    return f"{NEVER}_{collection.name}" if collection.kind is Kind.DIE else collection.name


def _deletions_of(collection: str) -> str:
    return f"({collection}, deleted)"
