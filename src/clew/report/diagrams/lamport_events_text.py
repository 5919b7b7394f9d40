"""A Lamport diagram of numbered events for the terminal: one line an event, in the order in which they happened.

Processes are columns, as in ``lamport_text``, which this extends; the gutter has the numbers of the events.  An
arrow stands where its message arrives; the right margin says which event sent it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clew.report.diagrams.lamport import Arrow, Diagram, Fate, Mark, MarkKind
from clew.report.diagrams.lamport_text import Drawing, Sent, place_for, put
from clew.report.text.plain import columns

#: These stand in the column of their process as words.
_WORDS = {MarkKind.START: "START", MarkKind.STOP: "STOP", MarkKind.RESTART: "RESTART"}
_SPANS = (MarkKind.CUT, MarkKind.CUT_ONE_WAY, MarkKind.HEAL)


class _Glyphs(NamedTuple):
    outside: str
    timer: str
    itself: str
    healed: str


_UNICODE = _Glyphs("▼", "◷", "↻", "○")
_ASCII = _Glyphs("v", "T", "@", "o")


def event_lines(diagram: Diagram, *, width: int = 100, ascii_only: bool = False) -> list[str]:
    """Draw the diagram in lines, none wider than ``width`` (at least 40) columns."""
    if width < 40:
        raise ValueError(f"a diagram needs a width of 40 columns, not {width}")
    return list(_EventDrawing(diagram, width, ascii_only).lines())


class _EventDrawing(Drawing):
    """Times are the numbers of events here: ``event`` of arrows and marks, not their ``sent`` and ``time``."""

    def __init__(self, diagram: Diagram, width: int, ascii_only: bool) -> None:
        self._symbols = _ASCII if ascii_only else _UNICODE
        self._absences = diagram.absences()
        notes = {mark.event for mark in diagram.marks if mark.kind is MarkKind.NOTE}
        #: By the number of a code block, what it does to the lives of processes.
        self._turns: dict[int, list[Mark]] = {}
        for mark in diagram.marks:
            if mark.event in notes and mark.kind in _WORDS:
                self._turns.setdefault(mark.event, []).append(mark)
        #: What is drawn last: an event that breaks something may send in vain, and that follows it.
        self._final = next((line for _, line in reversed(_in_order(diagram))), None)
        super().__init__(diagram, width, ascii_only)

    # -- where everything goes -----------------------------------------------------------------------------------

    def _largest(self) -> int:
        return max((number for number, _ in _in_order(self.diagram)), default=1)

    def _steps(self) -> list[list[Sent]]:
        return [[_sent_line(arrow) for arrow in self.diagram.arrows]]

    def _repetitions(self) -> dict[int, int]:
        # No event is like another: each has its number, and something to look up below.
        return {}

    def _busy(self) -> set[str]:
        return super()._busy() | {end for m in self.diagram.marks for end in (m.process, m.other) if end}

    def _widest_label(self) -> int:
        words = (columns(self._clean(m.label)) for m in self.diagram.marks if m.process)
        return max(super()._widest_label(), *words, 0)

    def _widest_centred(self) -> int:
        words = (len(_WORDS[m.kind]) for m in self.diagram.marks if m.kind in _WORDS)
        return max(super()._widest_centred(), *words, 0)

    def _is_down(self, process: str, time: int) -> bool:
        return any(
            absence.process == process
            and (absence.stop is None or absence.stop.event <= time)
            and (absence.start is None or time < absence.start.event)
            for absence in self._absences
        )

    # -- the lines -----------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield from self._header()
        for number, line in _in_order(self.diagram):
            if isinstance(line, Mark):
                if not self._is_turn_of_code(line):
                    yield from self._mark_lines(line)
            else:
                yield from self._message_lines(_sent_line(line), number, "" if line.event is None else str(number))
        yield from self._afterwords()

    def _is_turn_of_code(self, mark: Mark) -> bool:
        """Tell whether a code block starts or stops this process; the line of the block shows it."""
        return mark in self._turns.get(mark.event, ())

    def _mark_lines(self, mark: Mark) -> Iterator[str]:
        turns = self._turns.get(mark.event, [])
        # The line of a stop shows it still up, and that of a start not yet: the word is where it turns.
        cells = self._lifelines(mark.event - 1 if mark.kind in _WORDS or turns else mark.event)
        if mark.kind in _SPANS and mark.process in self.position and mark.other in self.position:
            note = self._span(cells, mark)
        elif mark.process in self.position and mark.kind not in _SPANS:
            note = self._at_process(cells, mark)
        else:
            note = self._clean(mark.detail)
        # The note beside it names them anyway where a word finds no room.
        for turn in turns:
            self._at_process(cells, turn)
        note = "; ".join(filter(None, [note, self._verdict(mark)]))
        yield from self._row(str(mark.event), cells, note, mark.event)

    def _span(self, cells: list[str], mark: Mark) -> str:
        """Draw from one process to another, and return what did not fit on the line as the note beside it."""
        start, end = self.position[mark.process], self.position[mark.other]
        low, high = min(start, end), max(start, end)
        heals = mark.kind is MarkKind.HEAL
        for at in range(low, high + 1):
            line = self.glyphs.line if heals else self.glyphs.lost_line
            cells[at] = self.glyphs.crossing if at in self.position.values() else line
        # A partition in one direction ends in a cross where nothing arrives, one in both directions has two.
        cells[end] = self._symbols.healed if heals else self.glyphs.lost
        cells[start] = self.glyphs.sender if mark.kind is MarkKind.CUT_ONE_WAY else cells[end]
        label = self._clean(mark.label)
        place = place_for(columns(label) + 2, low, [low, high], sorted(self.position.values()))
        if place is None:
            return label
        put(cells, place, f" {label} ")
        return ""

    def _at_process(self, cells: list[str], mark: Mark) -> str:
        at, word = self.position[mark.process], _WORDS.get(mark.kind)
        if word is not None:
            if self.spacing > len(word) + 1:
                put(cells, at - len(word) // 2, word)
                return ""
            cells[at] = self.glyphs.sender
            return f"{self._short(mark.process, 20)} {word}"
        label = self._clean(mark.label)
        cells[at] = self._symbol(mark.kind)
        if columns(label) + 2 < self.spacing and at + columns(label) + 2 < len(cells):
            put(cells, at + 2, label)
        elif columns(label) + 2 < self.spacing and at - columns(label) - 1 > self.gutter:
            put(cells, at - columns(label) - 1, label)
        else:
            return label
        return ""

    def _symbol(self, kind: MarkKind) -> str:
        # What is not listed here is drawn like a sender: the word beside it says what it is.
        symbols = self._symbols
        known = {MarkKind.OUTSIDE: symbols.outside, MarkKind.TIMER: symbols.timer, MarkKind.ITSELF: symbols.itself}
        return known.get(kind, self.glyphs.sender)

    # -- words ---------------------------------------------------------------------------------------------------

    def _remark(self, sent: Sent) -> str:
        (arrow,) = sent.arrows
        if arrow.event is None:
            return "; ".join(
                filter(None, [f"LOST: {self._short(arrow.target, 20)} is down", self._verdict(arrow)])
            )
        when = "at the beginning" if arrow.cause is None else f"at {arrow.cause}"
        told = f"LOST, sent {when}" if arrow.fate is Fate.LOST else f"sent {when}"
        return "; ".join(filter(None, [told, self._verdict(arrow)]))

    def _verdict(self, line: Mark | Arrow) -> str:
        """Return the verdict, on the last line of the event after which something is wrong, and nowhere else."""
        number = line.cause if isinstance(line, Arrow) and line.event is None else line.event
        if self.diagram.broken is None or number != self.diagram.broken:
            return ""
        turned = isinstance(self._final, Mark) and self._is_turn_of_code(self._final)
        return "VIOLATED" if line is self._final or turned else ""

    def _afterwords(self) -> Iterator[str]:
        kinds = {m.kind for m in self.diagram.marks}
        explained = {
            MarkKind.OUTSIDE: "a message from outside",
            MarkKind.TIMER: "a timer",
            MarkKind.ITSELF: "a message to itself",
        }
        told = [f"{self._symbol(kind)} {what}" for kind, what in explained.items() if kind in kinds]
        if self.diagram.down or any(m.kind is MarkKind.STOP for m in self.diagram.marks):
            told.append(f"{self.glyphs.dead} not up")
        if told:
            yield from self._wrap("   ".join(told), self.width)
        yield from super()._afterwords()


def _sent_line(arrow: Arrow) -> Sent:
    return Sent(arrow.source, arrow.labels, (arrow,))


def _in_order(diagram: Diagram) -> list[tuple[int, Mark | Arrow]]:
    """Return every line with the number of its event; what an event sends in vain follows it."""
    lines: list[tuple[int, int, Mark | Arrow]] = [(mark.event, 0, mark) for mark in diagram.marks]
    for place, arrow in enumerate(diagram.arrows, start=1):
        if arrow.event is None:
            lines.append((arrow.cause or 0, place, arrow))
        else:
            lines.append((arrow.event, 0, arrow))
    return [(number, line) for number, _, line in sorted(lines, key=lambda entry: entry[:2])]
