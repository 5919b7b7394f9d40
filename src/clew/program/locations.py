"""Which values can be nodes: what the places of rows, messages and crashes can be, as far as the text tells.

This is more than any execution has, never less: what is not among these values takes no part in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.program.checks import assertion_relations
from clew.program.columns import NODE_COLUMNS, Columns, Domain
from clew.program.ir import CRASH, Const, HeadArg, Program, Rule, Timing


def possible_locations(program: Program) -> Domain:
    """Return what can be the place of a row, the end of a message, or a node whose crash is looked at.

    The program is one that was checked: its rules have names for the places they run at.
    """
    columns = Columns(program)
    assertions = assertion_relations(program)
    found = Domain(frozenset(f.args[0] for f in program.facts))
    for rule in program.rules:
        variables = columns.variables(rule)
        for place in _places(rule, rule.relation in assertions):
            found |= columns.of(place, variables)
    return found


def _places(rule: Rule, assertion: bool) -> Iterator[HeadArg]:
    """Yield what stands for a node in a rule.  The place of a premise is that of its rows, unless it is named."""
    if rule.timing is Timing.ASYNC:
        yield from (rule.location, rule.args[0])
    elif not assertion:  # the first column of an assertion says what must hold, not where
        yield rule.args[0]
    for premise in rule.premises:
        if premise.relation == CRASH:
            yield from premise.args[:NODE_COLUMNS]
        elif isinstance(premise.args[0], Const):
            yield premise.args[0]
