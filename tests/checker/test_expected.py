"""A check mentions that its program expects another answer, if it is the check that the program speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clew
from clew.expectation import Expectation, ExpectationError, make_expectation
from model_files import LOSSY, SAFE, write_model

DIFFERS = "the program expects 'certified', and the answer is 'counterexample, 1 fault'"


@pytest.mark.parametrize(
    ("bounds", "expect", "message"),
    [
        (LOSSY, "expect=certified", DIFFERS),
        (LOSSY, "expect=counterexample faults=2", DIFFERS.replace("certified", "counterexample, 2 faults")),
        (LOSSY, "expect=counterexample faults=1", None),
        (LOSSY, "expect=counterexample", None),
        (LOSSY, "", None),
        (SAFE, "expect=counterexample", "the program expects 'counterexample', and the answer is 'certified'"),
        (SAFE, "expect=certified", None),
    ],
)
def test_a_difference_is_a_notice(tmp_path: Path, bounds: str, expect: str, message: str | None) -> None:
    verdict = clew.check(write_model(tmp_path, "m.ded", bounds, expect))
    assert [notice.message for notice in verdict.notices] == ([] if message is None else [message])
    assert verdict.answer.value == ("counterexample" if bounds == LOSSY else "certified")


@pytest.mark.parametrize(
    ("more", "is_noted"),
    [
        ({}, True),
        ({"find_all": True}, True),
        ({"coverage": True}, True),
        ({"time_limit": 60}, True),
        ({"eff": 2}, False),
        ({"crashes": 1}, False),
        ({"nodes": ["a", "b"]}, False),
        ({"strategy": "lineage"}, False),
        ({"strict": True}, False),
        ({"allow_hollow": True}, False),
        ({"effort": 0.01}, False),
    ],
)
def test_another_question_may_have_another_answer(tmp_path: Path, more: dict[str, Any], is_noted: bool) -> None:
    verdict = clew.check(write_model(tmp_path, "m.ded", LOSSY, "expect=certified"), **more)
    assert ([notice.message for notice in verdict.notices] == [DIFFERS]) is is_noted


def test_inputs_and_choices_are_no_faults(tmp_path: Path) -> None:
    """What the adversary gives costs nothing: the counterexample has no fault."""
    program = tmp_path / "m.ded"
    program.write_text(
        "//! nodes=a eot=3 expect=counterexample faults=0\n"
        'n("a")@1;\nn(X)@next :- n(X);\ninput write(X)@1 :- n(X);\n'
        "seen(X) :- write(X);\nseen(X)@next :- seen(X);\n"
        "pre(X) :- seen(X);\npost(X) :- seen(X), notin n(X);\n",
        encoding="utf-8",
    )
    verdict = clew.check(program)
    assert verdict.counterexamples[0].faults.given
    assert verdict.notices == ()


@pytest.mark.parametrize(
    ("expect", "faults", "key", "message"),
    [
        ("safe", None, "expect", "unknown answer 'safe' is expected"),
        (3, None, "expect", "unknown answer 3 is expected"),
        (None, 1, "faults", "'faults' is the size of a counterexample, and there is no expect"),
        ("certified", 1, "faults", "'faults' is the size of a counterexample, and there is expect=certified"),
        ("counterexample", -1, "faults", "'faults' is -1"),
        ("counterexample", True, "faults", "'faults' is True"),
        ("counterexample", 1.0, "faults", "'faults' is 1.0"),
    ],
)
def test_what_cannot_be_expected(expect: object, faults: object, key: str, message: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        make_expectation(expect, faults)
    assert (caught.value.key, caught.value.message) == (key, message)
    assert caught.value.remedy


def test_expectations_in_words() -> None:
    assert str(Expectation("certified")) == "certified"
    assert [str(Expectation("counterexample", n)) for n in (0, 1, 2)] == [
        "counterexample, 0 faults",
        "counterexample, 1 fault",
        "counterexample, 2 faults",
    ]
    assert make_expectation(None, None) is None


def test_other_values_of_params_are_another_question(tmp_path: Path) -> None:
    quorums = Path(clew.__file__).parents[2] / "examples" / "paxos-synod-quorums.ded"
    assert clew.check(quorums, params={"quorum": 1}).notices == ()
    grid = clew.check_grid(quorums, {"quorum": [1, 2]})
    assert grid.notices == ()
    assert grid.exit_code == 1
