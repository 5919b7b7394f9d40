"""Threshold tests on aggregates that only grow or only fall are monotone, and nothing that looks like them is."""

from __future__ import annotations

import pytest

from analysis.calm import programs
from analysis.calm.analysis import labels, of_class, reasons
from clew.analysis.calm.refinements.monotone_columns import Changing, Direction, find_misuse, shift_column
from clew.bloom.language.module import Module

UP, DOWN, ANY = (Changing(d, (k,)) for k, d in enumerate((Direction.UP, Direction.DOWN, Direction.ANY)))


@pytest.mark.parametrize(
    "program",
    [
        programs.ThresholdInMap,
        programs.ThresholdInFilter,
        programs.ThresholdThroughScratch,
        programs.Majority,
        programs.OnlyTheKeys,
        programs.Smallest,
    ],
)
def test_monotone(program: type[Module]) -> None:
    analysis = of_class(program)
    assert labels(analysis)["won"] == "A"
    assert any(edge.refined.endswith(" over votes") for edge in analysis.flow.edges)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (programs.BelowThreshold, "count over votes"),
        (programs.ExactlyThreshold, "count over votes"),
        (programs.BothWays, "count over votes"),
        (programs.SumThreshold, "sum over votes"),
        (programs.CountPassedOn, "count over votes"),
        (programs.ScratchAlsoUsed, "count over votes"),
        (programs.OpaqueThreshold, "count over votes"),
        (programs.LooksInto, "a function looks into votes"),
    ],
)
def test_not_monotone(program: type[Module], reason: str) -> None:
    analysis = of_class(program)
    assert labels(analysis)["won"] == "D"
    assert reasons(analysis, "won") == [reason]


@pytest.mark.parametrize(
    ("op", "left", "right", "owners"),
    [
        (">", UP, None, ()),
        (">=", UP, None, ()),
        ("<", None, UP, ()),
        ("<", DOWN, None, ()),
        (">", UP, DOWN, ()),
        ("<", UP, None, (0,)),
        (">", None, UP, (0,)),
        (">", UP, UP, (0,)),
        ("==", UP, None, (0,)),
        ("!=", None, DOWN, (1,)),
        (">", ANY, None, (2,)),
        (">", None, None, ()),
    ],
)
def test_comparisons(op: str, left: Changing | None, right: Changing | None, owners: tuple[int, ...]) -> None:
    assert find_misuse(op, left, right) == owners


@pytest.mark.parametrize(
    ("op", "left", "right", "factor", "direction"),
    [
        ("+", UP, None, 1, Direction.UP),
        ("-", UP, None, 1, Direction.UP),
        ("-", None, UP, 1, Direction.DOWN),
        ("*", UP, None, 2, Direction.UP),
        ("*", UP, None, -2, Direction.ANY),
        ("*", UP, None, None, Direction.ANY),
        ("/", UP, None, 2, Direction.UP),
        ("/", None, UP, 2, Direction.ANY),
        ("%", UP, None, 2, Direction.ANY),
        ("+", UP, UP, None, Direction.ANY),
    ],
)
def test_arithmetic(
    op: str, left: Changing | None, right: Changing | None, factor: int | None, direction: Direction
) -> None:
    found = shift_column(op, left, right, factor)
    assert found is not None
    assert found.direction is direction
