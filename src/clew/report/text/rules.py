"""Rules as a reader knows them from the program: their text, and where they stand."""

from __future__ import annotations

from pathlib import Path

from clew.dedalus.printer import print_clause
from clew.names import show
from clew.program.ir import Fact, Rule


def rule_place(rule: Rule, several_files: bool) -> str:
    """Name a rule by its line, with its file where there are several; without either, by what it is for."""
    if rule.position is None:
        return rule.relation
    return (
        # Only the name of the file: whole paths do not fit a box, and the tooltip has them.
        f"{Path(rule.position.file).name}:{rule.position.line}" if several_files else f"line {rule.position.line}"
    )


def clause_text(clause: Fact | Rule) -> str:
    """Return the clause as its author wrote it, as far as that can be told."""
    if isinstance(clause, Rule) and clause.text is not None:
        return clause.text
    try:
        return print_clause(clause)
    except ValueError:  # a program made in Python can have values that Dedalus cannot write
        if isinstance(clause, Fact):
            return f"{clause.relation}({', '.join(map(show, clause.args))})@{clause.time};"
        return f"a rule for {clause.relation}"


def rule_text(rule: Rule) -> str:
    """Return the rule, with file and line where they are known."""
    text = clause_text(rule)
    return f"{text}  ({rule.position.file}:{rule.position.line})" if rule.position else text
