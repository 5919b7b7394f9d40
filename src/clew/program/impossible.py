"""Constants that a column never has: most often misspelt, so that a rule never fires and nobody notices.

What a column can hold is more than any execution has (``clew.program.columns``), so what is told here is certain.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.errors import Notice
from clew.names import show
from clew.program.columns import ANYTHING, Columns
from clew.program.ir import CRASH, Const, Premise, Program, Rule


def impossible_constants(program: Program) -> Iterator[Notice]:
    """Yield a notice for each constant that a rule looks for in a column that cannot have it.

    Programs in Bloom are left alone: their collections have readers and writers outside.
    """
    asked = [(rule, premise) for rule in program.rules for premise in rule.positive if _names_constant(premise)]
    if not asked or any(rule.text is not None for rule in program.rules):
        return
    columns = Columns(program, others=ANYTHING)
    for rule, premise in asked:
        for column, arg in enumerate(premise.args):
            if isinstance(arg, Const) and arg.value not in columns.at(premise.relation, column):
                yield _notice(rule, premise, column, arg, columns)


def _names_constant(premise: Premise) -> bool:
    return premise.relation != CRASH and any(isinstance(arg, Const) for arg in premise.args)


def _notice(rule: Rule, premise: Premise, column: int, constant: Const, columns: Columns) -> Notice:
    from clew.program.nearest import nearest_name  # rarely needed, and a cold start should not pay for it

    known = [value for value in columns.at(premise.relation, column).values if isinstance(value, str)]
    nearest = nearest_name(str(constant.value), known)
    return Notice(
        f"the rule for '{rule.relation}' never fires: no row of '{premise.relation}' has {show(constant.value)} "
        f"in column {column + 1}",
        premise.position or rule.position,
        f"did you mean {show(nearest)}?" if nearest else "check the constant, and the rules that should write it",
    )
