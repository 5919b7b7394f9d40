"""A simulated run as a page: the diagram, and every event with the state of its node before and after it.

Like the report of a verdict it is one file that asks nobody for anything.  Without its script it is a plain list;
the script shows one event at a time.  What the page carries is bounded, and it says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from markupsafe import Markup

from clew.report.diagrams import lamport_svg
from clew.report.diagrams.lamport import Diagram, Fate, MarkKind
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.run import Change, Event, Sent, Story, keep_events, story_of
from clew.report.simulated.values import Difference, Piece, abbreviate, difference, pieces, trim_context
from clew.report.text.colours import COLOURS
from clew.report.text.html import page_part, page_template, policy_hash, speakable
from clew.report.text.plain import pluralize
from clew.simulation.execution.trace import Execution
from clew.simulation.pool import Envelope

if TYPE_CHECKING:
    from clew.minimization.searching.stages import Stage

#: How many events the page carries, the last ones, and how many characters of states before it becomes terse.
MOST_EVENTS, MOST_CHARACTERS = 1_000, 3_000_000
#: How many events of a run that is only there to be compared with.
_MOST_PASSING = 200
#: How long one value or message may be, and how long when the page is terse.
_LONGEST, _TERSE = 3_000, 200

#: How pills look, and what they then stand for, by kinds of marks.
_LEGEND = {
    "outside": {MarkKind.OUTSIDE: "a message from outside"},
    "itself": {MarkKind.ITSELF: "a message to itself"},
    "timer": {MarkKind.TIMER: "a timer"},
    "start": {MarkKind.START: "start", MarkKind.HEAL: "end of a partition"},
    "restart": {MarkKind.RESTART: "restart"},
    "stop": {MarkKind.STOP: "stop", MarkKind.CUT: "partition", MarkKind.CUT_ONE_WAY: "partition"},
    "note": {MarkKind.NOTE: "a code block"},
}


@dataclass(frozen=True)
class _StateRow:
    """An attribute that changed; what is only in one of its values is marked."""

    name: str
    before: Sequence[Piece]
    after: Sequence[Piece]


@dataclass(frozen=True)
class _SentRow:
    """``link`` is the event at which it arrives or is lost."""

    text: str
    end: str
    link: int | None


@dataclass(frozen=True)
class _EventRow:
    """An event as the template shows it."""

    number: int
    title: str
    message: str
    broken: bool
    node: str
    changes: Sequence[_StateRow]
    kept: Sequence[tuple[str, str]]
    state_note: str
    remarks: Sequence[str]
    sent: Sequence[_SentRow]
    depends: Sequence[int]
    links: Sequence[tuple[int, str]]
    #: Of the violation, the latest event at each node that the invariant read.
    read: Sequence[tuple[int, str]]


def run_page(
    scenario_name: str,
    execution: Execution,
    *,
    replay: str = "",
    stages: Sequence[Stage] = (),
    facts: Sequence[tuple[str, str]] = (),
    cautions: Sequence[str] = (),
    nodes: Sequence[str] = (),
    why: Sequence[str] = (),
    relevant: Collection[int] | None = None,
    passing: Execution | None = None,
) -> str:
    """Return the whole HTML file.

    ``replay``: the command that shows this run again.  ``stages``: the table of a minimization.  ``facts``: label
    and value of what else there is to say at the top, such as the seed.  ``cautions``: what a reader must know,
    such as that a search was stopped.  ``nodes``: the order of the processes (default: by name).  ``why``: lines
    that explain it.  ``relevant``: the events to show, by number from 0 (default: all).  ``passing``: a run that
    is good, to be shown beside it.
    """
    story = keep_events(story_of(execution, nodes=nodes, most=MOST_EVENTS), relevant)
    diagram = run_diagram(story)
    broken = execution.broken
    values = {
        "kind": "good-run" if broken is None else "violated-run",
        "answer": "HOLDS" if broken is None else "VIOLATED",
        "name": speakable(scenario_name),
        "summary": speakable(_summary(execution)),
        "violation": speakable(_summary(execution)),
        "facts": [(speakable(k), speakable(v)) for k, v in (*_facts(execution, story), *facts)],
        "cautions": [speakable(caution) for caution in (*_omissions(story, relevant), *cautions)],
        "replay": speakable(replay),
        "trace": speakable(execution.trace or ""),
        "grounded": bool(diagram.grounds),
        "legend": _legend(diagram),
        "svg": Markup(lamport_svg.diagram_svg(diagram, title=scenario_name, link="#e")),
        "events": _Teller(story).tell(),
        "stages": [_stage_row(stage) for stage in stages],
        "why": [speakable(line) for line in why],
        "passing": "" if passing is None else Markup(_passing_svg(passing, nodes)),
    }
    return _render(values)


def _passing_svg(passing: Execution, nodes: Sequence[str]) -> str:
    story = story_of(passing, nodes=nodes, most=_MOST_PASSING)
    return lamport_svg.diagram_svg(run_diagram(story), title="without faults", link="")


def _render(values: Mapping[str, object]) -> str:
    script = page_part("simulated.js")
    # What is selected looks so whatever it is: its rules come last.
    styles = (
        COLOURS,
        page_part("page.css"),
        lamport_svg.STYLE,
        lamport_svg.EVENT_STYLE,
        page_part("simulated.css"),
    )
    return page_template("simulated.html").render(
        {
            **values,
            "style": Markup("\n".join(styles)),
            "script": Markup(script),
            "script_hash": Markup(policy_hash(script)),
            "version": version("clew"),
        }
    )


# -- around the run ----------------------------------------------------------------------------------------------


def _summary(execution: Execution) -> str:
    if execution.broken is None:
        return "Every invariant holds throughout this run."
    return f"{execution.broken}."


def _facts(execution: Execution, story: Story) -> list[tuple[str, str]]:
    size = execution.size
    facts = [
        ("nodes", ", ".join(story.processes)),
        ("deliveries", str(size.deliveries)),
        ("events from outside", str(size.externals)),
    ]
    if story.under_way:
        facts.append(("messages under way at the end", str(story.under_way)))
    if story.dropped:
        facts.append(("lost on the way to a node that stopped", pluralize(story.dropped, "message")))
    return facts


def _omissions(story: Story, relevant: Collection[int] | None) -> list[str]:
    if not story.left_out:
        return []
    if relevant is not None:
        shown = f"{len(story.events)} of {story.total} events are on this page"
        return [f"{shown}: the faults, and what the outcome rests on."]
    return [f"Only the last {len(story.events)} of {story.total} events are on this page."]


def _legend(diagram: Diagram) -> list[tuple[str, str]]:
    kinds = {mark.kind for mark in diagram.marks}
    there = {look: [text for kind, text in texts.items() if kind in kinds] for look, texts in _LEGEND.items()}
    items = [(look, ", ".join(dict.fromkeys(texts))) for look, texts in there.items() if texts]
    if any(a.fate is Fate.LOST for a in diagram.arrows):
        items.append(("lost-arrow", "a message that is lost"))
    if diagram.broken is not None:
        items.append(("broken", "after this something is wrong"))
    if diagram.grounds:
        items.append(("ground-line", "what the invariant read besides"))
    return items


def _stage_row(stage: Stage) -> dict[str, str]:
    return {
        "name": speakable(stage.name),
        "deliveries": str(stage.size.deliveries),
        "externals": str(stage.size.externals),
        "schedules": str(stage.schedules),
        "seconds": f"{stage.seconds:.1f}",
    }


# -- events ------------------------------------------------------------------------------------------------------


class _Teller:
    """The events for the template; the last ones first, as the end matters most when room runs out."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._titles = {event.number: _title(event) for event in story.events}
        self._room = MOST_CHARACTERS

    def tell(self) -> list[_EventRow]:
        # Told from the end, as room is given to what comes first, and then put in order again.
        return [self._event(event) for event in reversed(self._story.events)][::-1]

    def _event(self, event: Event) -> _EventRow:
        # Attributes that stay as they are go first: earlier events show them.
        terse, broken = self._room < 0, event.number == self._story.broken
        kept = event.unchanged()
        return _EventRow(
            event.number,
            self._titles[event.number],
            self._text(event.message),
            broken,
            self._text(event.node or "all nodes"),
            () if event.ends else [self._state_row(change) for change in event.changes()],
            () if terse else [(self._text(name), self._text(value)) for name, value in kept],
            f"Left out: {pluralize(len(kept), 'attribute')} that did not change." if terse and kept else "",
            [self._text(remark) for remark in event.remarks],
            [self._message_row(sent) for sent in event.sent],
            sorted({*event.depends, *(self._story.grounds.values() if broken else ())}),
            [self._link(number) for number in event.depends],
            [self._link(number, node) for node, number in self._story.grounds.items()] if broken else (),
        )

    def _link(self, number: int, node: str = "") -> tuple[int, str]:
        """Return the number of an event and its title; ``node``: of which it is the latest, if it has no title."""
        left_out = f"{self._text(node)} (left out)" if node else "(left out)"
        return number, self._titles.get(number, left_out)

    def _state_row(self, change: Change) -> _StateRow:
        before, after = change.before or "", change.after or ""
        changed = difference(before, after)
        longest = self._longest()
        if max(len(before), len(after)) > longest:
            changed = Difference(*(abbreviate(part, longest // 2) for part in trim_context(changed, longest // 4)))
        old, new = pieces(changed)
        return _StateRow(self._text(change.name), self._pieces(old), self._pieces(new))

    def _pieces(self, given: Sequence[Piece]) -> list[Piece]:
        return [piece._replace(text=self._text(piece.text)) for piece in given]

    def _message_row(self, sent: Sent) -> _SentRow:
        text, target = self._text(sent.text), self._text(sent.target)
        match sent.fate:
            case "timer":
                return _SentRow(f"timer {text}", "" if sent.event is None else "goes off at", sent.event)
            case "deliver":
                return _SentRow(text, f"to {target}, arrives at", sent.event)
            case "lose":
                return _SentRow(text, f"to {target}, lost at", sent.event)
            case "stop":
                return _SentRow(text, f"to {target}, which stops at", sent.event)
            case "code":
                return _SentRow(text, f"to {target}, taken by the code block at", sent.event)
            case "down":
                return _SentRow(text, f"to {target}, which is down", None)
            case _:
                return _SentRow(text, f"to {target}, never delivered", None)

    def _longest(self) -> int:
        return _LONGEST if self._room >= 0 else _TERSE

    def _text(self, text: str) -> str:
        short = speakable(abbreviate(text, self._longest()))
        self._room -= len(short)
        return short


def _title(event: Event) -> str:
    what, title = event.moment.happened.what, event.title
    if isinstance(what, Envelope) and event.node and not what.timer:
        title = f"{what.target} ← {what.source or 'outside'}: {event.label}"
    return speakable(abbreviate(title, _TERSE))
