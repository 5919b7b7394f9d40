"""An execution of simulated nodes as a trace.

An event of a simulated run is a handler with all that it sends.  Here the handler is one event, and each message
that it sends is one after it at the same node; the delivery of a message rests on its sending.  What nodes sent
before the first event, when they came up, is known only from its arrival or loss, and is sent at time 0.

What comes from outside is sent nowhere and in no order.  A code block happens at every node that it changes, stops
or sends for, after all that had happened at any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from clew.report.export.code_states import split_attribute, states_of_run
from clew.report.export.events import NOWHERE, Change, Event, Kind, Trace, Unit
from clew.report.simulated.run import Event as Told
from clew.report.simulated.run import Name, Sent, Story, story_of
from clew.report.simulated.values import abbreviate, short_name
from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop
from clew.simulation.execution.trace import Execution, Moment
from clew.simulation.pool import OUTSIDE, Envelope
from clew.simulation.scenario import Broken
from clew.simulation.world import CodeBlock

#: How much of a message or of a variable is told with an event.
_LONGEST = 200

_LIFE = {Start: Kind.START, Stop: Kind.CRASH, Restart: Kind.RESTART}


def trace_of_run(execution: Execution, title: str, *, broken: Broken | None = None) -> Trace:
    """Return the trace of an execution; ``broken``: what is wrong at its end, if the execution does not know."""
    # All of it, and not only the last events, as pages tell it.
    story = story_of(execution)
    builder = _Builder(story)
    builder.add_beginning()
    for told in story.events:
        builder.add(told)
    # Several invariants can break at once, and each of them is a reason to look.
    wrong = [one for one in (execution.broken or broken, *execution.also) if one is not None]
    for one in wrong:
        builder.add_violation(one)
    # Whether there is virtual time is seen from the events: a scenario has it in all of them or in none.
    timed = any(moment.happened.time is not None for moment in execution.moments)
    unit = Unit.MICROSECOND if timed else Unit.EVENT
    violations = tuple(f"{one.place}: {one.what}" for one in wrong)
    # A node may be blamed at which nothing happens.
    nodes = tuple(dict.fromkeys([*story.processes, *(node for one in wrong for node in one.nodes)]))
    return Trace(title, unit, nodes, tuple(builder.events), states_of_run(story), violations=violations)


@dataclass
class _Builder:
    """The events so far; ``sends`` has the sending of each message by its name."""

    story: Story
    events: list[Event] = field(default_factory=list)
    sends: dict[Name, int] = field(default_factory=dict)
    #: What of the messages is lost because their target stops, by the event in which it does.
    dropped: dict[int, list[tuple[Envelope, Sent]]] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    cut: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        # Looked up before, since the end of a message is told where it is sent.
        for told in self.story.events:
            for envelope, sent in zip(told.moment.happened.sent, told.sent, strict=True):
                if sent.fate in ("stop", "down", "code") and sent.event is not None:
                    self.dropped.setdefault(sent.event, []).append((envelope, sent))

    # -- the beginning -------------------------------------------------------------------------------------------

    def add_beginning(self) -> None:
        """Let those start that are up, and send what arrives without any event that sent it."""
        for node in self.story.processes:
            if node not in self.story.down:
                self._append(Event(node, 0, Kind.START, f"{node} is up"))
        # In the order of their names: which of them arrives first says nothing about when they were sent.
        for told in sorted(self._sent_before(), key=lambda told: _envelope_of(told.moment)[:2]):
            source, nth, envelope = _envelope_of(told.moment)
            self.sends[source, nth] = self._append(_sending(envelope, 0, told.label, told.message))

    def _sent_before(self) -> Iterator[Told]:
        known: set[Name] = set()
        for told in self.story.events:
            what = told.moment.happened.what
            if isinstance(what, Envelope) and not what.timer and (name := (what.source, what.nth)) not in known:
                known.add(name)
                yield told
            known |= {(e.source, e.nth) for e in told.moment.happened.sent}

    # -- events --------------------------------------------------------------------------------------------------

    def add(self, told: Told) -> None:
        """Add what happened in one event of the run, and what it put on its way."""
        moment = told.moment
        match moment.happened.what:
            case Envelope() as envelope:
                self._add_envelope(told, envelope)
            case Send():
                pass  # the sending that follows is all of it
            case Start(node) | Stop(node) | Restart(node):
                self._append(self._about(told, _LIFE[type(moment.happened.what)], node))
            case Partition() | Heal() as change:
                self._add_partition(told, change)
            case CodeBlock(name, _):
                self._add_block(told, name)
            case _:
                self._append(self._about(told, Kind.LOCAL, NOWHERE))
        # A copy is no sending of its own: its node does nothing when the network makes it.
        copied = moment.happened.fate == "duplicate"
        for envelope, sent in zip(moment.happened.sent, told.sent, strict=True):
            if not envelope.timer and not copied:
                event = _sending(envelope, self._time(moment), sent.label, sent.text)
                self.sends[envelope.source, envelope.nth] = self._append(event)
        for envelope, sent in self.dropped.get(told.number, ()):
            self._add_end(told, envelope, sent)

    def _add_envelope(self, told: Told, envelope: Envelope) -> None:
        node = envelope.target
        if envelope.timer:
            self._append(self._about(told, Kind.TIMER, node, envelope.kind))
            return
        send = self.sends[envelope.source, envelope.nth]
        kinds = {"deliver": Kind.RECEIVE, "lose": Kind.LOST, "duplicate": Kind.DUPLICATE}
        kind = kinds[told.moment.happened.fate]
        # The network loses and copies; no node knows of it.
        where = node if kind is Kind.RECEIVE else NOWHERE
        event = self._about(told, kind, where, told.label, causes=(send,))
        detail = _short(told.message) if kind is Kind.RECEIVE else ""  # a loss has a reason there, if any
        self._append(replace(event, detail=detail, source=envelope.source, target=node))
        if kind is Kind.DUPLICATE:  # which is sent with the original, under a name of its own
            (copy,) = told.moment.happened.sent
            self.sends[copy.source, copy.nth] = send

    def _add_end(self, told: Told, envelope: Envelope, sent: Sent) -> None:
        """Add that a message gets lost without an event of its own."""
        why = {
            "down": f"{envelope.target} is not up",
            "stop": f"{envelope.target} stops",
            "code": f"by {told.head}",
        }[sent.fate]
        kind = Kind.TAKEN if sent.fate == "code" else Kind.LOST
        event = self._about(told, kind, NOWHERE, sent.label, causes=(self.sends[envelope.source, envelope.nth],))
        event = replace(event, remarks=(), changes=(), detail=why)
        self._append(replace(event, source=envelope.source, target=envelope.target))

    def _add_partition(self, told: Told, change: Partition | Heal) -> None:
        # By link, since partitions overlap and one end may end several.
        match change:
            case Partition(source, target, one_way):
                self.cut |= {(source, target)} if one_way else {(source, target), (target, source)}
                kind = Kind.PARTITION
            case Heal("", ""):
                self.cut.clear()
                kind = Kind.HEAL
            case Heal(source, target):
                self.cut -= {(source, target), (target, source)}
                kind = Kind.HEAL
        event = self._about(told, kind, NOWHERE)
        self._append(replace(event, source=change.source, target=change.target, cut=bool(self.cut)))

    def _add_block(self, told: Told, name: str) -> None:
        """Add a code block at each node that it happens at, so that none of these knows of it at another."""
        places = self._places(told.moment)
        # As one event it comes after all that had happened at any of them, like the record has it.
        before = [self.latest[place] for place in places if place in self.latest]
        taken = (self.sends.get((e.source, e.nth)) for e in told.moment.happened.gone if e.target in places)
        causes = tuple(sorted({*before, *(send for send in taken if send is not None)}))
        turns = {turn.node: turn for turn in told.moment.happened.lives}
        for place in places or [NOWHERE]:
            changes = tuple(
                change._replace(name=attribute)
                for change in _changes(told)
                for node, attribute in [split_attribute(change.name, self.story.processes)]
                if node == place
            )
            turn = turns.get(place)
            kind = Kind.LOCAL if turn is None else _LIFE[type(turn)]
            said = "" if turn is None else f": {type(turn).__name__.lower()} {place}"
            event = self._about(told, kind, place, f"code block {name}{said}", causes=causes)
            self._append(replace(event, changes=changes, remarks=told.remarks if place in places[:1] else ()))

    def _places(self, moment: Moment) -> list[str]:
        """Return the nodes that a code block stops, starts, changes, delivers to or sends for."""
        happened = moment.happened
        found = {turn.node for turn in happened.lives} | {e.source for e in happened.sent}
        found |= {split_attribute(name, self.story.processes)[0] for name, _ in moment.effect.state}
        found |= {name.partition(" of ")[2] for name, _ in moment.effect.beside}
        return [process for process in self.story.processes if process in found]

    def add_violation(self, broken: Broken) -> None:
        """Add that an invariant is broken, at the nodes that it names."""
        # Nothing happens any more after it: an execution ends where an invariant breaks.
        time = self.events[-1].time if self.events else 0
        for node in broken.nodes or [NOWHERE]:
            self._append(Event(node, time, Kind.VIOLATION, broken.invariant, broken.what))

    # -- parts ---------------------------------------------------------------------------------------------------

    def _append(self, event: Event) -> int:
        index = len(self.events)
        self.events.append(event)
        if event.node != NOWHERE:
            self.latest[event.node] = index
        return index

    def _about(self, told: Told, kind: Kind, node: str, label: str = "", *, causes: tuple[int, ...] = ()) -> Event:
        changes = () if isinstance(told.moment.happened.what, CodeBlock) else tuple(_changes(told))
        remarks = tuple(map(_short, told.remarks))
        time = self._time(told.moment)
        return Event(node, time, kind, label or _words(told), causes=causes, remarks=remarks, changes=changes)

    @staticmethod
    def _time(moment: Moment) -> int:
        time = moment.happened.time
        return moment.happened.number + 1 if time is None else time


def _sending(envelope: Envelope, time: int, label: str, detail: str) -> Event:
    node = NOWHERE if envelope.source == OUTSIDE else envelope.source
    called = label or short_name(envelope.kind)
    return Event(node, time, Kind.SEND, called, _short(detail), source=node, target=envelope.target)


def _envelope_of(moment: Moment) -> tuple[str, int, Envelope]:
    what = moment.happened.what
    assert isinstance(what, Envelope)
    return what.source, what.nth, what


def _words(told: Told) -> str:
    """Say what happened, without when."""
    return told.head.partition(", ")[2] if told.moment.happened.time is not None else told.head


def _changes(told: Told) -> Iterator[Change]:
    for name, before, after in told.changes():
        yield Change(name, _short_or_none(before), _short_or_none(after))


def _short(text: str) -> str:
    return abbreviate(text, _LONGEST)


def _short_or_none(text: str | None) -> str | None:
    return None if text is None else _short(text)
