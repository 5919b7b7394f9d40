"""The recorder: the order in which it is called, and the histories of several nodes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from clew.errors import UsageError
from clew.histories import Outcome, Recorder, Register, history_of, linearizable


def test_a_recorder_has_the_order_of_its_calls() -> None:
    recorder = Recorder()
    recorder.invoke("ann", "write", [1, {"a": {2}}], key="x")
    recorder.invoke("bob", "read", key="x")
    recorder.ok("bob", [1])
    recorder.unknown("ann")
    recorder.invoke("ann", "read")
    recorder.fail("ann")
    recorder.invoke("cat", "read")
    told = [(op.process, op.start, op.end, op.outcome, op.key) for op in recorder.history().operations]
    assert told == [
        ("ann", 0, None, Outcome.UNKNOWN, "x"),
        ("bob", 1, 2, Outcome.OK, "x"),
        ("ann", 4, 5, Outcome.FAIL, None),
        ("cat", 6, None, Outcome.UNKNOWN, None),
    ]
    assert hash(recorder.history().operations[0].argument)


def test_a_client_does_one_thing_at_a_time() -> None:
    recorder = Recorder()
    with pytest.raises(UsageError, match="client ann gets an answer, but has nothing under way"):
        recorder.ok("ann")
    recorder.invoke("ann", "read")
    with pytest.raises(UsageError, match="client ann invokes write, but has read under way"):
        recorder.invoke("ann", "write", 1)


def test_an_empty_history_is_no_violation() -> None:
    recorder = Recorder()
    assert linearizable(history_of({"a": SimpleNamespace(history=recorder)})) is None
    assert linearizable(history_of({})) is None


def record(*events: tuple[str, float, object]) -> SimpleNamespace:
    recorder = Recorder()
    for kind, at, value in events:
        if kind == "ok":
            recorder.ok(0, value, at=at)
        else:
            recorder.invoke(0, kind, value, at=at)
    return SimpleNamespace(seen=recorder)


def test_several_recorders_are_merged_by_their_times_and_equal_times_overlap() -> None:
    writer = record(("write", 1, 7), ("ok", 2, None))
    for at, broken in ((2.0, None), (2.5, "read → nil of client [b, 0] contradicts write 7 of client [a, 0]")):
        reader = record(("read", at, None), ("ok", 3, None))
        assert linearizable(history_of({"a": writer, "b": reader, "c": object}), Register()) == broken


def test_without_times_several_recorders_have_no_order() -> None:
    nodes = {"a": record(("write", 1, 7)), "b": SimpleNamespace(other=Recorder())}
    nodes["b"].other.invoke(0, "read")
    with pytest.raises(UsageError, match=r"an operation of client .* has no time"):
        history_of(nodes)
