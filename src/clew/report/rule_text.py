"""Rules as a reader knows them from the program: their text, and where they stand."""

from __future__ import annotations

from pathlib import Path

from clew.dedalus.printer import print_clause
from clew.program.ir import Rule


def rule_place(rule: Rule, several_files: bool) -> str:
    """Short: the line, with its file where there are several; without either, what the rule is for."""
    if rule.position is None:
        return rule.relation
    return (
        f"{Path(rule.position.file).name}:{rule.position.line}" if several_files else f"line {rule.position.line}"
    )


def rule_text(rule: Rule) -> str:
    """The rule, with file and line where they are known."""
    try:
        text = print_clause(rule)
    except ValueError:  # a program made in Python can have strings that Dedalus cannot write
        text = f"a rule for {rule.relation}"
    return f"{text}  ({rule.position.file}:{rule.position.line})" if rule.position else text
