"""Where everything in a drawn Lamport diagram goes: lifelines, arrows, numbers of faults, labels.

A label may go to either side of its sender, above or below the line of its time.  It takes the place where it can
be written in full and is crossed by the fewest arrows, and never covers another text.  Widths of texts are
estimated, as they cannot be measured before the drawing is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import wrap

from clew.report.diagrams.lamport import Arrow, Band, Diagram, Fate

#: Pixels: above the first time, below the last, for the numbers of times, beside the outermost lifelines.
TOP, BOTTOM, GUTTER, SIDE = 78, 30, 34, 106
#: Pixels from time to time, and where nothing is under way.
_STEP, _EMPTY_STEP = 62, 28
#: Pixels from lifeline to lifeline, and what all of them may take together before they move closer.
_WIDE, _NARROW, _ALL_COLUMNS = 144, 92, 720
#: The height of a line of a label, how near and far from its lifeline it may begin, how many lines it may have.
LABEL_LINE, _NEAR, _FAR, _MOST_LINES = 12, 9, 34, 3
#: Half the size of a badge, and of the cross that ends a lost message, with some air around them.
_BADGE, _CROSS = 10, 9
#: How far the box of a crash, with its badge, reaches from the lifeline to the left, to the right and up and down.
_CRASH = (46, 37, 12)

#: How far the shade of a partition begins above its first time.
_BAND_ABOVE = 10

#: The size of every class of text.
TEXT_SIZES = {
    "name": 13,
    "time": 11,
    "label": 11,
    "badge": 11,
    "crash": 10,
    "halt": 10,
    "band": 11,
    "key": 12,
}


def text_width(length: int, kind: str) -> float:
    """Estimate the width of so many characters: more than common fonts need."""
    # Rather too wide than too narrow: a label that turns out wider than its box would cover an arrow.
    return length * TEXT_SIZES[kind] * 0.62


def kind_of(arrow: Arrow) -> str:
    """Return which of the five kinds that look different an arrow is: ok, lost, late, again, hit."""
    if arrow.foreseen:
        return "hit"
    if arrow.fate is Fate.AGAIN:
        return "again"
    if arrow.fate is Fate.LOST:
        return "lost"
    # Without a fault to blame, a long way is just how its system works.
    return "late" if arrow.fault else "ok"


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    @staticmethod
    def around(x: float, y: float, radius: float) -> Box:
        return Box(x - radius, y - radius, x + radius, y + radius)

    def overlaps(self, other: Box) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom

    def is_crossed_by(self, line: Line) -> bool:
        """Tell whether a line passes through: cut to the height of the box it must still meet its width."""
        if line.y1 <= self.top or line.y0 >= self.bottom:
            return False
        ends = [line.x_at(max(line.y0, self.top)), line.x_at(min(line.y1, self.bottom))]
        return min(ends) < self.right and self.left < max(ends)


@dataclass(frozen=True)
class Line:
    """The way of an arrow; time goes down, so ``y0`` is above ``y1``."""

    x0: float
    y0: float
    x1: float
    y1: float

    def x_at(self, y: float) -> float:
        return self.x0 + (self.x1 - self.x0) * (y - self.y0) / (self.y1 - self.y0)

    def at(self, part: float) -> tuple[float, float]:
        return self.x0 + (self.x1 - self.x0) * part, self.y0 + (self.y1 - self.y0) * part


@dataclass(frozen=True)
class Label:
    """Lines of text beside a sender."""

    lines: tuple[str, ...]
    full: str
    #: How many characters of the full text there is no room for.
    missing: int
    #: 1 to the right of the sender, -1 to its left.
    side: int
    box: Box


@dataclass(frozen=True)
class BandWords:
    """Who is cut off, as a text that ends at ``x``; its badge stands behind it, with its middle at ``y``."""

    text: str
    x: float
    y: float


class Layout:
    """The coordinates of a diagram: of times and processes, of arrows, badges and labels."""

    def __init__(self, diagram: Diagram, beside: Diagram | None = None) -> None:
        gaps = max(0, len(diagram.processes) - 1)
        # Lifelines move closer before the picture gets wider, down to where labels between them could not be read.
        self.gap = max(_NARROW, min(_WIDE, _ALL_COLUMNS / max(1, gaps)))
        self.x = {p: GUTTER + SIDE + k * self.gap for k, p in enumerate(diagram.processes)}
        self.width = GUTTER + 2 * SIDE + gaps * self.gap
        steps = self._steps(diagram, beside)
        self.y = dict(enumerate(accumulate(steps, initial=TOP), start=1))
        self.height = self.y[diagram.last] + BOTTOM
        self.lines = {a: self._line(a) for a in diagram.arrows}
        # Sorted into stripes, since comparing each label with each arrow grows with the square of the messages.
        self._near: dict[int, list[tuple[Line, int]]] = {}
        for arrow, line in self.lines.items():
            for row in _rows(line.y0, line.y1):
                # A label across what a fault hits would be worst: that is what the picture is about.
                self._near.setdefault(row, []).append((line, 1 if kind_of(arrow) == "ok" else 4))
        self._taken: dict[int, list[Box]] = {}
        self._take(Box(0, 0, self.width, TOP - 34))  # the heads of the lifelines
        self._take_marks(diagram)
        # Badges before labels: a badge has to be on its arrow, a label can go to four places.
        self.badges = {a: place for a in diagram.arrows if a.fault and (place := self._badge(a))}
        self.labels = dict(self._labels(diagram))

    def _steps(self, diagram: Diagram, beside: Diagram | None) -> list[int]:
        """Return the heights from time to time, which a diagram beside another one shares with it."""
        used = _busy_steps(diagram) | (_busy_steps(beside) if beside else set())
        return [_STEP if time in used else _EMPTY_STEP for time in range(1, diagram.last)]

    def _take_marks(self, diagram: Diagram) -> None:
        left, right, high = _CRASH
        for crash in diagram.crashes:
            x, y = self.x[crash.process], self.y[crash.time]
            self._take(Box(x - left, y - high, x + right, y + high))
        for halt in diagram.halts:
            x, y = self.x[halt.process], self.y[halt.first]
            self._take(Box(x - left, y - high, x + right, y + high))
        for gift in diagram.gifts:
            if gift.process:
                x, y = self.x[gift.process], self.y[gift.time]
                self._take(Box(x - left, y - high, x + right, y + high))
        self.band_words = {band: self._place_band_words(band) for band in diagram.bands}
        for arrow in diagram.arrows:
            if arrow.fate is Fate.LOST:
                self._take(Box.around(*self.cross(arrow), _CROSS))

    def _line(self, arrow: Arrow) -> Line:
        """Lead an arrow to where it arrives; a lost one to where it would have, others beyond the end."""
        arrived = arrow.sent + 1 if arrow.arrived is None else arrow.arrived
        y = self.y[arrow.sent]
        below = self.height - 6 if arrow.fate is Fate.NEVER else self.y.get(arrived, self.height - 6)
        # Never horizontal: an arrow that is under way at the end still goes down, like time does.
        return Line(self.x[arrow.source], y, self.x[arrow.target], max(below, y + 12))

    def cross(self, arrow: Arrow) -> tuple[float, float]:
        """Return where a lost message ends: in proportion, so that the crosses of several senders stay apart."""
        line = self.lines[arrow]
        # A fifth before the target; of a long way less, so that the cross stands behind the last lifeline it
        # passes.
        return line.at(1 - min(0.2, 0.85 * self.gap / abs(line.x1 - line.x0)))

    def band(self, band: Band) -> Box:
        """Return the shade of a partition: over the times at which what is sent is lost."""
        end = self.y.get(band.end, self.height)
        below = (self.y[band.end - 1] + end) / 2
        return Box(GUTTER, self.y[band.first] - _BAND_ABOVE, self.width - 4, below)

    def _place_band_words(self, band: Band) -> BandWords | None:
        """Find a place at the right edge of the shade to say who is cut off; a great crowd may leave none."""
        shade = self.band(band)
        room = int((SIDE - 2 * _BADGE - 10) / text_width(1, "band"))
        text = truncate(f"{', '.join(band.group)} cut off", room)
        right, high = shade.right - 2 * _BADGE - 4, 2 * _BADGE
        for top in range(int(shade.top) + 3, int(self.height) - high, high // 2):
            box = Box(right - text_width(len(text), "band"), top, shade.right, top + high)
            if not self._in_the_way(box):
                self._take(box)
                return BandWords(text, right, top + _BADGE)
        return None

    # -- what is taken ---------------------------------------------------------------------------------------

    def _take(self, box: Box) -> None:
        for row in _rows(box.top, box.bottom):
            self._taken.setdefault(row, []).append(box)

    def _in_the_way(self, box: Box) -> list[Box]:
        near = (taken for row in _rows(box.top, box.bottom) for taken in self._taken.get(row, ()))
        return [taken for taken in near if taken.overlaps(box)]

    # -- badges ----------------------------------------------------------------------------------------------

    def _badge(self, arrow: Arrow) -> tuple[float, float] | None:
        """Find a free place on the arrow, near its middle and off the lifelines; a great crowd may leave none."""
        # A lost message ends at its cross, four fifths of the way.
        line, end = self.lines[arrow], 0.8 if arrow.fate is Fate.LOST else 1.0
        places = [line.at((0.5 + away / 100) * end) for k in range(0, 33, 3) for away in ((k, -k) if k else (0,))]
        # Sorting is stable: among places off the lifelines, those near the middle still come first.
        places.sort(key=lambda place: min(abs(place[0] - x) for x in self.x.values()) < _BADGE + 3)
        for place in places:
            box = Box.around(*place, _BADGE)
            if not self._in_the_way(box):
                self._take(box)
                return place
        return None

    # -- labels ----------------------------------------------------------------------------------------------

    def _labels(self, diagram: Diagram) -> Iterator[tuple[tuple[str, int], Label | None]]:
        """Place a label for every sender and time, from top to bottom and left to right."""
        column = {p: k for k, p in enumerate(diagram.processes)}
        cells: dict[tuple[int, int], list[Arrow]] = {}
        for arrow in diagram.arrows:
            cells.setdefault((arrow.sent, column[arrow.source]), []).append(arrow)
        for (time, _), arrows in sorted(cells.items()):
            sender = arrows[0].source
            label = self._best_label(self.x[sender], self.y[time], _said(arrows))
            if label is not None:
                self._take(label.box)
            yield (sender, time), label

    def _best_label(self, x: float, y: float, texts: Sequence[str]) -> Label | None:
        """Choose where least is missing, then where the fewest arrows cross, then with the fewest lines."""
        candidates = (
            self._label_at(x, y, texts, side, below, height)
            for below in (True, False)
            for side in (1, -1)
            for height in range(1, _MOST_LINES + 1)
        )
        possible = [label for label in candidates if label is not None]
        return min(
            possible, default=None, key=lambda label: (label.missing, self._crossings(label), len(label.lines))
        )

    def _crossings(self, label: Label) -> int:
        rows = _rows(label.box.top, label.box.bottom)
        crossing = {line: weight for row in rows for line, weight in self._near.get(row, ())}
        return sum(weight for line, weight in crossing.items() if label.box.is_crossed_by(line))

    def _label_at(
        self, x: float, y: float, texts: Sequence[str], side: int, below: bool, height: int
    ) -> Label | None:
        """Fit the label at one place, as wide as is free there; None if that is too little."""
        near, far = self._free(x, side, *_band(y, below, height))
        room = int((far - near) / text_width(1, "label"))
        # Two characters and an ellipsis tell nothing; the tooltip of the arrow has the text.
        if room < 3 or _band(y, below, height)[1] > self.height:
            return None
        lines, missing = _fit(texts, room, height)
        top, bottom = _band(y, below, len(lines))
        left, right = sorted((x + side * near, x + side * (near + text_width(max(map(len, lines)), "label"))))
        return Label(lines, "; ".join(texts), missing, side, Box(left, top, right, bottom))

    def _free(self, x: float, side: int, top: float, bottom: float) -> tuple[float, float]:
        """Measure what is free on one side of a lifeline, as distances from it."""
        near, far = float(_NEAR), min(self.gap - _NEAR, self.width - 2 - x if side > 0 else x - GUTTER - 2)
        left, right = sorted((x + side * near, x + side * far))
        taken = self._in_the_way(Box(left, top, right, bottom))
        for begin, end in sorted(tuple(sorted((side * (t.left - x), side * (t.right - x)))) for t in taken):
            if end + 3 <= _FAR and begin <= near + 6:
                near = max(near, end + 3)  # begin behind what is close to the lifeline
            else:
                far = min(far, begin - 3)
        return near, far


def _said(arrows: Iterable[Arrow]) -> list[str]:
    """Say what a process sends at a time; to whom, only if it is not the same to all.  What is hit comes first."""
    groups: dict[tuple[str, ...], list[Arrow]] = {}
    for arrow in sorted(arrows, key=lambda a: (kind_of(a) == "ok", a.labels)):
        groups.setdefault(arrow.labels, []).append(arrow)
    # All get the same, so the arrows say to whom.
    if len(groups) == 1:
        return [", ".join(labels) for labels in groups]
    return [
        f"{', '.join(labels)} → {','.join(dict.fromkeys(a.target for a in group))}"
        for labels, group in groups.items()
    ]


def _fit(texts: Sequence[str], room: int, height: int) -> tuple[tuple[str, ...], int]:
    """Fit texts in so many lines of so many characters, and count the characters that had to go."""
    # The space before an arrow must not break: its target would stand alone in the next line.
    glued = [text.replace(" → ", "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}") for text in texts]
    lines = [line for text in glued for line in wrap(text, room, break_long_words=False, break_on_hyphens=False)]
    if len(lines) > height and len(texts) > 1:
        lines = glued
    if len(lines) > height:
        lines = [*lines[: height - 1], f"{lines[height - 1]}…"]
    shown = tuple(_shorten_label(line, room).replace("\N{NO-BREAK SPACE}", " ") for line in lines)
    # Spaces do not count: where lines are broken says nothing about what is missing.
    whole = sum(len(text.replace(" ", "")) for text in texts)
    return shown, max(0, whole - sum(len(line.rstrip("…").replace(" ", "")) for line in shown))


def pixels(value: float) -> str:
    """Write a number as short as a tenth of a pixel allows."""
    return f"{value:.1f}".removesuffix(".0")


def truncate(text: str, room: int) -> str:
    """Cut off the end of a text that is too long."""
    return text if len(text) <= room else f"{text[: room - 1].rstrip('…')}…"


def abridge(name: str, room: int) -> str:
    """Leave out the middle of a name that is too long: names differ at their end, and faults end in a time."""
    # Two thirds for the beginning, which tells what it is, and one for the end, which tells which one.
    tail = (room - 1) // 3
    return name if len(name) <= room else f"{name[: room - 1 - tail]}…{name[len(name) - tail :]}"


def _shorten_label(line: str, room: int) -> str:
    """Keep where a message goes, if that is short: it is what tells one line from the next."""
    what, arrow, targets = line.rpartition("\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}")
    if not arrow or len(line) <= room or len(targets) > room // 2 - len(arrow):
        return truncate(line, room)
    return truncate(what, room - len(arrow) - len(targets)) + arrow + targets


def _busy_steps(diagram: Diagram) -> set[int]:
    """Return the times after which something is under way."""
    return {
        time
        for a in diagram.arrows
        for time in range(a.sent, max(a.sent + 1, diagram.last if a.fate is Fate.NEVER else a.arrived or 0))
    }


def _band(y: float, below: bool, height: int) -> tuple[float, float]:
    """Return top and bottom of so many lines of a label below or above the line of a time."""
    return (y + 3, y + 3 + height * LABEL_LINE) if below else (y - 3 - height * LABEL_LINE, y - 3)


def _rows(top: float, bottom: float) -> range:
    """Return the stripes, each as high as a step, that something touches: only what shares one can collide."""
    return range(int(top // _STEP), int(bottom // _STEP) + 1)
