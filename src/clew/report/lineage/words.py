"""What the boxes of a lineage drawing say, and what they say in full when they are pointed at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.engine.execution import row_text
from clew.explain.lineage_graph import Firing, Goal, LineageGraph
from clew.explain.overview import Box, Joint
from clew.names import show
from clew.program.ir import DOWN, Rule
from clew.report.text.plain import pluralize
from clew.report.text.rules import rule_place, rule_text

#: Longer labels make boxes so wide that few fit side by side; the title has them in full.
_LONGEST_LABEL = 36
#: More lines than this do not fit on a screen when a box is pointed at.
_MOST_LINES = 24


def shorten_label(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


def goal_label(goal: Goal) -> str:
    return shorten_label(goal.label)


def goal_times(goal: Goal) -> str:
    always = goal.crashes and goal.relation != DOWN
    return "" if always else f"@{times_text(range(goal.first, goal.last + 1))}"


def times_text(times: Iterable[int]) -> str:
    """Return times with ranges, such as ``2–4, 7``."""
    parts: list[tuple[int, int]] = []
    for time in sorted(set(times)):
        if parts and parts[-1][1] == time - 1:
            parts[-1] = (parts[-1][0], time)
        else:
            parts.append((time, time))
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in parts)


def goal_title(goal: Goal) -> str:
    if goal.crashes:
        time = f" at time {goal.first}" if goal.relation == DOWN else ""
        return f"{goal.label}{time}, otherwise: {', '.join(map(str, goal.crashes))}"
    times = _at_times(range(goal.first, goal.last + 1))
    return f"{goal.label} {times}{'; holds whenever pre does' if goal.given else ''}"


def _at_times(times: Iterable[int]) -> str:
    text = times_text(times)
    return f"at time {text}" if text.isdecimal() else f"at times {text.replace('–', ' to ')}"


class RuleWords:
    """Labels and titles of firings; ``rules`` are those of the program."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        # In a program of one file its name would only take room.
        self._several_files = len({rule.position.file for rule in rules if rule.position}) > 1

    def label(self, firings: Sequence[Firing]) -> str:
        """Name firings of one rule or over one link, at whatever times."""
        firing = firings[0]
        if firing.transfer:
            t = firing.transfer
            # A row can also rest on a message that is not sent, or that is not late.
            kind = "" if firing.fired else "not late: " if firing.punctual else "not sent: "
            return shorten_label(
                f"{kind}{show(t.source)} → {show(t.target)} @{times_text(f.time for f in firings)}"
            )
        name = rule_place(self._rules[firing.rule], self._several_files)
        return shorten_label(name if firing.fired else f"kept back: {name}")

    def title(self, firings: Sequence[Firing]) -> str:
        if firings[0].transfer:
            return _lines([self._message(firing) for firing in firings], "messages")
        times = _at_times(firing.time for firing in firings)
        verb = "applied" if firings[0].fired else "kept from applying"
        return f"{verb} {times}\n{rule_text(self._rules[firings[0].rule])}"

    def _message(self, firing: Firing) -> str:
        assert firing.transfer is not None
        t = firing.transfer
        row = f"{t.relation}({row_text(t.row)})"
        verb = "sent" if firing.fired or firing.punctual else "not sent"
        link = f"by {show(t.source)} to {show(t.target)}"
        return f"{row} {verb} {link} at time {t.sent}\n{rule_text(self._rules[firing.rule])}"


# -- several goals in one box ------------------------------------------------------------------------------------


def box_span(graph: LineageGraph, box: Box) -> tuple[int, int]:
    """Return the first and the last time of which the label of a box speaks."""
    named = [graph.goals[number] for number in box.named]
    return min(goal.first for goal in named), max(goal.last for goal in named)


def box_title(graph: LineageGraph, box: Box) -> str:
    first, last = box_span(graph, box)
    others = len(box.goals) - len(box.named)
    resting = f"; it rests on {pluralize(others, 'more absence')}" if others else ""
    return f"{graph.goals[box.named[0]].label} {_at_times(range(first, last + 1))}{resting}"


def absences_label(box: Box) -> str:
    return f"{len(box.goals)} absences"


def absences_title(graph: LineageGraph, box: Box) -> str:
    """List the rows that stay away, each with its times."""
    times: dict[str, list[int]] = {}
    for goal in (graph.goals[number] for number in box.goals):
        times.setdefault(goal.label, []).extend(range(goal.first, goal.last + 1))
    return _lines([f"{label} @{times_text(at)}" for label, at in times.items()], "rows")


def _lines(lines: Sequence[str], what: str) -> str:
    return "\n".join(_first_lines(lines, what))


def _first_lines(lines: Sequence[str], what: str) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"and {len(lines) - _MOST_LINES} more {what}"


def joint_label(graph: LineageGraph, joint: Joint, box: Box, words: RuleWords) -> str:
    return absences_label(box) if joint.through else words.label([graph.firings[n] for n in joint.firings])


def joint_title(graph: LineageGraph, joint: Joint, box: Box, words: RuleWords) -> str:
    return absences_title(graph, box) if joint.through else words.title([graph.firings[n] for n in joint.firings])
