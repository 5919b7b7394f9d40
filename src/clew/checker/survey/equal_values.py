"""Sums that add equal values once: legal, as rows are sets, and rarely what is meant.

``sum<K>`` is over the distinct values of K in a group.  Where a group can have the same value from different rows,
the author is told, with the form that counts each.
"""

from __future__ import annotations

from clew.engine.conditions import EqualValues, Occurrence, find_occurrences
from clew.engine.ground import GroundProgram
from clew.errors import Notice
from clew.program.ir import ADDING, Aggregate, Rule, Var


def find_equal_values(ground: GroundProgram) -> tuple[Notice, ...]:
    """Return a notice for each sum that leaves out a value in some execution, because another row has it, too."""
    wanted = [
        (index, k)
        for index, rule in enumerate(ground.program.rules)
        for k, aggregate in enumerate(rule.aggregates)
        if aggregate.function in ADDING and not aggregate.per
    ]
    conditions = {(index, k): [_collect(ground, index, k)] for index, k in wanted}
    found = find_occurrences(ground, conditions) if conditions else {}
    return tuple(
        _notice(ground.program.rules[index], ground.program.rules[index].aggregates[k], when)
        for (index, k), when in found.items()
        if when in (Occurrence.FAILURE_FREE, Occurrence.UNDER_FAULTS)
    )


def _collect(ground: GroundProgram, index: int, k: int) -> str:
    """Ground what aggregate number k of a rule is about; return the condition that equal values occur."""
    equal, aggregate = EqualValues(ground, index), ground.program.rules[index].aggregates[k]
    # A relation of its own: the rows that the encoding collects for an aggregate have lost what tells them apart.
    name = f"values{ground.next_part()}"
    ground.extend(name, equal.collect(name, aggregate))
    return equal.occur(name, aggregate)


def _notice(rule: Rule, aggregate: Aggregate, when: Occurrence) -> Notice:
    form = f"{aggregate.function}<{aggregate.var.name}>"
    where = "in the failure-free run" if when is Occurrence.FAILURE_FREE else "under some faults"
    others = [v.name for v in _distinguishing_variables(rule, aggregate)]
    example = f"{aggregate.function}<{aggregate.var.name} per {', '.join(others or ['Id'])}>"
    return Notice(
        f"{form} adds equal values once, and {where} different rows of a group have the same {aggregate.var.name}",
        rule.position,
        f"write {example} to count each row, or keep it if distinct values are meant",
    )


def _distinguishing_variables(rule: Rule, aggregate: Aggregate) -> list[Var]:
    """Return variables of the body that are neither of the group nor the value: what can tell rows apart."""
    group = {a for a in rule.args if isinstance(a, Var)}
    found = dict.fromkeys(a for p in rule.positive for a in p.args if isinstance(a, Var))
    return [v for v in found if v not in group and v != aggregate.var]
