"""What an answer rests on, for the terminal: cautions, remarks, rules that never fire, and coverage."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten, wrap

from clew.checker.result import Verdict
from clew.engine.conditions import Occurrence
from clew.program.ir import Rule
from clew.report.text.plain import pluralize
from clew.report.text.rules import clause_text

#: Longer remarks go on in the next line.
_WIDTH = 115

#: More rules than this are not read; ``--coverage`` lists them all.
_MOST_RULES = 12

_INSTEAD = {
    Occurrence.UNDER_FAULTS: "under faults",
    Occurrence.NEVER: "never",
    Occurrence.UNKNOWN: "not known",
}


def survey_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what comes below an answer without a counterexample."""
    for caution in verdict.cautions:
        yield from _wrap(f"Beware: {caution}.")
    for remark in verdict.remarks:
        yield from _wrap(f"Remark: {remark}.")
    silent = verdict.survey.silent if verdict.survey else ()
    if silent:
        verb = "fires" if len(silent) == 1 else "fire"
        yield f"  {pluralize(len(silent), 'rule')} never {verb} within these bounds:"
        yield from (f"    {_rule_line(covered.rule)}" for covered in silent[:_MOST_RULES])
    if len(silent) > _MOST_RULES:
        yield f"    ... and {len(silent) - _MOST_RULES} more; --coverage lists all"


def coverage_text(verdict: Verdict) -> str:
    """Return every rule, with how often it fires in the failure-free run, and if not there, when."""
    # The survey is asked after the search, with what the search left of the budget.
    if verdict.survey is None:
        return "coverage: not looked up, because the budget is used up\n"
    lines = ["coverage: how often each rule fires in the failure-free run, and if not there, when"]
    for covered in verdict.survey.coverage:
        # Without faults, but not in the one run that is counted: that without inputs, where the least is chosen.
        often = covered.times or ("with others" if verdict.program and verdict.program.open_rows else 0)
        lines.append(f"{_INSTEAD.get(covered.fires) or often:>14}  {_rule_line(covered.rule)}")
    if any("with others " in line for line in lines):
        lines.append("with others: no fault is needed, but inputs that are given, or other choices")
    return "\n".join(lines) + "\n"


def _wrap(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _rule_line(rule: Rule) -> str:
    """Return the place of a rule and as much of its text as fits."""
    place = f"{rule.position.file}:{rule.position.line}: " if rule.position else ""
    return place + shorten(clause_text(rule), max(30, _WIDTH - len(place) - 16), placeholder=" ...")
