"""Chains of consequences for the terminal: what happens without each fault, and how the violation arose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from clew.explain.explanation import Explanation
from clew.explain.steps import RowStep
from clew.explain.without import Account, Without
from clew.report.text.columns import columns, shortened
from clew.report.verdict.step_wording import event_text, outcome_text, step_text, violated_text
from clew.report.verdict.wording import not_needed

#: A chain that does not fit into so many lines is told without its middle; the report has it in full.
_MOST_LINES = 2
#: Of how the violation arose so many times are told.
_MOST_TIMES = 8
_INDENT = "    "
_LEFT_OUT = "…"


def account_lines(account: Account, width: int) -> Iterator[str]:
    """For each fault what happens without it."""
    spare = [shortened(str(line.fault), width // 4) for line in account.without if not line.needed]
    if spare:
        yield from _fill("  without", _punctuated(spare, not_needed(len(spare))), width)
    for line in account.without:
        if line.needed:
            yield from _chain_lines("  and without" if spare else "  without", line, width)


def _chain_lines(begin: str, line: Without, width: int) -> list[str]:
    head = f"{begin} {shortened(str(line.fault), width // 4)}:"
    outcome = shortened(outcome_text(line), width * 3 // 5)
    telling = [step for step in line.steps if not (isinstance(step, RowStep) and step.passing)]
    for steps in (line.steps, telling):
        texts = [shortened(step_text(step, line.fault), width * 2 // 5) for step in steps]
        lines = _fill(head, _punctuated(texts, outcome), width)
        if len(lines) <= _MOST_LINES:
            return lines
    while len(lines) > _MOST_LINES and len(texts) > 1:
        texts = _less_of_the_middle(texts)
        lines = _fill(head, _punctuated(texts, outcome), width)
    return lines


def _less_of_the_middle(texts: list[str]) -> list[str]:
    kept = [text for text in texts if text != _LEFT_OUT]
    middle = len(kept) // 2
    return [*kept[:middle], _LEFT_OUT, *kept[middle + 1 :]]


def _listed(texts: Sequence[str], between: str = ",", after: str = "") -> list[str]:
    return [text + (between if k < len(texts) else after) for k, text in enumerate(texts, start=1)]


def _punctuated(texts: Sequence[str], end: str) -> list[str]:
    return [*_listed(texts, after=":"), end]


def _fill(head: str, words: Sequence[str], width: int, indent: str = _INDENT) -> list[str]:
    """As many words on a line as fit."""
    lines = [head]
    for word in words:
        if columns(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def event_lines(row: Explanation, eot: int, width: int) -> Iterator[str]:
    """How the violation arose in the failing run, a line for each time."""
    if not row.events:
        return
    yield "  How it arose:"
    texts = [(event.time, event_text(event)) for event in row.events]
    texts.append((eot, violated_text(row.violation)))
    times = [
        (str(time), [shortened(text, width * 4 // 5) for _, text in events])
        for time, events in groupby(texts, key=lambda told: told[0])
    ]
    left_out = len(times) - _MOST_TIMES
    if left_out > 1:
        some = ("", [f"... and {left_out} more times; --report shows them"])
        times[_MOST_TIMES // 2 : _MOST_TIMES // 2 + left_out] = [some]
    digits = len(str(eot))
    for time, events in times:
        head = f"{_INDENT}{time:>{digits}} "
        yield from _fill(head, _listed(events, ";"), width, " " * (len(head) + 1))
