"""When a component has settled: what is observed while it runs.

``pending_changes`` are, as expressions, what the rules of a component leave for its next step and what is not
there already; ``Settling`` compares them from step to step.  If nothing came from outside in a step, and it leaves
the same as the step before (in most programs: nothing), then the next step will do so as well, and every one after
it: rows that were applied would be missing among those that are left, and ``<=`` rules derive nothing new from the
same rows. So it has settled, with no count of steps.

Both are plain rules, for the runtime and for ``clew check`` alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clew.bloom import Bloom, bloom, interface, scratch
from clew.bloom.ir.expressions import Join, Match, NotIn, Ref, Rename, Take
from clew.bloom.ir.program import Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.language.capture import current_capture
from clew.bloom.language.module import Module
from clew.bloom.language.relations import Relation


class Settling(Bloom):
    """``moving``: what the rules of the component leave, from ``pending_changes``.

    ``admitted``: something is let in, and is there in the next step.  ``busy`` has a row until it has settled.
    """

    moving = interface.input("rule", "content")
    admitted = interface.input("what")
    busy = interface.output("why")

    before = scratch("rule", "content")
    arriving = scratch("why")
    look_again = scratch("why")

    @bloom
    def compare(self) -> None:
        self.before <+ self.moving
        self.arriving <+ self.admitted(lambda a: ("rows come in",))
        self.busy <= self.arriving
        self.busy <= self.moving.notin(self.before)(lambda m: ("it moves",))
        self.busy <= self.before.notin(self.moving)(lambda b: ("it moves",))
        # A node that has nothing to do takes no step, and would not find out that it has settled.
        self.look_again <+ self.busy


def pending_changes(module: Module, targets: Sequence[str]) -> Iterator[Any]:
    """Yield the rows (number of a rule, row) that rules leave for these collections of a module, rule by rule.

    For a block of rules that comes after those of the component: ``targets`` are names within the module.
    """
    capture = current_capture()
    assert capture is not None, "rules are being read"
    wanted = {module._prefix + name for name in targets}
    rules = [rule for rule in capture.rules if rule.target in wanted and rule.op in (Op.NEXT, Op.DELETE)]
    for number, rule in enumerate(rules):
        yield _number_pending(module, rule, number)


def _number_pending(module: Module, rule: Rule, number: int) -> Any:
    target = module.collection_of(rule.target)
    columns = target.schema.columns
    there = Ref(target.name, columns, (columns,))
    derived = Rename(rule.expr, columns)  # type: ignore[arg-type]  # no lattices: check_settling
    left: Any = derived
    if rule.op is Op.DELETE:
        matches = tuple(Match(0, k, 1, k) for k in range(len(columns)))
        left = Join((there, derived), matches, Take.LEFTS, columns, (columns,))
    elif target.kind is Kind.TABLE:
        left = NotIn(derived, there, tuple((k, k) for k in range(len(columns))))
    return Relation(left).map(lambda row: (number, (*row,)))
