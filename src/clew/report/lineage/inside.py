"""What a box of several goals shows when it is opened: its goals one by one, with the rules between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from clew.explain.lineage_graph import LineageGraph
from clew.explain.overview import Box
from clew.report.lineage.boxes import (
    GOAL_HEIGHT,
    Plan,
    Size,
    edge_line,
    firing_box,
    firing_kinds,
    firing_size,
    goal_box,
    goal_kinds,
    goal_size,
    stroke,
)
from clew.report.lineage.marks import Marks
from clew.report.lineage.words import RuleWords, goal_label, goal_times, goal_title

#: So that the box around it still fits where the drawing does.
MOST_WIDTH = 1100.0
#: Pixels around the inner drawing.
_MARGIN = 10


@dataclass(frozen=True)
class Inside:
    """The drawing within a box; goals of other boxes appear in it as mere references."""

    graph: LineageGraph
    box: Box
    words: RuleWords
    marks: Marks

    @cached_property
    def _firings(self) -> list[int]:
        return [firing for goal in self.box.goals for firing in self.graph.why[goal]]

    @cached_property
    def _goals(self) -> list[int]:
        """Return the goals of the box, and then those elsewhere that its firings need."""
        needed = (goal for firing in self._firings for goal in self.graph.needs[firing])
        # Each goal once: a goal of the box may also be needed by one of its firings.
        return list(dict.fromkeys((*self.box.goals, *needed)))

    @cached_property
    def _plan(self) -> Plan:
        sizes = [
            goal_size(f"{goal_label(g)} {goal_times(g)}") for g in map(self.graph.goals.__getitem__, self._goals)
        ]
        sizes += [firing_size(self._label(firing)) for firing in self._firings]
        goal_at = {goal: place for place, goal in enumerate(self._goals)}
        firing_at = {firing: len(self._goals) + place for place, firing in enumerate(self._firings)}
        edges = [(goal_at[goal], firing_at[f]) for goal in self.box.goals for f in self.graph.why[goal]]
        edges += [(firing_at[f], goal_at[goal]) for f in self._firings for goal in self.graph.needs[f]]
        return Plan(sizes, edges, MOST_WIDTH)

    def _label(self, firing: int) -> str:
        return self.words.label([self.graph.firings[firing]])

    @property
    def size(self) -> Size:
        """Return the size of the whole box when it is open."""
        return Size(self._plan.width + 2 * _MARGIN, GOAL_HEIGHT + self._plan.height + 2 * _MARGIN)

    def svg(self) -> str:
        plan = self._plan
        left = -plan.width / 2
        parts = [f'<g class="inside" transform="translate({left:.0f},{GOAL_HEIGHT + _MARGIN})">']
        parts.extend(self._edges())
        parts.extend(self._goal_boxes())
        parts.extend(self._firing_boxes())
        parts.append("</g>")
        return "".join(parts)

    def _edges(self) -> Iterator[str]:
        """Draw each edge, one into a message with the strokes through it."""
        for number, (_, lower) in enumerate(self._plan.edges):
            if lower < len(self._goals):
                yield edge_line((), "", self._plan.path(number))
                continue
            firing = self._firings[lower - len(self._goals)]
            data = f'data-into="{firing}"'
            cut = ["cut"] if firing in self.marks.cut else []
            message = ["message"] if self.graph.firings[firing].transfer else []
            yield edge_line([*message, *cut], data, self._plan.path(number))
            if message:
                yield stroke(cut, data, self._plan.middle(number))

    def _goal_boxes(self) -> Iterator[str]:
        members = set(self.box.goals)
        for place, number in enumerate(self._goals):
            goal = self.graph.goals[number]
            kinds = [*goal_kinds(goal), *([] if number in members else ["elsewhere"])]
            kinds += ["gone"] if number in self.marks.gone else []
            # A reference must not be taken for the goal itself by the script that marks what is gone.
            data = f'data-{"goal" if number in members else "elsewhere"}="{number}"'
            words = (goal_label(goal), goal_times(goal), goal_title(goal))
            yield goal_box(
                kinds, data, (self._plan.x(place), self._plan.top(place)), self._plan.sizes[place], words
            )

    def _firing_boxes(self) -> Iterator[str]:
        for place, number in enumerate(self._firings, start=len(self._goals)):
            firing = self.graph.firings[number]
            kinds = [*firing_kinds(firing), *(["cut"] if number in self.marks.cut else [])]
            words = (self._label(number), self.words.title([firing]))
            at = (self._plan.x(place), self._plan.top(place))
            yield firing_box(kinds, f'data-firing="{number}"', at, self._plan.sizes[place], words)
