"""Trace rewriting (thesis, section 2.3): a program with collections that hold what selected rules derive.

A *firing* of a rule is a row that its right-hand side gives in a step, as things are at the end of that step.
What a rule with ``<=`` puts into a table, or merges into a lattice, is kept, so that to derive it again does
nothing: of these rules, what was there from the same rule at the end of the step before is none.  Neither depends
on how a step is evaluated.

Two rewrites give these rows, and leave everything else of a step as it is:

- *tee*: the body becomes a collection, from which the rule and its trace are derived.  Functions are called no
  more often than before.
- *copy*: a second rule with the same body.  It is for rules of which only new rows are evaluated, since a
  collection for all of the body would cost the size of the tables in each step; for rules of a recursion, where
  one more collection would be one more round; and for lattices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from clew.bloom.ir.expressions import AnyExpr, LatticeExpr, Ref
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.ir.strata import Stratum, stratify
from clew.bloom.runtime.prepared import Prepared, is_row_by_row, prepare


class Traced(NamedTuple):
    """A rewritten program, ready to run; ``firings``: the collection with the rows of each traced rule."""

    prepared: Prepared
    firings: Mapping[int, str]


def rewrite(program: BloomProgram, selected: Iterable[int]) -> Traced:
    """Rewrite a program so that the rules with these numbers are traced."""
    wanted = frozenset(selected)
    strata = stratify(program.rules, [c.name for c in program.collections])
    rewriter = _Rewriter(program, strata)
    rules: list[Rule] = []
    origins: list[Rule] = []
    for number, rule in enumerate(program.rules):
        made = list(rewriter.rewrite(number, rule)) if number in wanted else [rule]
        rules += made
        origins += [rule] * len(made)
    traced = replace(program, collections=(*program.collections, *rewriter.made), rules=tuple(rules))
    return Traced(_with_origins(prepare(traced), traced, origins), rewriter.firings)


def _with_origins(prepared: Prepared, traced: BloomProgram, origins: Sequence[Rule]) -> Prepared:
    """Let whatever the rules report name those of the user's program."""
    # By identity: a rule that stands in the program twice is equal to itself.
    original = {id(rule): origin for rule, origin in zip(traced.rules, origins, strict=True)}
    form = prepared.form
    return replace(prepared, form=replace(form, origins=tuple(original[id(rule)] for rule in form.origins)))


class _Rewriter:
    """``made`` are the collections that the rewritten rules need."""

    def __init__(self, program: BloomProgram, strata: Sequence[Stratum]) -> None:
        self._kinds = program.by_name
        self._recursive = {name for stratum in strata if stratum.recursive for name in stratum.collections}
        self.made: list[Collection] = []
        self.firings: dict[int, str] = {}

    def rewrite(self, number: int, rule: Rule) -> Iterator[Rule]:
        """Yield the rules that do what a rule did, and keep what it derives."""
        target = self._kinds[rule.target]
        if isinstance(rule.expr, LatticeExpr):
            # A lattice, and not the rows of all its values: those of a counter would be as many as it has counted.
            yield self._trace(number, rule, Kind.LATTICE, rule.expr)
            yield rule
            return
        keeps = target.kind in (Kind.TABLE, Kind.DIE) and rule.op is Op.NOW
        kind = Kind.TABLE if keeps else Kind.SCRATCH
        if self._must_copy(rule, target):
            yield self._trace(number, rule, kind, rule.expr)
            yield rule
            return
        columns = target.schema.columns
        body = self._make(f"(body {number})", Kind.SCRATCH, rule)
        rows = Ref(body, columns, (columns,))
        yield replace(rule, target=body, op=Op.NOW)
        yield replace(rule, expr=rows)
        if keeps:
            yield self._trace(number, rule, kind, rows)
        else:
            self.firings[number] = body

    def _must_copy(self, rule: Rule, target: Collection) -> bool:
        if rule.op is not Op.NOW:
            return False
        only_new = target.kind in (Kind.TABLE, Kind.DIE) and is_row_by_row(rule.expr)
        return only_new or rule.target in self._recursive

    def _trace(self, number: int, rule: Rule, kind: Kind, body: AnyExpr) -> Rule:
        name = self.firings[number] = self._make(f"(fired {number})", kind, rule)
        return replace(rule, target=name, op=Op.NOW, expr=body)

    def _make(self, name: str, kind: Kind, rule: Rule) -> str:
        target = self._kinds[rule.target]
        # Every column is a key: two rows that are in conflict in the target have both been derived.
        schema = target.schema if kind is Kind.LATTICE else Schema(target.schema.columns)
        made = Collection(name, kind, schema, target.module, lattice=target.lattice, position=rule.position)
        self.made.append(made)
        return name
