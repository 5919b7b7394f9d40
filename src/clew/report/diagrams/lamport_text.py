"""A Lamport diagram for the terminal: processes are columns, time goes down, messages are horizontal arrows.

Between the lines of time t and t + 1 stand the messages sent at t, one line for each sender and kind of message;
a line has a head at every process that it goes to.  Lost messages end in a cross and are named at the right
margin, a process that crashes, goes down or pauses says so in its column, and its lifeline looks different from
then on.  A partition is a bar beside its times, and names its group at the margin.  Steps that repeat the one
before are summed up, and where the run begins to repeat itself for ever, the margin says so.

The lines never exceed the width: names are shortened, remarks are wrapped, and when there are too many processes
some are left out, first those that neither send nor receive; the messages of others are then written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from clew.report.diagrams.lamport import Arrow, Diagram, Fate, GiftKind, HaltKind
from clew.report.text.plain import char_columns, columns, in_ascii, printable, shorten

#: Columns from one lifeline to the next: fewer leave no arrow to see, fewer than the second are a crowd, more than
#: the last tear the picture apart.
_CLOSEST, _EASY, _WIDEST = 4, 8, 24
#: In a crowd names stand in several rows, so that they can be longer than a column is wide.
_NAME_ROWS = 3
_FOR_GOOD = ("CRASHED", "STOPPED")
#: What the column of a process says when it stops to run for a while, and the margin when it runs again.
_HALTED = {HaltKind.DOWN: "DOWN", HaltKind.PAUSED: "PAUSED"}
_GIVEN = {GiftKind.INPUT: "INPUT", GiftKind.PICK: "CHOICE"}
_RUNS_AGAIN = {HaltKind.DOWN: "restarts", HaltKind.PAUSED: "goes on"}


class _Glyphs(NamedTuple):
    """The characters of a drawing, each one column wide."""

    life: str
    dead: str
    line: str
    lost_line: str
    crossing: str
    sender: str
    to_right: str
    to_left: str
    lost: str
    more: str
    repeated: str
    written_out: str
    paused: str
    band: str


_UNICODE = _Glyphs("│", "┊", "─", "╌", "┼", "●", "►", "◄", "✗", "…", "⋮", "→", "║", "▒")
_ASCII = _Glyphs("|", ".", "-", ".", "+", "o", ">", "<", "X", "~", ":", "->", "=", "#")


def diagram_lines(diagram: Diagram, *, width: int = 100, ascii_only: bool = False) -> list[str]:
    """Draw the diagram in lines, none wider than ``width`` (at least 40) columns."""
    # Less would leave no room for lifelines beside the gutter and the margin of remarks.
    if width < 40:
        raise ValueError(f"a diagram needs a width of 40 columns, not {width}")
    return list(Drawing(diagram, width, ascii_only).lines())


class Sent(NamedTuple):
    """One line of the picture: what a process sends at a time with the same names."""

    source: str
    labels: tuple[str, ...]
    arrows: tuple[Arrow, ...]


class Drawing:
    """Where everything goes, decided once, and the lines that follow from it."""

    def __init__(self, diagram: Diagram, width: int, ascii_only: bool) -> None:
        self.diagram = diagram
        self.width = width
        self.glyphs = _ASCII if ascii_only else _UNICODE
        self._clean: Callable[[str], str] = in_ascii if ascii_only else printable
        # The order matters: each of these asks those before it, and a subclass answers some of them otherwise.
        self.digits = len(str(self._largest()))
        self.gutter = self.digits + (3 if diagram.bands else 2)  # the bars of partitions stand apart from numbers
        self.steps = self._steps()
        self.repeated = self._repetitions()
        self.room = width - self.gutter - self._reserve_margin()
        self.shown = self._choose_columns()
        self.spacing = self._spacing()
        self.half = self._half()
        self.position = {p: self.gutter + self.half + k * self.spacing for k, p in enumerate(self.shown)}
        self.margin = max(self.position.values(), default=0) + self.half + 3

    # -- where everything goes ---------------------------------------------------------------------------

    def _largest(self) -> int:
        """Return the largest number in the gutter."""
        return self.diagram.last

    def _steps(self) -> list[list[Sent]]:
        """Group what is sent at every time, by sender in the order of the processes and then by name."""
        order = {p: k for k, p in enumerate(self.diagram.processes)}
        steps: list[list[Sent]] = [[] for _ in range(self.diagram.last)]
        # What is lost gets a line of its own: a line that goes on after a cross would look like a relay.  So do
        # second arrivals: a line has one head at a process.
        arrows = sorted(
            self.diagram.arrows,
            key=lambda a: (a.sent, order[a.source], a.labels, _is_lost(a), _is_again(a), order[a.target]),
        )
        for (time, source, labels, *_), group in groupby(
            arrows, key=lambda a: (a.sent, a.source, a.labels, _is_lost(a), _is_again(a))
        ):
            steps[time - 1].append(Sent(source, labels, tuple(group)))
        return steps

    def _repetitions(self) -> dict[int, int]:
        """Find the steps that the following ones repeat, each with the last of these; the end is always shown."""
        repeated: dict[int, int] = {}
        told = {time for time in range(1, self.diagram.last + 1) if any(self._changes(time))}
        time = 1
        while time < self.diagram.last:
            until, pattern = time, self._pattern(time)
            while until + 1 < self.diagram.last and until + 1 not in told and self._pattern(until + 1) == pattern:
                until += 1
            # An empty step is one line anyway: summing up a single one would save nothing.
            if until > time + (0 if pattern else 1):
                repeated[time] = until
            time = until + 1
        return repeated

    def _pattern(self, time: int) -> tuple[object, ...]:
        """Return what makes a step look as it does, but for the time."""
        return tuple(
            (a.source, a.target, a.labels, a.fate, a.blamed, None if a.arrived is None else a.arrived - time)
            for sent in self.steps[time - 1]
            for a in sent.arrows
        )

    def _reserve_margin(self) -> int:
        """Return the width of the right margin: what the remarks ask for, but never half of the picture."""
        remarks = [self._remark(sent) for step in self.steps for sent in step]
        remarks += [remark for time in range(1, self.diagram.last + 1) for _, _, remark in self._changes(time)]
        remarks += [self._repetition(time) for time in self.repeated]
        asked = max((columns(self._clean(remark)) for remark in remarks), default=0)
        # Longer remarks are wrapped; without any there is still room for a word.
        return max(12, min(asked, self.width * 2 // 5)) + 2

    def _choose_columns(self) -> list[str]:
        """Choose the processes that get a column: in a crowd only the busy ones, those that faults touch first."""
        processes, busy = list(self.diagram.processes), self._busy()
        if len(processes) > self.room // _EASY and busy:
            processes = [p for p in processes if p in busy]
        hit = {end for a in self.diagram.arrows if a.fault for end in (a.source, a.target)}
        hit |= self._struck()
        # Those that faults touch first: they are what a reader looks for.  Columns keep the order of the program.
        kept = set(sorted(processes, key=lambda p: p not in hit)[: self.room // _CLOSEST])
        return [p for p in processes if p in kept]

    def _busy(self) -> set[str]:
        ends = {end for a in self.diagram.arrows for end in (a.source, a.target)}
        return ends | self._struck()

    def _struck(self) -> set[str]:
        """Return the processes that faults hit, and not only their messages."""
        struck = {c.process for c in self.diagram.crashes} | {h.process for h in self.diagram.halts}
        struck |= {gift.process for gift in self.diagram.gifts if gift.process}
        return struck | {process for band in self.diagram.bands for process in band.group}

    def _spacing(self) -> int:
        """Return how far apart lifelines are: as names and labels like it, and as there is room for."""
        wished = max(_EASY, self._widest_centred() + 2, self._widest_label() + 7)
        possible = (self.room - self._widest_centred()) // max(1, len(self.shown) - 1)
        if (
            possible < self._widest_centred() + 2
        ):  # names will be shortened, so they reach less far beyond the outermost
            possible = self.room // max(1, len(self.shown))
        # Too close rather than too wide for the terminal, which would break the lines.
        return max(_CLOSEST, min(wished, possible, _WIDEST))

    def _widest_label(self) -> int:
        return max((columns(self._label(sent)) for step in self.steps for sent in step), default=0)

    def _widest_centred(self) -> int:
        """Return the width of the widest word that is centred on a lifeline: a name, or that of a crash."""
        names = max((columns(self._clean(p)) for p in self.shown), default=0)
        words = [crash.word for crash in self.diagram.crashes]
        words += [_HALTED[halt.kind] for halt in self.diagram.halts]
        words += [_GIVEN[gift.kind] for gift in self.diagram.gifts if gift.process]
        return max(names, *map(len, words), 0)

    def _half(self) -> int:
        return min(self._widest_centred(), self.spacing - 1) // 2

    # -- the lines -----------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield from self._header()
        time = 1
        while time <= self.diagram.last:
            yield from self._time_line(time)
            for sent in self.steps[time - 1]:
                yield from self._message_lines(sent, time)
            if time in self.repeated:
                until = self.repeated[time]
                yield from self._row(self.glyphs.repeated, self._lifelines(until), self._repetition(time), until)
            time = self.repeated.get(time, time) + 1
        yield from self._afterwords()

    def _header(self) -> Iterator[str]:
        longest = max((columns(self._clean(p)) for p in self.shown), default=0)
        # Names in turn on several rows, so that each may be as long as several columns are wide.
        rows = min(_NAME_ROWS, longest // self.spacing + 1) if self.spacing < 2 * _EASY else 1
        for row in range(rows):
            cells = [" "] * self.width
            for k, at in enumerate(self.position.values()):
                cells[at] = self.glyphs.life if k % rows < row else " "
            for k, (process, at) in enumerate(self.position.items()):
                if k % rows == row:
                    name = self._short(process, rows * self.spacing - 1)
                    left = min(at - columns(name) // 2, self.width - columns(name))
                    put(cells, max(self.gutter, left), name)
            yield "".join(cells).rstrip()

    def _lifelines(self, time: int) -> list[str]:
        cells = [" "] * self.margin
        if any(band.covers(time) for band in self.diagram.bands):
            cells[self.gutter - 2] = self.glyphs.band
        for process, at in self.position.items():
            cells[at] = self._life(process, time)
        return cells

    def _life(self, process: str, time: int) -> str:
        if self._is_down(process, time):
            return self.glyphs.dead
        paused = (h for h in self.diagram.halts if h.process == process and h.kind is HaltKind.PAUSED)
        return self.glyphs.paused if any(halt.covers(time) for halt in paused) else self.glyphs.life

    def _is_down(self, process: str, time: int) -> bool:
        down = (h for h in self.diagram.halts if h.process == process and h.kind is HaltKind.DOWN)
        crashed = any(c.process == process and c.time <= time for c in self.diagram.crashes)
        return crashed or any(halt.covers(time) for halt in down)

    def _changes(self, time: int) -> Iterator[tuple[str, str, str]]:
        """Yield what happens to processes at a time: which one, a word for its column, and a remark."""
        codes = self.diagram.faults
        for crash in self.diagram.crashes:
            if crash.time == time:
                yield crash.process, crash.word, codes[crash.fault - 1]
        for halt in self.diagram.halts:
            if halt.first == time:
                yield halt.process, _HALTED[halt.kind], codes[halt.fault - 1]
            if halt.end == time:
                yield halt.process, "", f"{self._short(halt.process, 20)} {_RUNS_AGAIN[halt.kind]}"
        for gift in self.diagram.gifts:
            if gift.time == time:
                yield gift.process, _GIVEN[gift.kind] if gift.process else "", codes[gift.fault - 1]
        for band in self.diagram.bands:
            group = ", ".join(self._short(process, 20) for process in band.group)
            if band.first == time:
                yield "", "", f"{group} CUT OFF {codes[band.fault - 1]}"
            if band.end == time:
                yield "", "", f"{group} no longer cut off"
        alarms = [alarm.text for alarm in self.diagram.alarms if alarm.time == time]
        if alarms:
            more = f" and {len(alarms) - 1} more" if len(alarms) > 1 else ""
            yield "", "", f"VIOLATED {alarms[0]}{more}"

        loop = self.diagram.loop
        if loop and time == loop.first:
            yield "", "", f"REPEATS every {loop.period} steps"
        if loop and time > loop.first and (time - loop.first) % loop.period == 0:
            yield "", "", f"as at time {time - loop.period}"

    def _time_line(self, time: int) -> Iterator[str]:
        cells, notes = self._lifelines(time), []
        for process, word, remark in self._changes(time):
            if not word:
                notes.append(remark)
            elif process in self.position and self.spacing > len(word) + 1:
                put(cells, self.position[process] - len(word) // 2, word)
                notes.append(remark)
            else:
                if process in self.position and word in _FOR_GOOD:  # the others have lifelines of their own
                    cells[self.position[process]] = self.glyphs.lost
                notes.append(f"{self._short(process, 20)} {word} {remark}")
        yield from self._row(str(time), cells, "; ".join(notes), time)

    def _message_lines(self, sent: Sent, time: int, gutter: str = "") -> Iterator[str]:
        drawn = [a for a in sent.arrows if a.source in self.position and a.target in self.position]
        label, cells = self._label(sent), self._lifelines(time)
        labelled = self._draw(cells, sent.source, drawn, label) if drawn else False
        notes = [] if labelled or not drawn else [label]
        notes += [self._write_out(a, label) for a in sent.arrows if a not in drawn]
        yield from self._row(gutter, cells, "; ".join(filter(None, [*notes, self._remark(sent)])), time)

    def _draw(self, cells: list[str], source: str, arrows: Sequence[Arrow], label: str) -> bool:
        """Draw an arrow into the cells, and tell whether the label found its place on it."""
        glyphs, start = self.glyphs, self.position[source]
        heads = {self.position[a.target]: a for a in arrows}
        low, high = min(start, *heads), max(start, *heads)
        lifelines = set(self.position.values())
        # The line is solid as far as something arrives, and dashed from there on.
        arrives = [at for at, arrow in heads.items() if arrow.fate is not Fate.LOST] or [start]
        for at in range(low, high + 1):
            line = glyphs.line if min(start, *arrives) <= at <= max(start, *arrives) else glyphs.lost_line
            cells[at] = glyphs.crossing if at in lifelines else line
        for at, arrow in heads.items():
            head = glyphs.to_right if at > start else glyphs.to_left
            cells[at] = glyphs.lost if arrow.fate is Fate.LOST else head
        cells[start] = glyphs.sender
        place = place_for(columns(label) + 2, start, sorted({start, *heads}), sorted(lifelines))
        if place is not None:
            put(cells, place, f" {label} ")
        return place is not None

    def _row(self, gutter: str, cells: list[str], note: str, time: int) -> Iterator[str]:
        """Yield one line with its remark, and as many more as the remark needs."""
        room = self.width - self.margin
        # What is lost must not be torn from the word that says so.
        glued = self._clean(note).replace("LOST ", "LOST\N{NO-BREAK SPACE}")
        first, *more = [line.replace("\N{NO-BREAK SPACE}", " ") for line in self._wrap(glued, room)]
        put(cells, 0, gutter.rjust(self.digits))
        yield ("".join(cells) + first).rstrip()
        for part in more:
            yield ("".join(self._lifelines(time)) + part).rstrip()

    # -- words ---------------------------------------------------------------------------------------------

    def _repetition(self, time: int) -> str:
        until = self.repeated[time]
        if not self.steps[time - 1]:
            return f"nothing is sent at times {time} to {until}"
        if until == time + 1:
            return f"the same at time {until}"
        return f"the same at times {time + 1} {'and' if until == time + 2 else 'to'} {until}"

    def _label(self, sent: Sent) -> str:
        return self._clean(", ".join(sent.labels))

    def _write_out(self, arrow: Arrow, label: str) -> str:
        ends = (self._short(arrow.source, 16), self.glyphs.written_out, self._short(arrow.target, 16))
        return f"{' '.join(ends)} {label}"

    def _remark(self, sent: Sent) -> str:
        """Say what befalls the messages of a line, by kind of mishap."""
        remarks: dict[str, list[str]] = {}
        for arrow in sent.arrows:
            kind = _mishap(arrow)
            if kind is not None:
                codes = [self.diagram.faults[number - 1] for number in arrow.blamed]
                remarks.setdefault(kind, []).extend(codes or [f"to {arrow.target}"])
        return "; ".join(f"{kind} {' '.join(dict.fromkeys(named))}" for kind, named in remarks.items())

    def _afterwords(self) -> Iterator[str]:
        """Say what is not in the picture, and why."""
        told = [f"{self._clean(fault)}: no such message here" for fault in self.diagram.unseen_faults]
        missing = [p for p in self.diagram.processes if p not in self.position]
        busy, of = self._busy(), f"of {len(self.diagram.processes)} processes"
        idle = sum(1 for p in missing if p not in busy)
        if idle:
            told.append(f"left out for lack of room: {idle} {of}, untouched by any message or fault")
        if len(missing) > idle:
            told.append(
                f"without a column for lack of room: {len(missing) - idle} {of}; their messages are written out"
            )
        for text in told:
            yield from map(str.rstrip, self._wrap(text, self.width))

    def _wrap(self, text: str, room: int) -> list[str]:
        """Break a text into lines, at least one; the standard library counts characters, not columns."""
        lines = [""]
        for word in (shorten(word, room, self.glyphs.more) for word in text.split(" ")):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if columns(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _short(self, text: str, room: int) -> str:
        return shorten(self._clean(text), room, self.glyphs.more)


def _is_lost(arrow: Arrow) -> bool:
    return arrow.fate is Fate.LOST


def _is_again(arrow: Arrow) -> bool:
    return arrow.fate is Fate.AGAIN


def _mishap(arrow: Arrow) -> str | None:
    if arrow.foreseen:
        return "to be hit by"
    match arrow.fate:
        case Fate.DELIVERED:
            return None
        case Fate.LOST:
            return "LOST"
        case Fate.LATE:
            return f"LATE, arrives at {arrow.arrived}:"
        case Fate.NEVER:
            return "LATE, not there at the end:"
        case Fate.AGAIN:
            return f"AGAIN, arrives at {arrow.arrived}:"


def place_for(length: int, start: int, marks: Sequence[int], lifelines: Sequence[int]) -> int | None:
    """Find where a label fits on an arrow: next to the sender, if possible without covering a lifeline."""
    inner = [x for x in lifelines if marks[0] <= x <= marks[-1]]
    # First between two lifelines; if no gap is wide enough, across those that the message does not go to.
    for stops in (inner, marks):
        # At least one character of the line shows on either side, or the arrow would be torn apart.
        gaps = [(low, high) for low, high in pairwise(stops) if high - low - 1 >= length + 2]
        if gaps:
            low, high = min(gaps, key=lambda gap: (min(abs(gap[0] - start), abs(gap[1] - start)), -gap[0]))
            return low + 1 + (high - low - 1 - length) // 2
    return None


def put(cells: list[str], at: int, text: str) -> None:
    """Write into the cells; a wide character takes two of them, a combining one joins the cell before."""
    for char in text:
        match char_columns(char):
            case 0:
                cells[at - 1] += char
            case 1:
                cells[at] = char
                at += 1
            case _:
                cells[at : at + 2] = [char, ""]
                at += 2
