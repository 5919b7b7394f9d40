"""Why a counterexample breaks the outcome, for the terminal.

For each violated row there is a line for each support, a chain of consequences for each fault, and how the
violation arose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from clew.explain.explanation import Explanation
from clew.explain.steps import RowStep
from clew.explain.without import Account, Without
from clew.faults import FaultSet
from clew.report.text.plain import columns, pluralize, shorten
from clew.report.verdict.wording import (
    account_lead,
    not_needed,
    outcome_text,
    step_text,
    story,
    support_words,
    why_lead,
)

if TYPE_CHECKING:
    from clew.explain.why import Support, Why

#: More supports than this for one row are not read; the report has them all.
MOST_SUPPORT_LINES = 15
#: So many rows are explained in full, and so many are mentioned at all.
_MOST_EXPLAINED = 3
_MOST_ROWS = 12


def rows_to_explain(rows: Iterable[Explanation]) -> Iterator[Explanation]:
    """Take rows as long as there is room for what has to be said about them."""
    room = _MOST_EXPLAINED
    for row in islice(rows, _MOST_ROWS):
        yield row
        room -= row.like is None
        if not room:
            return


def why_lines(
    rows: Sequence[Explanation],
    faults: FaultSet,
    eot: int,
    *,
    left_out: int = 0,
    ascii_only: bool = False,
    width: int = 100,
) -> Iterator[str]:
    """Yield a block for each violated row; a row that is violated like an earlier one refers to it."""
    if not faults:
        return  # what fails without any fault has been said
    lines = _Lines(faults, eot, "X" if ascii_only else "✗", width)
    for row in rows:
        if row.like is None:
            yield from lines.block(row)
        else:
            same = f"as for {shorten(str(row.like), width // 3)}."
            yield shorten(f"Why {shorten(str(row.violation), width // 2)}: {same}", width)
    if left_out:
        yield f"... and {pluralize(left_out, 'more row')}; --report explains {'it' if left_out == 1 else 'them'}"


class _Lines(NamedTuple):
    """``cross`` marks what the faults cut."""

    faults: FaultSet
    eot: int
    cross: str
    width: int

    def block(self, row: Explanation) -> Iterator[str]:
        if row.why is not None and row.why.supports:
            yield from self._heading(row, why_lead(row.why))
            yield from self._supports(row.why)
        else:
            yield from self._heading(row, account_lead(row.account))
        yield from account_lines(row.account, self.width)
        yield from event_lines(row, self.eot, self.width)

    def _heading(self, row: Explanation, lead: str) -> Iterator[str]:
        """Yield the heading, on two lines where one is not enough."""
        line = f"Why {row.violation}: {lead}"
        parts = [line] if columns(line) <= self.width else [f"Why {row.violation}:", f"  {lead}"]
        yield from (shorten(part, self.width) for part in parts)

    def _supports(self, why: Why) -> Iterator[str]:
        yield from map(self._line, why.supports[:MOST_SUPPORT_LINES])
        left = len(why.supports) - MOST_SUPPORT_LINES
        if left > 0 or why.more:
            yield f"  ... and {'' if why.more else f'{left} '}more; --report shows them"

    def _line(self, support: Support) -> str:
        """Tell a support in one line: without room for all, what is cut stays, and then what came last."""
        verb = "cuts" if len(support.cut_by) == 1 else "cut"
        head = f"  {shorten(', '.join(map(str, support.cut_by)), self.width // 4)} {verb} "
        words = [
            (f"{self.cross} {_part(word, self.width)}" if cut else _part(word, self.width), cut)
            for word, cut in support_words(support, self.faults, self.eot)
        ]
        kept = [word for word, _ in words]
        # What holds anyway goes before what the faults cut, which is the answer to the question.
        dispensable = [word for word, cut in words if not cut] + [word for word, cut in words if cut]
        for word in ["", *dispensable]:
            kept = [k for k in kept if k != word]
            left_out = len(words) - len(kept)
            line = head + ", ".join([*kept, *([f"and {left_out} more"] if left_out else [])])
            if columns(line) <= self.width:
                return line
        return shorten(line, self.width)


def _part(word: str, width: int) -> str:
    """Shorten a message with long names: it keeps its beginning, the relation, and its end, the time."""
    return shorten(word, width * 2 // 5)


#: A chain that does not fit into so many lines is told without its middle; the report has it in full.
_MOST_LINES = 2
#: Of how the violation arose so many times are told.
_MOST_TIMES = 8
_INDENT = "    "
_LEFT_OUT = "…"


def account_lines(account: Account, width: int) -> Iterator[str]:
    """Say for each fault what happens without it."""
    spare = [shorten(str(line.fault), width // 4) for line in account.without if not line.needed]
    if spare:
        yield from _fill("  without", _punctuate(spare, not_needed(len(spare))), width)
    for line in account.without:
        if line.needed:
            yield from _chain_lines("  and without" if spare else "  without", line, width)


def _chain_lines(begin: str, line: Without, width: int) -> list[str]:
    head = f"{begin} {shorten(str(line.fault), width // 4)}:"
    outcome = shorten(outcome_text(line), width * 3 // 5)
    # Rows that only pass something on go first: the steps around them say it.
    telling = [step for step in line.steps if not (isinstance(step, RowStep) and step.passing)]
    for steps in (line.steps, telling):
        texts = [shorten(step_text(step, line.fault), width * 2 // 5) for step in steps]
        lines = _fill(head, _punctuate(texts, outcome), width)
        if len(lines) <= _MOST_LINES:
            return lines
    # The beginning says what the fault did and the end what came of it: the middle can be guessed.
    while len(lines) > _MOST_LINES and len(texts) > 1:
        texts = _less_of_the_middle(texts)
        lines = _fill(head, _punctuate(texts, outcome), width)
    return lines


def _less_of_the_middle(texts: list[str]) -> list[str]:
    kept = [text for text in texts if text != _LEFT_OUT]
    middle = len(kept) // 2
    return [*kept[:middle], _LEFT_OUT, *kept[middle + 1 :]]


def _separate(texts: Sequence[str], between: str = ",", after: str = "") -> list[str]:
    return [text + (between if k < len(texts) else after) for k, text in enumerate(texts, start=1)]


def _punctuate(texts: Sequence[str], end: str) -> list[str]:
    return [*_separate(texts, after=":"), end]


def _fill(head: str, words: Sequence[str], width: int, indent: str = _INDENT) -> list[str]:
    """Put as many words on a line as fit."""
    lines = [head]
    for word in words:
        if columns(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def event_lines(row: Explanation, eot: int, width: int) -> Iterator[str]:
    """Tell how the violation arose in the failing run, a line for each time."""
    if not row.events:
        return
    yield "  How it arose:"
    times = [
        (str(time), [shorten(text, width * 4 // 5) for _, text in events])
        for time, events in groupby(story(row, eot), key=lambda told: told[0])
    ]
    left_out = len(times) - _MOST_TIMES
    # Leaving out a single time would save no line: the remark takes one.
    if left_out > 1:
        some = ("", [f"... and {left_out} more times; --report shows them"])
        times[_MOST_TIMES // 2 : _MOST_TIMES // 2 + left_out] = [some]
    digits = len(str(eot))
    for time, events in times:
        head = f"{_INDENT}{time:>{digits}} "
        yield from _fill(head, _separate(events, ";"), width, " " * (len(head) + 1))
