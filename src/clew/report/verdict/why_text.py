"""Why a counterexample breaks the outcome, for the terminal: a line for each support and for each fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from clew.explain.explanation import Explanation
from clew.faults import FaultSet
from clew.report.text.columns import columns, shortened
from clew.report.text.plural import counted
from clew.report.verdict.chain_text import account_lines, event_lines
from clew.report.verdict.wording import account_lead, support_words, why_lead

if TYPE_CHECKING:
    from clew.explain.why import Support, Why

#: More supports than this for one row are not read; the report has them all.
MOST_SUPPORT_LINES = 15
#: So many rows are explained in full, and so many are mentioned at all.
_MOST_EXPLAINED = 3
_MOST_ROWS = 12


def told_rows(rows: Iterable[Explanation]) -> Iterator[Explanation]:
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
    """One block for each violated row; a row that is violated like an earlier one refers to it."""
    if not faults:
        return  # what fails without any fault has been said
    lines = _Lines(faults, eot, "X" if ascii_only else "✗", width)
    for row in rows:
        if row.like is None:
            yield from lines.block(row)
        else:
            same = f"as for {shortened(str(row.like), width // 3)}."
            yield shortened(f"Why {shortened(str(row.violation), width // 2)}: {same}", width)
    if left_out:
        yield f"... and {counted(left_out, 'more row')}; --report explains {'it' if left_out == 1 else 'them'}"


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
        """On two lines where one is not enough."""
        line = f"Why {row.violation}: {lead}"
        parts = [line] if columns(line) <= self.width else [f"Why {row.violation}:", f"  {lead}"]
        yield from (shortened(part, self.width) for part in parts)

    def _supports(self, why: Why) -> Iterator[str]:
        yield from map(self._line, why.supports[:MOST_SUPPORT_LINES])
        left = len(why.supports) - MOST_SUPPORT_LINES
        if left > 0 or why.more:
            yield f"  ... and {'' if why.more else f'{left} '}more; --report shows them"

    def _line(self, support: Support) -> str:
        """When there is no room for all, what is cut stays, and then what came last."""
        verb = "cuts" if len(support.cut_by) == 1 else "cut"
        head = f"  {shortened(', '.join(map(str, support.cut_by)), self.width // 4)} {verb} "
        words = [
            (f"{self.cross} {_part(word, self.width)}" if cut else _part(word, self.width), cut)
            for word, cut in support_words(support, self.faults, self.eot)
        ]
        kept = [word for word, _ in words]
        dispensable = [word for word, cut in words if not cut] + [word for word, cut in words if cut]
        for word in ["", *dispensable]:
            kept = [k for k in kept if k != word]
            left_out = len(words) - len(kept)
            line = head + ", ".join([*kept, *([f"and {left_out} more"] if left_out else [])])
            if columns(line) <= self.width:
                return line
        return shortened(line, self.width)


def _part(word: str, width: int) -> str:
    """A message with long names keeps its beginning, the relation, and its end, the time."""
    return shortened(word, width * 2 // 5)
