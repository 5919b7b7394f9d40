"""The lineage of an outcome as SVG: the outcome on top, causes below, messages dashed (as in Figures 4-7).

Goals are rounded boxes, the rules that connect them small ones; the box of a rule whose conclusion travelled names
the message.  A row that merely persists is one goal with a range of times: it opens to its single steps.  Absences
that rest on each other are one box, too, with their number below; it opens to a drawing of its own (``overview``).

The drawing is static by itself.  For the page, every element says what it is, so that a script can open boxes,
fold what lies below them and mark what a counterexample cuts:

* boxes are ``g[data-box]`` and what connects them ``g[data-joint]``, by their numbers in the overview, with their
  size (``data-size``) and place (``data-x``, ``data-layer``); ``data-opened`` is the size of a box when it opens;
* edges are ``path[data-route]``, with the two numbers they connect and the points they pass as ``x,layer``;
* goals and firings of the graph, also those inside of boxes, have their own numbers, ``data-goal`` and
  ``data-firing``; ``data-into`` is on what leads to a firing.

``cut`` marks a firing whose message is cut (its edge is struck through), ``gone`` a goal that no longer holds,
``touched`` absences of which some no longer hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.engine.execution import Execution
from clew.errors import UsageError
from clew.explain.explainer import Explainer
from clew.explain.lineage_graph import Goal, LineageGraph
from clew.explain.overview import Box, BoxKind, Overview, overview
from clew.program.ir import Rule
from clew.report.lineage.boxes import (
    GOAL_HEIGHT,
    STYLE,
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
from clew.report.lineage.inside import Inside
from clew.report.lineage.marks import Marks, lineage_marks
from clew.report.lineage.words import (
    RuleWords,
    box_span,
    box_title,
    goal_label,
    goal_times,
    goal_title,
    joint_label,
    joint_title,
    times_text,
)
from clew.report.text.colours import COLOURS
from clew.report.text.html import safe

#: Pixels for one step of a row that persists, when its box is open; and around the drawing.
_STEP_HEIGHT = 15
_MARGIN = 12
#: With its margins and those of the page a drawing fits a window of 1,280 pixels, scroll bars included.
MOST_WIDTH = 1160.0


def lineage_svg(
    graph: LineageGraph,
    seen: Overview,
    rules: Sequence[Rule],
    *,
    title: str,
    marks: Marks | None = None,
    standalone: bool = False,
) -> str:
    """Draw the overview of a graph; ``standalone`` for a file of its own, in which nothing opens."""
    return _Picture(graph, seen, rules, marks or Marks(), opens=not standalone).svg(title, standalone)


def lineage_picture(run: Execution, explainer: Explainer) -> str:
    """Draw why the first violation of the run stays away without its faults, and what they cut."""
    # Of a run without violations the picture shows an outcome: why it holds.
    of = next((v for v in (*run.violations, *explainer.outcomes()) if explainer.explains(v)), None)
    if of is None:
        raise UsageError(
            "the failure-free run achieves nothing, so there is no lineage", remedy="give a larger --eot"
        )
    graph = explainer.lineage(of).focused
    rules = explainer.program.rules
    seen = overview(graph, rules)
    marks = lineage_marks(graph, seen, run)
    return lineage_svg(graph, seen, rules, title=f"Lineage of {of}", marks=marks, standalone=True) + "\n"


class _Picture:
    def __init__(
        self, graph: LineageGraph, seen: Overview, rules: Sequence[Rule], marks: Marks, opens: bool
    ) -> None:
        self._graph = graph
        self._seen = seen
        self._words = RuleWords(rules)
        self._marks = marks
        self._opens = opens
        box_of_joint = {joint: box for box, joints in enumerate(seen.why) for joint in joints}
        self._box_of_joint = [seen.boxes[box_of_joint[joint]] for joint in range(len(seen.joints))]
        self._labels = [goal_label(graph.goals[box.named[0]]) for box in seen.boxes]
        boxes = len(seen.boxes)
        edges = [(box, boxes + joint) for box, joints in enumerate(seen.why) for joint in joints]
        # Boxes come first, so their numbers are those of the overview; joints follow.
        edges += [(boxes + joint, box) for joint, needs in enumerate(seen.needs) for box in needs]
        sizes = [goal_size(f"{self._labels[n]} {self._times(box)}") for n, box in enumerate(seen.boxes)]
        sizes += [firing_size(self._joint_label(joint)) for joint in range(len(seen.joints))]
        self._plan = Plan(sizes, edges, MOST_WIDTH)

    def _times(self, box: Box) -> str:
        if box.kind is not BoxKind.SINGLE:
            first, last = box_span(self._graph, box)
            return f"▾@{times_text(range(first, last + 1))}"
        goal = self._graph.goals[box.goals[0]]
        return f"{'▾' if _is_chain(goal) else ''}{goal_times(goal)}"

    def _joint_label(self, joint: int) -> str:
        return joint_label(self._graph, self._seen.joints[joint], self._box_of_joint[joint], self._words)

    def svg(self, title: str, standalone: bool) -> str:
        width, height = self._plan.width + 2 * _MARGIN, self._plan.height + 2 * _MARGIN
        summary = f"{title}: {len(self._graph.goals)} goals, {len(self._graph.firings)} rule applications"
        parts = [
            f'<svg class="lineage" role="group" aria-label="{safe(summary)}" viewBox="0 0 {width:.0f} {height}"'
            f' width="{width:.0f}" height="{height}" data-heights="{" ".join(map(str, self._plan.heights))}"'
        ]
        parts.append(' xmlns="http://www.w3.org/2000/svg">' if standalone else ">")
        if standalone:
            parts.append(f"<style>{COLOURS}{STYLE}</style>")
            parts.append(f'<rect width="{width:.0f}" height="{height}" fill="var(--paper,#fff)"/>')
        parts.append(f'<g transform="translate({_MARGIN},{_MARGIN})">')
        parts.extend(part for edge in range(len(self._plan.edges)) for part in self._edge(edge))
        parts.extend(self._box(number, box) for number, box in enumerate(self._seen.boxes))
        parts.extend(self._joint(number) for number in range(len(self._seen.joints)))
        parts.append("</g></svg>")
        return "".join(parts)

    # -- edges ---------------------------------------------------------------------------------------------------

    def _edge(self, number: int) -> Iterator[str]:
        """Draw an edge, and the strokes through it if it leads to a message."""
        boxes = len(self._seen.boxes)
        upper, lower = self._plan.edges[number]
        route = f'data-route="{self._plan.route(number)}"'
        if lower < boxes:
            yield edge_line(
                (), f'data-joint="{upper - boxes}" data-below="{lower}" {route}', self._plan.path(number)
            )
            return
        joint = self._seen.joints[lower - boxes]
        # Only then is the joint one firing of the graph, and marked by its number there.
        alone = self._box_of_joint[lower - boxes].kind is BoxKind.SINGLE
        into = f'data-into="{joint.firings[0]}"' if alone else ""
        message = ["message"] if self._is_message(lower - boxes) else []
        cut = ["cut"] if message and self._is_cut(lower - boxes) else []
        data = f'data-box="{upper}" data-below="{lower - boxes}" {into}'
        yield edge_line([*message, *cut], f"{data} {route}", self._plan.path(number))
        if message:
            yield stroke(cut, f'data-joint="{lower - boxes}" {into}', self._plan.middle(number))

    def _is_message(self, joint: int) -> bool:
        found = self._seen.joints[joint]
        return not found.through and self._graph.firings[found.firings[0]].transfer is not None

    def _is_cut(self, joint: int) -> bool:
        """Tell whether faults cut a joint; one of its own is cut with its firing."""
        return joint in self._marks.joints or not set(self._seen.joints[joint].firings).isdisjoint(self._marks.cut)

    # -- boxes ---------------------------------------------------------------------------------------------------

    def _place(self, number: int) -> tuple[str, tuple[float, float], Size]:
        plan = self._plan
        size = plan.sizes[number]
        data = (
            f'data-x="{plan.x(number):.0f}" data-layer="{plan.layer(number)}"'
            f' data-size="{size.width:.0f} {size.height}"'
        )
        return data, (plan.x(number), plan.top(number)), size

    def _box(self, number: int, box: Box) -> str:
        goal = self._graph.goals[box.named[0]]
        place, at, size = self._place(number)
        kinds = goal_kinds(goal)
        # The overview begins with the outcome: the first box is what everything below explains.
        kinds += ["outcome"] if number == 0 else []
        if box.kind is not BoxKind.SINGLE:
            return self._bundle(number, box, kinds, place)
        kinds += ["gone"] if box.goals[0] in self._marks.gone else []
        kinds += ["chain"] if _is_chain(goal) else []
        # A chain is closed and opens to its steps, another box shows its causes and folds them; without causes it
        # does neither.
        button = self._button(not _is_chain(goal)) if _is_chain(goal) or self._seen.why[number] else ""
        data = f'data-box="{number}" data-goal="{box.goals[0]}" {place}{button}'
        words = (self._labels[number], self._times(box), goal_title(goal))
        return goal_box(kinds, data, at, size, words, "".join(_steps(goal)) if _is_chain(goal) else "")

    def _bundle(self, number: int, box: Box, kinds: list[str], place: str) -> str:
        """Draw a box of several goals, with what it shows when it is opened."""
        kinds += ["bundle", box.kind.value, *(["gone"] if number in self._marks.boxes else [])]
        data, drawing = f'data-box="{number}" {place}', ""
        if self._opens:
            inside = Inside(self._graph, box, self._words, self._marks)
            drawing = inside.svg()
            data += f' data-opened="{inside.size.width:.0f} {inside.size.height}"{self._button(False)}'
        words = (self._labels[number], self._times(box), box_title(self._graph, box))
        at, size = self._place(number)[1:]
        return goal_box(kinds, data, at, size, words, drawing)

    def _button(self, expanded: bool) -> str:
        return "" if not self._opens else f' role="button" tabindex="0" aria-expanded="{str(expanded).lower()}"'

    def _joint(self, number: int) -> str:
        joint, box = self._seen.joints[number], self._box_of_joint[number]
        place, at, size = self._place(len(self._seen.boxes) + number)
        data = f'data-joint="{number}" {place}'
        if joint.through:
            kinds = ["firing", "through", *(["touched"] if number in self._marks.joints else [])]
        else:
            kinds = firing_kinds(self._graph.firings[joint.firings[0]])
            kinds += ["cut"] if self._is_cut(number) else []
        if box.kind is BoxKind.SINGLE:
            data = f'data-firing="{joint.firings[0]}" {data}'
        words = (self._joint_label(number), joint_title(self._graph, joint, box, self._words))
        return firing_box(kinds, data, at, size, words)


def _is_chain(goal: Goal) -> bool:
    return goal.last > goal.first and not goal.crashes


def _steps(goal: Goal) -> Iterator[str]:
    yield '<g class="steps">'
    # From the last time down to the first, whose cause is drawn below the box.
    for k, time in enumerate(range(goal.last, goal.first - 1, -1)):
        how = "as before" if time > goal.first else "see below"
        yield f'<text y="{GOAL_HEIGHT + 12 + k * _STEP_HEIGHT}">@{time} {how}</text>'
    yield "</g>"
