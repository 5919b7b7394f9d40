"""Texts that fit: what is left out is counted, and faults stay."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from clew.pytest_plugin.texts import fit, insert_commands

PARTS = st.lists(st.lists(st.sampled_from(["x", "y  LOST O(a,b,1)", "z"]), min_size=1, max_size=40), max_size=4)


@given(PARTS, st.integers(10, 60))
def test_lines_are_left_out_of_the_longest_parts_and_counted(parts: list[list[str]], most: int) -> None:
    lines = [line for part in parts for line in (*part, "")]
    shown = fit(lines, most)
    # Of each part seven lines stay, the line that says so, and the empty one.
    assert len(shown) <= max(most, sum(min(len(part) + 1, 8) for part in parts))
    counts = [int(n) for line in shown for n in re.findall(r"\.\.\. (\d+) lines? left out", line)]
    assert len(shown) - len(counts) + sum(counts) == len(lines)
    if len(lines) <= most:
        assert shown == lines
    kept = [line for line in shown if "left out" not in line]
    remaining = iter(lines)
    assert all(line in remaining for line in kept)  # in their order


def test_faults_are_left_out_last() -> None:
    diagram = ["a b", *["│ │"] * 30, "●╌✗ LOST O(a,b,1)", *["│ │"] * 30, "end"]
    shown = fit(diagram, 12)
    assert len(shown) == 12
    assert "●╌✗ LOST O(a,b,1)" in shown


def test_commands_stand_below_the_one_that_is_there_or_below_the_first_part() -> None:
    assert insert_commands(["A", "  replay: x", "", "B"], ["y"]) == ["A", "  replay: x", "          y", "", "B"]
    assert insert_commands(["A", "", "B"], ["y", "z"]) == ["A", "  replay: y", "          z", "", "B"]
    assert insert_commands(["A"], []) == ["A"]


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert fit(["\x1b[2J"]) == [r"\x1b[2J"]
