"""The benchmarks of the simulation: the published figures, the smallest executions known, tables and bars."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.bars import Bar
from benchmarks.instrumentation import count_lines
from benchmarks.instrumentation import measure as measure_lines
from benchmarks.minimization import Row, scenario, table_1, table_2
from benchmarks.published_sizes import BUGS, TABLE_3_INITIAL, TABLE_3_WITH, Cost
from benchmarks.shrinking import Shrunk, table_3
from benchmarks.simulation_bars import of_minimization
from benchmarks.smallest import BY_HAND, SMALLEST, Smallest, size_of

from clew.minimization.searching.stages import Stage
from clew.simulation.execution.steps import Size

_RAFT_45 = BUGS[0]


def _row(final: Size, seconds: float = 3.0) -> Row:
    stages = (
        Stage("recorded", Size(1286, 56), 1, 0.1),
        Stage("provenance", Size(1280, 55), 1, 0.1),
        Stage("STSSched", Size(1240, 11), 38, 1.25),
        Stage("TFB", Size(22, 8), 2491, 1.0),
        Stage("contents", Size(22, 8), 30, 0.0),
        Stage("shortening", final, 10000, 0.5),
    )
    return Row(_RAFT_45, 38, stages, final, Size(16, 8), BY_HAND, seconds, 2.5, ((1, 1286), (40, 22)))


# -- published ---------------------------------------------------------------------------------------------------


def test_the_published_sizes_are_those_of_the_paper() -> None:
    assert [bug.initial.deliveries for bug in BUGS] == [2160, 1250, 2380, 2850, 1500, 1710, 400, 1000, 600, 300]
    assert [bug.tfb.externals for bug in BUGS] == [8, 8, 8, 31, 8, 21, 15, 3, 3, 1]
    assert [bug.optimal.deliveries for bug in BUGS] == [22, 23, 21, 51, 28, 39, 29, 25, 11, 11]
    # The paper states a largest ratio of 4.6.
    assert round(max(bug.tfb.deliveries / bug.optimal.deliveries for bug in BUGS), 1) == 4.6


def test_a_published_bug_names_its_scenario() -> None:
    assert [bug.scenario for bug in (BUGS[3], BUGS[7])] == [
        "raft/raft_bugs.py:raft58a",
        "spark/spark_bugs.py:spark2294",
    ]
    assert BUGS[3].tfb_cost == Cost(43345, 834972)


# -- the smallest executions known -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bug", "size"),
    [
        ("raft-45", Size(16, 8)),
        ("raft-46", Size(10, 6)),
        ("raft-56", Size(14, 6)),
        ("raft-58a", Size(4, 3)),
        ("raft-58b", Size(13, 6)),
        ("raft-42", Size(12, 7)),
        ("raft-66", Size(13, 7)),
        ("spark-2294", Size(13, 1)),
        ("spark-3150", Size(10, 3)),
        ("spark-9256", Size(8, 1)),
    ],
)
def test_the_smallest_execution_known_breaks_the_invariant_at_its_last_delivery(bug: str, size: Size) -> None:
    published = next(b for b in BUGS if b.name == bug)
    loaded = scenario(published.scenario)
    assert size_of(SMALLEST[loaded.name], loaded) == size


def _smallest_of_58a(schedule: str) -> Size:
    loaded = scenario("raft/raft_bugs.py:raft58a")
    return size_of(Smallest(schedule, SMALLEST["raft58a"].messages, BY_HAND), loaded)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("start a, Bootstrap >a, election a", "raft58a: no invariant breaks"),
        ("start a, Bootstrap >a, TakeOffice a>a", "raft58a: nothing like 'TakeOffice a>a' is on its way"),
        (
            SMALLEST["raft58a"].schedule + ", retry a",
            "raft58a: the invariant breaks already before 'retry a'",
        ),
    ],
)
def test_an_execution_that_is_none_is_refused(schedule: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        _smallest_of_58a(schedule)
    assert str(refused.value) == message


# -- tables ------------------------------------------------------------------------------------------------------


def test_table_1_has_the_published_figures_in_brackets() -> None:
    table = table_1([_row(Size(24, 9))])
    assert table.rows == [
        (
            "raft-45",
            "1286 E:56 (2160 E:108)",
            "1280 E:55 (2138 E:108)",
            "1240 E:11 (1183 E:8)",
            "22 E:8 (23 E:8)",
            "24 E:9",
            "16 E:8 (22 E:8)",
            "1.50 (1.05)",
        )
    ]
    assert table.remarks[1:] == ["Smallest known: by hand: raft-45.", "Median of final / smallest: 1.50 (1.05)."]


def test_table_2_sums_up_all_stages() -> None:
    assert table_2([_row(Size(16, 8))]).rows == [
        ("raft-45", "1.2 (56)", "38 (594)", "1.0 (114)", "2491 (2854)", "3.0 (170)", "2.5", "12561 (3448)")
    ]


def test_table_3_says_how_many_members_are_left() -> None:
    columns = [
        Shrunk("recorded", 363, 9, 9, TABLE_3_INITIAL),
        Shrunk("with shrinking", 16, 4, 5, TABLE_3_WITH),
    ]
    assert table_3(columns).rows == [
        ("recorded", "363 (360)", "9 (9)", "9"),
        ("with shrinking", "16 (51)", "4 (5)", "5"),
    ]


# -- bars --------------------------------------------------------------------------------------------------------


def test_bars_are_met_up_to_their_limits() -> None:
    assert of_minimization([_row(Size(24, 8), seconds=120.0)]) == [
        Bar("minimization: final / smallest known, median of 1 bugs", "1.50", "1.5", True),
        Bar("minimization: final / smallest known, raft-45", "1.50 (24 / 16)", "2", True),
        Bar("minimization: events from outside, raft-45", "8", "8", True),
        Bar("minimization: time, raft-45", "120.0 s (2.5 s of processor time)", "120 s", True),
    ]


def test_bars_are_not_met_beyond_their_limits() -> None:
    assert [bar.passed for bar in of_minimization([_row(Size(33, 9), seconds=120.1)])] == [False] * 4


# -- Table 4 -----------------------------------------------------------------------------------------------------


def test_lines_are_counted_without_docstrings_comments_and_empty_ones(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        '"""A file."""\n\n# why\nX = """\ntext\n"""\n\ndef f():\n    """Do."""\n    return (\n        X\n    )\n'
    )
    assert (count_lines(file), count_lines(file, "f")) == (7, 4)


def test_table_4_in_the_guide_is_what_is_counted() -> None:
    guide = (Path(__file__).parents[1] / "docs/simulation.md").read_text(encoding="utf-8")
    for row in measure_lines():
        shown = next(line for line in guide.splitlines() if line.startswith(f"| {row.purpose}"))
        spark = row.spark_published.replace("~", "about ")
        assert shown.split("|")[2:-1] == [f" {cell} " for cell in (row.raft_published, row.raft, spark, row.spark)]
