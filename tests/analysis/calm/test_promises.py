"""Labels of programs that were once called consistent, and two schedules of each that end differently."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.calm.analysis import labels, of_class, reasons
from analysis.calm.promise_programs import (
    ByDefault,
    ClockThenStored,
    Closure,
    ClosureStored,
    CountsAStep,
    Drawn,
    EqualAddress,
    EqualInOneKey,
    FlagAtOnce,
    Folded,
    JoinsAStep,
    JoinsWhatIsKept,
    KeepsWhatComes,
    KeptInPart,
    KeptScratch,
    LastEmptyStep,
    LaterAbsent,
    LaterCopy,
    LaterFlag,
    LaterLattice,
    LaterScratch,
    MeetsGivenTable,
    MeetsItself,
    Named,
    Numbered,
    Opaque,
    OtherColumn,
    Quorum,
    Remembered,
    RepeatedUntilAnswered,
    SentFromSteps,
    SeveralCopies,
    Sometimes,
    Timed,
    TwoClocks,
    WrittenDownAndSent,
)
from clew.analysis.calm.trying.orders import try_orders
from clew.analysis.calm.trying.workloads import workload

_FEW: dict[str, Any] = {"first": [("a", 1, 2), ("a", 2, 1), ("a", 1, 1)], "second": [("a", 1, 1), ("a", 2, 1)]}
_LINKS = {"link": [("a", 1, 2), ("a", 2, 3)]}
_VOTES = {"vote": [("a", "x"), ("a", "y")]}
_ROWS = {"i0": [(1, 1), (1, 2)], "i1": [(1, 1)]}


@pytest.mark.parametrize(
    ("program", "output", "label", "given"),
    [
        (Closure, "path", "D", _LINKS),
        (EqualAddress, "out", "D", _FEW),
        (EqualInOneKey, "out", "D", _FEW),
        (OtherColumn, "out", "D", _FEW),
        (Quorum, "out", "D", _VOTES),
        (RepeatedUntilAnswered, "out", "D", {"wanted": [("a", 1)]}),
        (LaterFlag, "out", "D", _FEW),
        (LaterScratch, "out", "D", _FEW),
        (LaterLattice, "out", "D", _FEW),
        (LaterAbsent, "out", "D", _FEW),
        (MeetsGivenTable, "out", "D", {**_FEW, "given": [(1, 7)]}),
        (KeptInPart, "out", "D", {"first": [("a", 1, 1)], "second": [("a", 1, 1)]}),
        (Drawn, "out", "D", _FEW),
        (Numbered, "out", "D", _FEW),
        (Timed, "out", "D", _FEW),
        (Named, "out", "D", _FEW),
        (Remembered, "out", "D", _FEW),
        (Sometimes, "out", "D", _FEW),
        (Folded, "out", "D", {"numbers": [(1, 1)]}),
        (ByDefault, "out", "D", _FEW),
        (CountsAStep, "out", "N", _ROWS),
        (JoinsAStep, "out", "N", _ROWS),
        (JoinsWhatIsKept, "out", "N", _ROWS),
        (KeepsWhatComes, "kept", "N", {"i0": [(1, 1)], "i1": [(1, 1)]}),
        (LastEmptyStep, "out", "N", {}),
        (SentFromSteps, "kept", "D", _ROWS),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_order_matters_and_is_said_to(program: Any, output: str, label: str, given: dict[str, Any]) -> None:
    assert labels(of_class(program))[output] == label
    assert try_orders(workload({"a": program}, {"a": given}), [output], orders=300).pair is not None


@pytest.mark.parametrize("program", [CountsAStep, JoinsAStep, JoinsWhatIsKept, KeepsWhatComes, LastEmptyStep])
def test_the_steps_decide(program: Any) -> None:
    """What N promises: with the same steps and the same rows in them, the same contents in every step."""
    decided = [name for name, label in labels(of_class(program)).items() if label == "N"]
    assert decided
    given = workload({"a": program}, {"a": {"i0": [(1, 1)], "i1": [(1, 1)]}}, later={"a": {3: {"i0": [(1, 2)]}}})
    tried = try_orders(given, decided, orders=40, steps_given=True)
    assert (tried.orders, tried.pair) == (40, None)


def test_what_is_written_down_and_sent_arrives() -> None:
    """It sends for ever, so that there is no end to compare."""
    assert labels(of_class(WrittenDownAndSent))["kept"] == "D"


# MeetsItself is consistent, and no law of the analysis says so: no example or listing needs one, and a false D
# costs a look where a false A would cost the data.
@pytest.mark.parametrize("program", [LaterCopy, SeveralCopies, TwoClocks, ClockThenStored, MeetsItself])
def test_no_proof_no_promise(program: Any) -> None:
    """No rows are given here that bring it out; there is no law that says that none can."""
    assert labels(of_class(program))["out"] == "D"


@pytest.mark.parametrize(
    ("program", "output", "given"),
    [
        (ClosureStored, "path", _LINKS),
        (FlagAtOnce, "out", _FEW),
        (KeptScratch, "out", _FEW),
        (Opaque, "out", _FEW),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_and_what_is_consistent_all_the_same(program: Any, output: str, given: dict[str, Any]) -> None:
    assert labels(of_class(program))[output] == "A"
    tried = try_orders(workload({"a": program}, {"a": given}), [output], orders=100)
    assert (tried.orders, tried.pair) == (100, None)


@pytest.mark.parametrize(
    ("program", "touched"),
    [
        (Drawn, "random.random"),
        (Numbered, "next"),
        (Timed, "time.time"),
        (Named, "uuid.uuid4"),
        (Remembered, "_SEEN, which can change"),
        (Sometimes, "random.random"),
        (Folded, "next"),
        (ByDefault, "a default value, which can change"),
    ],
)
def test_what_a_function_touches_is_said_with_its_line(program: Any, touched: str) -> None:
    analysis = of_class(program)
    (reason,) = (r for r in reasons(analysis, "out") if r.startswith("a function touches "))
    assert reason.startswith(f"a function touches {touched}")
    (point,) = next(o for o in analysis.outputs if o.name == "out").points
    position = analysis.flow.statements[point.statement].position
    assert position is not None
    assert position.file.endswith("promise_programs.py")
