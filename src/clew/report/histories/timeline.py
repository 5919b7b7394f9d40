"""Operations as intervals of time, a line for each client: what overlaps in the drawing overlapped.

      client 1   ├ write 2 ┤    ┊
      client 2               ├ ─┊─── read → 1 ┤

Only the order of calls and answers is true to the history; how long an interval is depends on its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.histories.operations import Operation
from clew.histories.values import show_value
from clew.histories.words import operation_words
from clew.report.text.plain import columns, shorten

#: A word of an operation takes no more room.
_WIDEST = 40
#: What has no answer goes on for so long beyond the last thing that is drawn.
_BEYOND = 4


@dataclass(frozen=True)
class Span:
    """An interval in columns; ``end`` is None where no answer came."""

    operation: Operation
    start: int
    end: int | None
    text: str


def timeline(operations: Iterable[Operation], begins: int | None = None) -> list[str]:
    """Return the drawing; ``begins``: the event with which a window begins, marked by a dotted line."""
    # An operation may be drawn twice for two reasons: because it is needed, and because it led to a state.
    drawn = sorted(set(operations), key=lambda op: op.start)
    spans, mark, width = _lay_out(drawn, begins)
    lanes = _lanes(spans)
    names = [f"client {show_value(lane[0].operation.process)}" for lane in lanes]
    room = max(map(columns, names), default=0)
    lines = []
    for name, lane in zip(names, lanes, strict=True):
        cells = [" "] * width
        if mark is not None:
            cells[mark] = "┊"
        for span in lane:
            _draw(cells, span, width)
        lines.append(f"{name}{' ' * (room - columns(name))}  {''.join(cells).rstrip()}")
    return lines


def _lay_out(drawn: Sequence[Operation], begins: int | None) -> tuple[list[Span], int | None, int]:
    """Give each call and answer a column, in their order, so that every operation has room for its words."""
    texts = {op: shorten(operation_words(op), _WIDEST) for op in drawn}
    moments = sorted(
        moment
        for number, op in enumerate(drawn)
        for moment in ((op.start, number, False), *([] if op.end is None else [(op.end, number, True)]))
    )
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    at, mark = 0, None
    for time, number, is_end in moments:
        if begins is not None and mark is None and time >= begins:
            mark, at = at, at + 2
        if is_end:
            # An answer stands where its words end, or later, if others come in between.
            ends[number] = max(at, starts[number] + columns(texts[drawn[number]]) + 3)
            at = ends[number] + 2
        else:
            starts[number] = at
            at += 2
    # What never ends needs room for its words, too.
    width = max(
        [at, *(starts[n] + columns(texts[op]) + 3 for n, op in enumerate(drawn) if op.end is None)], default=0
    )
    spans = [Span(op, starts[n], ends.get(n), texts[op]) for n, op in enumerate(drawn)]
    return spans, mark, width + _BEYOND


def _lanes(spans: Sequence[Span]) -> list[list[Span]]:
    """Return the spans of each client; one with several things under way at once has several lines."""
    lanes: list[list[Span]] = []
    # A client of merged recorders may seem to do two things at once; each needs a line of its own.
    for span in spans:
        for lane in lanes:
            last = lane[-1]
            is_free = last.end is not None and last.end < span.start
            if is_free and last.operation.process == span.operation.process:
                lane.append(span)
                break
        else:
            lanes.append([span])
    return sorted(
        lanes, key=lambda lane: (len(show_value(lane[0].operation.process)), show_value(lane[0].operation.process))
    )


def _draw(cells: list[str], span: Span, width: int) -> None:
    last = width - 1 if span.end is None else span.end
    line = "╌" if span.end is None else "─"
    inner = last - span.start - 1
    # The words stand in the middle of the interval, where the eye looks for them.
    room = inner - columns(span.text) - 2
    words = f" {span.text} "
    body = words + line * max(0, room) if room < 2 else line * (room // 2) + words + line * (room - room // 2)
    # A character that takes two columns leaves the next cell empty.
    cells[span.start : last + 1] = _cells(f"├{body}{'>' if span.end is None else '┤'}", last + 1 - span.start)


def _cells(text: str, room: int) -> list[str]:
    cells: list[str] = []
    for character in text:
        cells.append(character)
        cells += [""] * (columns(character) - 1)
    return (cells + [" "] * room)[:room]
