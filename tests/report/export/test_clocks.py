"""Vector clocks say what happened before what, and nothing else: compared with what executions say themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.engine.execution import Execution as ModelExecution
from clew.faults import FailureSpec
from clew.names import show
from clew.program.ir import Program
from clew.report.export.events import NOWHERE, Event, Kind, Trace
from clew.report.export.formats.clocks import time_line, vector_clocks
from clew.report.export.of_code import trace_of_run
from clew.report.export.of_model import model_run_of, trace_of_model
from clew.simulation.execution.trace import Execution
from clew.simulation.pool import Envelope
from clew.simulation.world import CodeBlock
from generators import fault_sets, problems
from long_mode import few
from report.export.traces import RUNS, TRACES
from simulated import drawn


def reaches(edges: Iterable[tuple[Hashable, Hashable]]) -> Callable[[Hashable, Hashable], bool]:
    """Return whether there is a way from one to the other, found by walking all of them."""
    following: dict[Hashable, set[Hashable]] = {}
    for one, other in edges:
        following.setdefault(one, set()).add(other)
    known: dict[Hashable, set[Hashable]] = {}

    def from_here(start: Hashable) -> set[Hashable]:
        if start not in known:
            seen: set[Hashable] = set()
            open_ends = [start]
            while open_ends:
                new = following.get(open_ends.pop(), set()) - seen
                seen |= new
                open_ends += new
            known[start] = seen
        return known[start]

    return lambda one, other: other in from_here(one)


def happened_before(trace: Trace) -> Callable[[int, int], bool]:
    """Return whether one event of a trace knows of another, by its clock alone."""
    clocks = list(vector_clocks(trace))

    def before(one: int, other: int) -> bool:
        node = trace.events[one].node
        return one != other and clocks[one][node] <= clocks[other].get(node, 0)

    return before


# -- code: a recorded event says on which it rests ---------------------------------------------------------------


def handlers(trace: Trace) -> dict[int, int]:
    """Return the event that begins what a node does, by the number of the event of the run."""
    begins = (Kind.RECEIVE, Kind.TIMER, Kind.START, Kind.CRASH, Kind.RESTART)
    return {
        event.time - 1: index
        for index, event in enumerate(trace.events)
        if event.node != NOWHERE and event.kind in begins and event.time
    }


def check_against_recording(execution: Execution) -> int:
    trace = trace_of_run(execution, "a run")
    depends = [(cause, m.happened.number) for m in execution.moments for cause in m.happened.depends]
    before, knows = reaches(depends), happened_before(trace)
    found = handlers(trace)
    at_nodes = [m.happened.number for m in execution.moments if m.happened.node]
    assert sorted(found) == at_nodes
    for one, other in combinations(at_nodes, 2):
        assert knows(found[one], found[other]) == before(one, other), (one, other)
        assert not knows(found[other], found[one])
    return len(at_nodes)


@pytest.mark.parametrize("name", [name for name in RUNS if name != "turned"])
def test_clocks_of_code_say_what_the_recorded_events_rest_on(name: str) -> None:
    assert check_against_recording(RUNS[name]())


@given(st.integers(0, 10_000))
@few(8)
def test_clocks_of_random_runs_say_what_the_recorded_events_rest_on(seed: int) -> None:
    check_against_recording(drawn(seed, steps=60))


def test_a_code_block_knows_of_all_that_it_changes_and_not_of_itself_elsewhere() -> None:
    execution = RUNS["turned"]()
    trace = trace_of_run(execution, "turned")
    assert isinstance(execution.moments[0].happened.what, CodeBlock)
    clocks = list(vector_clocks(trace))
    assert [(e.node, e.label, clocks[k]) for k, e in enumerate(trace.events) if e.node] == [
        ("a", "a is up", {"a": 1}),
        ("b", "b is up", {"b": 1}),
        ("a", "code block turn: restart a", {"a": 2, "b": 1}),
        ("b", "code block turn: stop b", {"a": 1, "b": 2}),
        ("c", "code block turn: start c", {"a": 1, "b": 1, "c": 1}),
        ("a", "Note", {"a": 3, "b": 1}),
    ]


# -- models: what can reach what, by the times of messages -------------------------------------------------------


def edges_of_model(execution: ModelExecution) -> Iterable[tuple[Hashable, Hashable]]:
    """Yield program order, in each step arrivals before sendings, and messages; points are (node, time, phase)."""
    for node in map(show, execution.spec.nodes):
        for time in range(1, execution.spec.eot + 1):
            yield (node, time, "arrives"), (node, time, "sends")
            yield (node, time, "sends"), (node, time + 1, "arrives")
    for message in execution.messages:
        for arrived in {message.arrived, message.again} - {None}:
            sent = show(message.source), message.sent, "sends"
            yield sent, (show(message.target), arrived, "arrives")


def check_against_messages(execution: ModelExecution) -> None:
    trace = trace_of_model(model_run_of(execution), "a run")
    before, knows = reaches(edges_of_model(execution)), happened_before(trace)
    phases = {Kind.SEND: "sends", Kind.RECEIVE: "arrives"}
    points = {
        index: (event.node, event.time, phases[event.kind])
        for index, event in enumerate(trace.events)
        if event.kind in phases
    }
    for one, other in combinations(points, 2):
        kinds = trace.events[one].kind, trace.events[other].kind
        if kinds == (Kind.RECEIVE, Kind.SEND):
            # What arrives is known to all that is sent from then on; of what is sent, only what it is sent before.
            assert knows(one, other) == before(points[one], points[other])
        elif points[one][0] != points[other][0]:
            assert not knows(one, other) or before(points[one], points[other])
    ends = trace.ends
    for send, found in ends.items():
        for end in found:
            if trace.events[end].kind is Kind.RECEIVE:
                assert knows(send, end) and before(points[send], points[end])


@st.composite
def runs(draw: st.DrawFn) -> ModelExecution:
    program, spec = draw(problems())
    assert isinstance(program, Program) and isinstance(spec, FailureSpec)
    faults = draw(fault_sets(spec))
    return clew.run(program, faults, nodes=spec.nodes, eot=spec.eot)


@given(runs())
@few(15)
def test_clocks_of_models_tell_only_of_what_can_have_reached_them(execution: ModelExecution) -> None:
    check_against_messages(execution)


@given(runs())
@few(10)
def test_each_message_of_a_model_is_exported_with_what_became_of_it(execution: ModelExecution) -> None:
    trace = trace_of_model(model_run_of(execution), "a run")
    nodes = set(execution.spec.nodes)
    arrived = {
        (show(m.source), show(m.target), m.sent, time)
        for m in execution.messages
        for time in (m.arrived, m.again)
        if time is not None and m.source != m.target and {m.source, m.target} <= nodes
    }
    exported = {
        (event.source, event.target, trace.events[event.causes[0]].time, event.time)
        for event in trace.events
        if event.kind is Kind.RECEIVE
    }
    assert exported == arrived


# -- all of them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_causes_come_first_and_each_arrival_and_loss_has_its_sending(name: str) -> None:
    trace = TRACES[name]()
    times = time_line(trace)
    latest: dict[str, int] = {}
    for index, event in enumerate(trace.events):
        assert all(cause < index and times[cause].start < times[index].start for cause in event.causes)
        assert times[latest.get(event.node, index)].end <= times[index].start or event.node not in latest
        assert times[index].start < times[index].end
        latest[event.node] = index
        if event.kind in (Kind.RECEIVE, Kind.LOST, Kind.TAKEN, Kind.DUPLICATE):
            check_sending(trace.events[event.causes[0]], event)


def check_sending(sent: Event, event: Event) -> None:
    assert (sent.kind, sent.source, sent.target) == (Kind.SEND, event.source, event.target)
    assert sent.node == sent.source
    assert event.node == (event.target if event.kind is Kind.RECEIVE else NOWHERE)


@pytest.mark.parametrize("name", RUNS)
def test_all_that_is_delivered_is_exported(name: str) -> None:
    execution = RUNS[name]()
    trace = trace_of_run(execution, name)
    delivered = [m.happened for m in execution.moments if isinstance(m.happened.what, Envelope)]
    kinds = {"deliver": Kind.RECEIVE, "lose": Kind.LOST, "duplicate": Kind.DUPLICATE}
    expected = [
        (happened.number + 1, Kind.TIMER if happened.what.timer else kinds[happened.fate], happened.what.target)
        for happened in delivered
        if isinstance(happened.what, Envelope)
    ]
    shown = {(event.time, event.kind, event.target or event.node) for event in trace.events}
    assert set(expected) <= shown
    moments = {event.time for event in trace.events if event.time}
    assert moments == {moment.happened.number + 1 for moment in execution.moments} or not execution.moments
