"""Why a counterexample breaks the outcome, for the terminal: one line for each support and what cuts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clew.explain.why import Support, Why
from clew.faults import FaultSet
from clew.report.columns import columns, shortened
from clew.report.wording import support_words, why_lead

#: More lines than this for one row are not read; the report has them all.
_MOST_LINES = 20


def why_lines(
    whys: Sequence[Why], faults: FaultSet, eot: int, *, ascii_only: bool = False, width: int = 100
) -> Iterator[str]:
    """One block for each violated row; a row with the same supports as an earlier one refers to it."""
    told: dict[tuple[str, ...], Why] = {}
    lines = _Lines(faults, eot, "X" if ascii_only else "✗", width)
    for why in whys:
        if not why.supports:
            continue  # it fails without any fault, which has been said
        block = tuple(lines.block(why))
        if block in told:
            same = f"as for {shortened(str(told[block].violation), width // 3)}."
            yield shortened(f"Why {shortened(str(why.violation), width // 2)}: {same}", width)
            continue
        told[block] = why
        yield from lines.heading(why)
        yield from block


class _Lines(NamedTuple):
    """``cross`` marks what the faults cut."""

    faults: FaultSet
    eot: int
    cross: str
    width: int

    def heading(self, why: Why) -> Iterator[str]:
        """On two lines where one is not enough."""
        line = f"Why {why.violation}: {why_lead(why)}"
        parts = [line] if columns(line) <= self.width else [f"Why {why.violation}:", f"  {why_lead(why)}"]
        yield from (shortened(part, self.width) for part in parts)

    def block(self, why: Why) -> Iterator[str]:
        yield from map(self._line, why.supports[:_MOST_LINES])
        left = len(why.supports) - _MOST_LINES
        if left > 0 or why.more:
            yield f"  ... and {'more than ' if why.more else ''}{max(left, 0)} more; --report shows them"

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
