"""A simulated run, told event by event: what happened where, what it changed, and what came of what it sent.

Events are numbered from 1.  Of a long run only the last events are told, as the end is what matters.  Messages
that are sent while the first nodes come up, before any event, belong to no event: they are shown when they arrive,
and not counted before.  What a message contained is taken from the event that sent it: its receiver may have
changed it since.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clew.report.simulated.values import message_text, short_name, value_text
from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop
from clew.simulation.execution.trace import Execution, Moment
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.timing import show_time
from clew.simulation.world import CodeBlock

_TURNS = {Start: "starts", Stop: "stops", Restart: "restarts"}

#: Names an envelope: its source, and the how manieth thing of it.
Name = tuple[str, int]


class Change(NamedTuple):
    """An attribute of a node before and after an event; None where there is none of that name."""

    name: str
    before: str | None
    after: str | None


class Sent(NamedTuple):
    """What an event put on its way, and what became of it."""

    text: str
    target: str
    #: One of "timer", "deliver", "lose", "down" (its target is not up), "stop" (its target stops meanwhile),
    #: "code" (a code block took it) and "" (nothing, so far).
    fate: str
    #: Its delivery or its loss.
    event: int | None
    #: What it is called, where it is no timer.
    label: str = ""


@dataclass(frozen=True)
class Event:
    """One event of a run."""

    number: int
    #: What happened, what the message is called that it happened to, if to any, and that message in full.
    head: str
    label: str
    message: str
    node: str
    #: The event that sent what is delivered here.
    cause: int | None
    #: All that it rests on directly.
    depends: tuple[int, ...]
    sent: tuple[Sent, ...]
    moment: Moment

    @property
    def title(self) -> str:
        return f"{self.head}: {self.label}" if self.label else self.head

    @property
    def told(self) -> str:
        """Return what happened in full: the label of a message only where the message itself does not say it."""
        label, message = self.moment.label, self.message
        # A fingerprint may well be the beginning of the message.
        said = not label or message.startswith(label.removesuffix("…"))
        return ": ".join(filter(None, [self.head, message if said else f"{label} = {message}"]))

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.moment.happened.remarks

    @property
    def begins(self) -> bool:
        return self.moment.before is None and self.moment.after is not None

    @property
    def ends(self) -> bool:
        return self.moment.before is not None and self.moment.after is None

    def changes(self) -> list[Change]:
        """Return the attributes that are not what they were."""
        before, after = self.moment.before or {}, self.moment.after or {}
        names = [name for name in sorted({**before, **after}) if not _same(name, before, after)]
        return [Change(name, _text(name, before), _text(name, after)) for name in names]

    def unchanged(self) -> list[tuple[str, str]]:
        """Return the other attributes, with their values."""
        before, after = self.moment.before or {}, self.moment.after or {}
        return [(name, value_text(after[name])) for name in sorted(after) if _same(name, before, after)]


def _same(name: str, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    return name in before and name in after and before[name] == after[name]


def _text(name: str, state: Mapping[str, object]) -> str | None:
    return value_text(state[name]) if name in state else None


@dataclass(frozen=True)
class Story:
    """A run, of which the last events are told."""

    events: tuple[Event, ...]
    #: How many events the run has.
    total: int
    processes: tuple[str, ...]
    #: The processes that are not up when it begins.
    down: tuple[str, ...]
    #: How many messages are under way when it ends.
    under_way: int
    #: How many got lost because their target stopped while they were on their way.
    dropped: int
    #: The event after which something is wrong.
    broken: int | None
    #: The latest event at each node that the broken invariant read, by node; also that of the violation, if it is.
    read: Mapping[str, int]

    @property
    def grounds(self) -> dict[str, int]:
        """Return what the violation rests on besides its own event, by node."""
        return {node: number for node, number in self.read.items() if number != self.broken}

    @property
    def left_out(self) -> int:
        return self.total - len(self.events)


def story_of(execution: Execution, *, nodes: Sequence[str] = (), most: int | None = None) -> Story:
    """Tell a run; ``nodes``: the order in which to show the processes that take part (default: by name)."""
    moments = execution.moments
    shown = moments if most is None else moments[max(0, len(moments) - most) :]
    fates, contents = _trace_fates(moments), _contents(moments)
    part, order = _taking_part(moments), {name: k for k, name in enumerate(nodes)}
    processes = tuple(sorted(part, key=lambda name: (order.get(name, len(order)), _natural(name))))
    return Story(
        tuple(_event(moment, fates, contents) for moment in shown),
        len(moments),
        processes,
        tuple(_down(shown, processes)),
        sum(end is None for end in fates.values()),
        sum(end is not None and end.fate == "stop" for end in fates.values()),
        moments[-1].happened.number + 1 if execution.broken is not None and moments else None,
        _read_by_invariant(execution, processes),
    )


def keep_events(story: Story, relevant: Collection[int] | None) -> Story:
    """Return the story with these events, by number from 0, and the processes that take part in them; None: all.

    What is broken is broken after the last of them: of the others, nothing depends on it.
    """
    if not relevant:
        return story
    events = tuple(event for event in story.events if event.number - 1 in relevant)
    ends = {name for event in events for name in _ends_of(event)}
    processes = tuple(name for name in story.processes if name in ends)
    broken = events[-1].number if events and story.broken is not None else story.broken
    return replace(story, events=events, processes=processes, broken=broken, read={})


def _ends_of(event: Event) -> Iterable[str]:
    what = event.moment.happened.what
    return (event.node, what.source, what.target) if isinstance(what, Envelope) else (event.node,)


def _read_by_invariant(execution: Execution, processes: Sequence[str]) -> dict[str, int]:
    """Return the latest event at each of the nodes that are to blame: those that are named, or else all."""
    if execution.broken is None:
        return {}
    named = execution.broken.nodes or processes
    latest: dict[str, int] = {}
    for moment in execution.moments:
        latest |= dict.fromkeys(_places_of(moment, processes), moment.happened.number + 1)
    return {process: latest[process] for process in processes if process in named and process in latest}


def _places_of(moment: Moment, processes: Sequence[str]) -> Iterable[str]:
    """Return the nodes that an event happened at: of a code block, those that it changed."""
    happened = moment.happened
    if not isinstance(happened.what, CodeBlock):
        return (happened.node,)
    turned = {turn.node for turn in happened.lives}
    # The states of a code block are those of the whole cluster, with attributes by node.
    changed = [name for name, _ in moment.effect.state]
    return [p for p in processes if p in turned or any(name.startswith(f"{p}.") for name in changed)]


class _FinalFate(NamedTuple):
    """What became of a message: its fate, and at which event."""

    fate: str
    event: int


def _event(moment: Moment, fates: Mapping[Name, _FinalFate | None], contents: Mapping[Name, Any]) -> Event:
    happened, what = moment.happened, moment.happened.what
    label, message, cause = "", "", None
    if isinstance(what, Envelope) and what.cause >= 0:
        cause = what.cause + 1
    if isinstance(what, Send):
        label, message = moment.label or _type_name(what.message), message_text(what.message)
    elif isinstance(what, Envelope) and not what.timer:
        known = contents.get(_name(what))
        label = moment.label or _type_name(what.payload)
        message = message_text(what.payload) if known is None else value_text(known)
    return Event(
        happened.number + 1,
        _head(moment),
        label,
        message,
        happened.node,
        cause,
        tuple(number + 1 for number in happened.depends),
        tuple(
            _follow_sent(envelope, content, label, fates)
            for envelope, content, label in zip(happened.sent, moment.sent, moment.sent_labels, strict=True)
        ),
        moment,
    )


def _type_name(message: Any) -> str:
    return short_name(type(message).__qualname__)


def _follow_sent(envelope: Envelope, content: Any, label: str, fates: Mapping[Name, _FinalFate | None]) -> Sent:
    end = fates.get(_name(envelope))
    event = None if end is None else end.event
    if envelope.timer:
        return Sent(str(envelope.payload), envelope.target, "timer", event)
    label = label or _type_name(envelope.payload)
    return Sent(value_text(content), envelope.target, "" if end is None else end.fate, event, label)


def _contents(moments: Iterable[Moment]) -> dict[Name, Any]:
    """Return what was in each message when it was sent, as JSON."""
    return {_name(e): content for m in moments for e, content in zip(m.happened.sent, m.sent, strict=True)}


def _name(envelope: Envelope) -> Name:
    return envelope.source, envelope.nth


def _head(moment: Moment) -> str:
    """Say what happened; with virtual time, when."""
    time = moment.happened.time
    return _deed(moment) if time is None else f"at {show_time(time)}, {_deed(moment)}"


def _deed(moment: Moment) -> str:
    match moment.happened.what:
        case Envelope() as envelope:
            return _delivery(envelope, moment.happened.fate)
        case Start(node):
            return f"start {node}{'' if moment.before is None else ', which is up already'}"
        case Stop(node):
            return f"stop {node}{', which is not up' if moment.before is None else ''}"
        case Restart(node):
            return f"restart {node}"
        case Send(node, _):
            return f"outside sends {node}"
        case Partition(source, target, one_way):
            return f"partition, nothing gets from {source} to {target}{'' if one_way else ' nor back'}"
        case Heal("", ""):
            return "all partitions heal"
        case Heal(source, target):
            return f"the partition of {source} and {target} heals"
        case CodeBlock(name, _):
            turns = ", ".join(f"{_TURNS[type(turn)]} {turn.node}" for turn in moment.happened.lives)
            return f"code block {name}, which {turns}" if turns else f"code block {name}"
        case waiting:
            return type(waiting).__name__


def _delivery(envelope: Envelope, fate: str) -> str:
    if envelope.timer:
        return f"{envelope.target}, timer {envelope.kind}"
    source = envelope.source or "outside"
    if fate == "deliver":
        return f"{envelope.target} <- {source}"
    return f"{'lost' if fate == 'lose' else 'duplicated'} on the way from {source} to {envelope.target}"


# -- who takes part, and what is left at the end -----------------------------------------------------------------


def _taking_part(moments: Iterable[Moment]) -> set[str]:
    names = set()
    for moment in moments:
        happened = moment.happened
        names |= {happened.node} | {e.target for e in happened.sent} | {e.source for e in happened.sent}
        if isinstance(happened.what, Envelope):
            names |= {happened.what.source, happened.what.target}
        if isinstance(happened.what, Partition):
            names |= {happened.what.source, happened.what.target}
        names |= {turn.node for turn in happened.lives}
    return names - {OUTSIDE}


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key by which node 2 comes before node 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    # Only ASCII digits: int() reads others, too, but not all that str.isdigit accepts.
    return [(0, int(part), part) if part[0] in "0123456789" else (1, 0, part) for part in parts]


def _down(moments: Iterable[Moment], processes: Iterable[str]) -> list[str]:
    """Return whose first event finds no state, and who never has one and is sent to in vain."""
    was_down: dict[str, bool] = {}
    in_vain = set()
    for moment in moments:
        if moment.happened.node:
            was_down.setdefault(moment.happened.node, moment.before is None)
        for turn in moment.happened.lives:
            was_down.setdefault(turn.node, isinstance(turn, Start))
        in_vain |= {envelope.target for envelope in moment.happened.lost}
    return [p for p in processes if was_down.get(p, p in in_vain)]


def _trace_fates(moments: Iterable[Moment]) -> dict[Name, _FinalFate | None]:
    """Return what became of everything that was sent; None for what is under way at the end."""
    fates: dict[Name, _FinalFate | None] = {}
    under_way: dict[str, dict[Name, None]] = {}
    for moment in moments:
        happened, what, number = moment.happened, moment.happened.what, moment.happened.number + 1
        # A duplicate leaves the original under way, and its copy has a name of its own.
        if isinstance(what, Envelope) and happened.fate != "duplicate":
            fates[_name(what)] = _FinalFate(happened.fate, number)
            under_way.get(what.target, {}).pop(_name(what), None)
        elif isinstance(what, Stop | Restart):
            # Whatever is under way to a node gets lost when it stops.
            fates |= dict.fromkeys(under_way.pop(what.node, {}), _FinalFate("stop", number))
        for envelope in (e for e in happened.sent if not e.timer):
            fates[_name(envelope)] = None
            under_way.setdefault(envelope.target, {})[_name(envelope)] = None
        for envelope in happened.lost:
            fates[_name(envelope)] = _FinalFate("down", number)
            del under_way[envelope.target][_name(envelope)]
        for envelope in (e for e in happened.gone if not e.timer):
            fates[_name(envelope)] = _FinalFate("code", number)
            under_way.get(envelope.target, {}).pop(_name(envelope), None)
    return fates
