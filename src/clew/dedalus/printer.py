"""The program as Dedalus text; parsing it again gives an equal program.

Programs of other front ends may have what Dedalus cannot write, tuples and functions; these raise ``ValueError``.
"""

from __future__ import annotations

from clew.program.ir import (
    Aggregate,
    BinOp,
    Call,
    Choose,
    Comparison,
    Const,
    Fact,
    HeadArg,
    InputRule,
    Nested,
    Premise,
    Program,
    Rule,
    Value,
    Var,
    Wildcard,
)


def print_program(program: Program) -> str:
    """Return the program as text: one clause a line, in order."""
    durable = "" if program.durable is None else f"durable {', '.join(sorted(program.durable))};\n"
    return durable + "".join(print_clause(clause) + "\n" for clause in (*program.clauses, *program.inputs))


def print_clause(clause: Fact | Rule | InputRule) -> str:
    if isinstance(clause, InputRule):
        time = clause.time.name if isinstance(clause.time, Var) else clause.time
        head = f"input {clause.relation}({', '.join(map(print_expr, clause.args))})@{time}"
        return f"{head} :- {', '.join(map(_element, clause.rule.body))};" if clause.rule.body else f"{head};"
    if isinstance(clause, Fact):
        return f"{clause.relation}({', '.join(map(print_value, clause.args))})@{clause.time};"
    head = f"{clause.relation}({', '.join(map(print_expr, clause.args))}){clause.timing.value}"
    return f"{head} :- {', '.join(map(_element, clause.body))};"


def print_value(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"Dedalus has no way to write {value!r}")
    if '"' in value or "\n" in value:
        raise ValueError(f"Dedalus has no way to write the string {value!r}")
    return f'"{value}"'


def print_expr(expr: HeadArg) -> str:
    match expr:
        case Const(value):
            return print_value(value)
        case Var(name):
            return "_" if name.startswith("_") else name  # a name that was made for an anonymous place
        case Wildcard():
            return "_"
        case Aggregate(function, var, per):
            told_apart = f" per {', '.join(v.name for v in per)}" if per else ""
            return f"{function}<{var.name}{told_apart}>"
        case Nested():
            raise ValueError("Dedalus has no way to write a tuple")
        case BinOp(op, left, right):
            return f"{_operand(left)} {op} {_operand(right)}"


def _operand(expr: HeadArg) -> str:
    # Always in parentheses, whatever binds stronger: the printer should not have to know precedences.
    return f"({print_expr(expr)})" if isinstance(expr, BinOp) else print_expr(expr)


def _element(element: Premise | Comparison | Call | Choose) -> str:
    if isinstance(element, Choose):
        keys, values = (", ".join(v.name for v in side) for side in (element.keys, element.values))
        return f"choose(({keys}), ({values}))"
    if isinstance(element, Call):
        raise ValueError(f"Dedalus has no way to write {element.function.name}")
    if isinstance(element, Comparison):
        return f"{print_expr(element.left)} {element.op} {print_expr(element.right)}"
    time = "" if element.at is None else f"@{element.at.name if isinstance(element.at, Var) else element.at}"
    negation = "notin " if element.negated else ""
    return f"{negation}{element.relation}({', '.join(map(print_expr, element.args))}){time}"
