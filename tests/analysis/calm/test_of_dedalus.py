"""Dedalus programs have the same labels as Bloom programs that do the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.calm.analysis import labels, of_text, reasons
from clew.analysis.calm.analysis import analyse_dataflow
from clew.analysis.calm.dataflow.graph import NodeKind
from clew.analysis.calm.dataflow.of_dedalus import dedalus_dataflow
from clew.dedalus.loader import load
from clew.program.checks import check_program

EXAMPLES = Path(__file__).parents[3] / "examples"
KEEP = 'in1("a", 1)@1; in2("a", 1)@1; g1(N, X)@next :- g1(N, X); g2(N, X)@next :- g2(N, X);'
SEND = "g1(N, X)@async :- in1(N, X); g2(N, X)@async :- in2(N, X);"
RACE = "s1 and s2 meet, and it is open which comes first"
PASS = "s1(N, X)@async :- in1(N, X); s2(N, X)@async :- in2(N, X);"


@pytest.mark.parametrize(
    ("rules", "label", "why"),
    [
        (KEEP + SEND + "out(N, X) :- g1(N, X), g2(N, X);", "A", []),
        (KEEP + SEND + "out(N, X) :- g1(N, X), notin g2(N, X);", "D", ["notin g2"]),
        (KEEP + SEND + "out(N, count<X>) :- g1(N, X), g2(N, X);", "D", ["count over g1", "count over g2"]),
        (KEEP + PASS + "out(N, X) :- s1(N, X), s2(N, X);", "D", [RACE]),
        (KEEP + "g1(N, X) :- in1(N, X); out(N, count<X>) :- g1(N, X);", "N", ["count over g1"]),
    ],
)
def test_label(rules: str, label: str, why: list[str]) -> None:
    analysis = of_text(f"{rules} out(N, X)@next :- out(N, X);")
    assert labels(analysis)["out"] == label
    assert reasons(analysis, "out") == why


@pytest.mark.parametrize(
    ("test", "label"), [("C > 2", "A"), ("C >= 2", "A"), ("2 < C", "A"), ("C < 2", "D"), ("C == 2", "D")]
)
def test_thresholds(test: str, label: str) -> None:
    text = KEEP + SEND + f"n(N, count<X>) :- g1(N, X); out(N) :- n(N, C), {test}; out(N)@next :- out(N);"
    assert labels(of_text(text))["out"] == label


def test_a_count_in_the_head_is_no_threshold() -> None:
    text = KEEP + SEND + "n(N, count<X>) :- g1(N, X); out(N, C) :- n(N, C), C > 2; out(N, C)@next :- out(N, C);"
    assert labels(of_text(text))["out"] == "D"


def test_conditional_persistence_is_a_temporal_cluster() -> None:
    analysis = of_text('p("a", 1)@1; del("a", 1)@2; p(N, X)@next :- p(N, X), notin del(N, X);')
    assert analysis.flow.clusters == (("p",),)
    assert analysis.flow.by_name["p"].kind is NodeKind.TABLE
    assert labels(analysis) == {"p": "N"}


def test_what_assertions_look_at_is_an_output() -> None:
    program = 'b("a", 1)@1; l(N, X)@async :- b(N, X); l(N, X)@next :- l(N, X);'
    analysis = of_text(f"{program} pre(N, X) :- l(N, X); post(N, X) :- l(N, X);")
    assert [n.name for n in analysis.flow.nodes] == ["b", "l"]
    assert labels(analysis) == {"l": "A"}


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("simple-deliv", {"log": "A"}),
        ("retry-deliv", {"log": "A"}),
        ("redun-deliv", {"log": "A"}),
        ("classic-deliv", {"log": "A"}),
        ("ack-deliv", {"log": "D"}),
        ("kafka", {"log": "D", "acked": "D"}),
    ],
)
def test_examples(example: str, expected: dict[str, str]) -> None:
    program = check_program(load([EXAMPLES / f"{example}.ded"]).program)
    assert labels(analyse_dataflow(dedalus_dataflow(program.program, example))) == expected
