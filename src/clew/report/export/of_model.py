"""An execution of a model as a trace.

All that a node sends to another at a time is one message, as in the diagrams: a loss hits all of it.  What a node
sends to itself is in its state.  In each step a node is first hit by faults, then messages arrive, and then it
sends: what it has received may be what it sends.  A crashed node sends nothing any more, but it still receives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clew.engine.execution import Execution, Message, Row
from clew.faults import FailureSpec, FaultSet, NodeName
from clew.names import show
from clew.report.diagrams.lamport import Arrow, Diagram, Fate, HaltKind, lamport_of_messages
from clew.report.export.events import NOWHERE, Document, Event, Kind, State, Trace, Unit
from clew.violation import Violation


@dataclass(frozen=True)
class ModelRun:
    """What is to be known of one execution of a model, from wherever it is."""

    nodes: tuple[NodeName, ...]
    eot: int
    faults: FaultSet
    tables: Mapping[str, Sequence[Sequence[Row]]]
    messages: Sequence[Message]
    violations: tuple[Violation, ...]


def model_run_of(execution: Execution) -> ModelRun:
    """Return what is to be known of an execution, without the relations that nobody has written."""
    hidden = execution.program.helpers if execution.program else ()
    tables = {relation: times for relation, times in execution.tables.items() if relation not in hidden}
    spec = execution.spec
    return ModelRun(spec.nodes, spec.eot, execution.faults, tables, execution.messages, execution.violations)


def trace_of_model(run: ModelRun, title: str) -> Trace:
    """Return the trace of an execution."""
    diagram = lamport_of_messages(run.messages, FailureSpec(run.nodes, run.eot), run.faults)
    # Sorted before causes are numbers: a message may be listed before what comes earlier.
    drafts = sorted(_drafts(run, diagram), key=lambda draft: draft.key)
    places = {draft.key: index for index, draft in enumerate(drafts)}
    events = (
        replace(draft.event, causes=() if draft.cause is None else (places[draft.cause],)) for draft in drafts
    )
    return Trace(
        title,
        Unit.STEP,
        diagram.processes,
        tuple(events),
        tuple(_states(run, diagram)),
        tuple(f"{fault}: {fault.sentence}" for fault in run.faults),
        tuple(f"violates {violation}" for violation in run.violations),
    )


# -- events ------------------------------------------------------------------------------------------------------

#: The order of events in a step.
_FAULTS, _ARRIVALS, _SENDINGS, _LOSSES, _END = range(5)

#: The time, the place in the step, and a number that tells events of the same place apart.
_Key = tuple[int, int, int]


class _Draft(NamedTuple):
    """An event and where it belongs; ``cause`` is where the one is that it rests on."""

    key: _Key
    event: Event
    cause: _Key | None = None


def _drafts(run: ModelRun, diagram: Diagram) -> Iterator[_Draft]:
    for number, event in enumerate(_fault_events(run, diagram)):
        yield _Draft((event.time, _FAULTS, number), event)
    firsts: dict[tuple[str, str, int, tuple[str, ...]], _Key] = {}
    for number, arrow in enumerate(diagram.arrows):
        # The second arrival of a message is an arrow of its own, and was sent with the first.
        sent_as = (arrow.source, arrow.target, arrow.sent, arrow.details)
        key = firsts.setdefault(sent_as, (arrow.sent, _SENDINGS, number))
        if key[2] == number:
            yield _Draft(key, _event_of(arrow, Kind.SEND, arrow.source, arrow.sent))
        yield from _ending(arrow, number, key, diagram)
    for number, violation in enumerate(run.violations):
        # What must survive is violated at the end, what must never hold when it holds.
        time = run.eot if violation.time is None else violation.time
        node = show(violation.row[0]) if violation.row and violation.row[0] in run.nodes else NOWHERE
        event = Event(node, time, Kind.VIOLATION, str(violation.at_any_time), f"violates {violation}")
        yield _Draft((time, _END, number), event)


def _ending(arrow: Arrow, number: int, send: _Key, diagram: Diagram) -> Iterator[_Draft]:
    """Yield the arrival of a message, or its loss; nothing of one that is on its way at the end."""
    if arrow.arrived is not None:
        event = _event_of(arrow, Kind.RECEIVE, arrow.target, arrow.arrived)
        yield _Draft((arrow.arrived, _ARRIVALS, number), event, send)
    elif arrow.fate is Fate.LOST:
        # At the time of its sending: what hits it later, such as a receiver that is down, is in the reason.
        why = ", ".join(diagram.faults[fault - 1] for fault in arrow.blamed)
        event = replace(_event_of(arrow, Kind.LOST, NOWHERE, arrow.sent), detail=why)
        yield _Draft((arrow.sent, _LOSSES, number), event, send)


def _event_of(arrow: Arrow, kind: Kind, node: str, time: int) -> Event:
    label, detail = ", ".join(arrow.labels), ", ".join(arrow.details)
    return Event(node, time, kind, label, detail, source=arrow.source, target=arrow.target)


def _fault_events(run: ModelRun, diagram: Diagram) -> Iterator[Event]:
    """Yield what happens to nodes, and what is given to them."""
    for crash in diagram.crashes:
        word = "stops" if crash.stops else "crashes"
        yield _fault(diagram, crash.process, crash.time, Kind.CRASH, word, crash.fault)
    for halt in diagram.halts:
        down = halt.kind is HaltKind.DOWN
        begin, end = (Kind.CRASH, Kind.RESTART) if down else (Kind.PAUSE, Kind.RESUME)
        words = ("goes down", "restarts") if down else ("pauses", "goes on")
        yield _fault(diagram, halt.process, halt.first, begin, words[0], halt.fault)
        if halt.end <= run.eot:  # otherwise it is down when the execution ends
            yield _fault(diagram, halt.process, halt.end, end, words[1], halt.fault)
    for gift in diagram.gifts:
        yield _fault(diagram, gift.process, gift.time, Kind.LOCAL, gift.kind.value, gift.fault)
    yield from _partition_events(run, diagram)


def _partition_events(run: ModelRun, diagram: Diagram) -> Iterator[Event]:
    for band in diagram.bands:
        group = ", ".join(band.group)
        event = _fault(diagram, NOWHERE, band.first, Kind.PARTITION, f"partition of {group}", band.fault)
        yield replace(event, cut=True)
        if band.end <= run.eot:
            event = _fault(diagram, NOWHERE, band.end, Kind.HEAL, f"the partition of {group} heals", band.fault)
            yield replace(event, cut=any(other.covers(band.end) for other in diagram.bands))


def _fault(diagram: Diagram, node: str, time: int, kind: Kind, words: str, number: int) -> Event:
    return Event(node, time, kind, f"{node} {words}" if node else words, diagram.faults[number - 1])


# -- states ------------------------------------------------------------------------------------------------------


def _states(run: ModelRun, diagram: Diagram) -> Iterable[State]:
    """Yield the state at each time: by relation, the rows at each node; under "" those that are at no node."""
    for time in range(1, run.eot + 1):
        variables = {
            relation: _rows_by_node(times[time - 1], run, diagram) for relation, times in run.tables.items()
        }
        yield State(time, f"step {time}", variables)


def _rows_by_node(rows: Iterable[Row], run: ModelRun, diagram: Diagram) -> dict[str, Document]:
    # Empty sets, too, so that a variable has the same nodes in all states.
    found: dict[str, list[Document]] = {process: [] for process in diagram.processes}
    for row in rows:
        # 1 and "1" are two nodes, and Python takes True for 1; no row has truth values.
        place = show(row[0]) if row and row[0] in run.nodes else NOWHERE
        found.setdefault(place, []).append({"$tuple": list(map(_value, row))})
    return {place: {"$set": rows} for place, rows in found.items()}


def _value(value: object) -> Document:
    return {"$tuple": list(map(_value, value))} if isinstance(value, tuple) else value
