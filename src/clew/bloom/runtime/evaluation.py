"""Evaluate one step's ``<=`` rules to their fixpoint, stratum by stratum, and what other rules derive from that.

Each stratum has a runner for what it consists of, see ``strata``.  What a stratum needs of those
before it is complete when it runs: their rows, and what is different in them since the last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clew.bloom.ir.expressions import LatticeExpr
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.strata import Stratum
from clew.bloom.runtime.compiler import Compiler
from clew.bloom.runtime.operators.lattices import LatticeOperator
from clew.bloom.runtime.operators.rows import Operator
from clew.bloom.runtime.prepared import Prepared, RuleShape
from clew.bloom.runtime.rejections import Rejections, Reports
from clew.bloom.runtime.storage import Cell, Store
from clew.bloom.runtime.strata.merging import Batch
from clew.bloom.runtime.strata.once import Anew, KeptCollection, LatticeTarget, Runner, TableTarget
from clew.bloom.runtime.strata.recursion import KeptRounds
from clew.bloom.runtime.strata.rounds import Rounds
from clew.bloom.runtime.strata.tasks import Task
from clew.bloom.runtime.surroundings import Surroundings


class Evaluation:
    """Evaluates the program of a node."""

    def __init__(
        self,
        prepared: Prepared,
        stores: Mapping[str, Store],
        cells: Mapping[str, Cell],
        address: str,
        rejections: Rejections,
    ) -> None:
        self._stores = stores
        self._cells = cells
        self._rejections = rejections
        self._widths = {c.name: len(c.schema.columns) for c in prepared.program.collections}
        form = prepared.form
        tasks = [
            self._task(rule, origin, shape, address)
            for rule, origin, shape in zip(form.rules, form.origins, prepared.shapes, strict=True)
        ]
        self._was_given_up = False
        self._surroundings = Surroundings(prepared.names_used)
        self._takers: dict[str, KeptCollection | Rounds] = {}
        self._strata = [self._runner(s, [tasks[number] for number in s.rules]) for s in prepared.strata]
        self._later = {
            op: [tasks[k] for k, rule in enumerate(form.rules) if rule.op is op]
            for op in (Op.NEXT, Op.DELETE, Op.SEND)
        }

    def _task(self, rule: Rule, origin: Rule, shape: RuleShape, address: str) -> Task:
        reports = Reports(self._rejections, origin)
        retract = reports.retract if shape.by_changes else None
        compiler = Compiler(
            self._stores, self._cells, address, reports.report, retract, rule.position, shape.counted
        )
        operator: Operator | LatticeOperator
        if isinstance(rule.expr, LatticeExpr):
            operator = compiler.lattice(rule.expr)
        else:
            operator = compiler.rows(rule.expr)
            # The rule could not be checked when it was read, so its rows are checked now.
            if not rule.expr.columns and rule.target in self._widths:
                operator = compiler.require_width(operator, self._widths[rule.target])
        return Task(
            origin,
            rule.target,
            operator,
            shape.reads,
            [self._cells[name] if name in self._cells else self._stores[name] for name in shape.reads],
            reports,
            compiler.products,
            only_new=shape.only_new,
            joins=rule.target in self._stores and shape.joins,
            by_changes=shape.by_changes,
            always=shape.always,
        )

    def _runner(self, stratum: Stratum, tasks: Sequence[Task]) -> Runner:
        if stratum.recursive:
            return self._recursive_runner(stratum, tasks)
        (name,) = stratum.collections
        if name in self._cells:
            return LatticeTarget(self._cells[name], tasks)
        store = self._stores[name]
        if store.persists:
            return TableTarget(name, store, tasks, self._rejections)
        if not store.lasts:
            return Anew(name, store, tasks, self._rejections)
        made = self._takers[name] = KeptCollection(name, store, tasks, self._rejections)
        return made

    def _recursive_runner(self, stratum: Stratum, tasks: Sequence[Task]) -> Runner:
        names = stratum.collections
        stores = {name: self._stores[name] for name in names if name in self._stores}
        is_kept = len(stores) == len(names) and all(store.is_kept for store in stores.values())
        made: Rounds
        if is_kept and all(task.by_changes for task in tasks):
            made = KeptRounds(stores, tasks, self._rejections)
        else:
            made = Rounds(stores | {n: self._cells[n] for n in names if n in self._cells}, tasks, self._rejections)
        self._takers |= {name: made for name, store in stores.items() if store.is_kept}
        return made

    # -- this step -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a step: forget what is kept if functions would give something else now."""
        if self._surroundings.have_changed():
            self.forget()

    def give(self, name: str, given: Sequence[Batch]) -> None:
        """Take rows that are inserted for this step into a collection of which the others are kept."""
        self._takers[name].give(name, given)

    def run(self, *, first: bool) -> None:
        """Evaluate to the fixpoint.  In the first step, nothing has been derived from tables yet."""
        # After a step that failed, nobody knows what has been derived from them.
        from_all = first or self._was_given_up
        for stratum in self._strata:
            stratum.run(first=from_all)
        self._was_given_up = False

    def forget(self) -> None:
        """Forget what is kept of earlier steps: the next one derives it anew, and nothing else is different."""
        for stratum in self._strata:
            stratum.forget()

    def give_up(self) -> None:
        """Leave a step unfinished: nobody knows what has been kept, nor what has been derived from tables."""
        self._was_given_up = True
        self.forget()

    # -- later ---------------------------------------------------------------------------------------------------

    def derive(self, op: Op) -> Iterator[tuple[Rule, Any]]:
        """Yield what rules with another operator derive: rows, or for lattices a value."""
        for task in self._later[op]:
            yield task.origin, task.full()
