"""Clew from Python: what a test suite would call."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from clew.dedalus.loader import parse_program

EXAMPLES = Path(__file__).parents[2] / "examples"
KAFKA = EXAMPLES / "kafka.ded"


def test_check_answers_with_a_typed_verdict() -> None:
    verdict = clew.check(KAFKA)
    assert verdict.answer is clew.Answer.COUNTEREXAMPLE
    assert verdict.spec == clew.FailureSpec(("a", "b", "c", "C", "Z"), eot=6, eff=4, crashes=1)
    (found,) = verdict.counterexamples
    assert found.faults == clew.FaultSet.of([clew.Loss("b", "Z", 1), clew.Loss("c", "Z", 1), clew.Crash("a", 4)])
    assert found.violations == (clew.Violation("pre", ("C", "w1")),)
    assert verdict.combinations == verdict.spec.combinations()


def test_run_gives_the_rows_and_messages_of_one_execution() -> None:
    execution = clew.run(KAFKA, [clew.Loss("b", "Z", 1), clew.Loss("c", "Z", 1), clew.Crash("a", 4)])
    assert not execution.good
    assert execution.rows("acked") == (("C", "w1"),)
    assert execution.rows("log", 6) == (("a", "w1"),)
    lost = [(m.source, m.target, m.sent) for m in execution.messages if m.arrived is None and m.sent == 1]
    assert lost == [("b", "Z", 1), ("c", "Z", 1)]


def test_a_program_can_be_given_as_text_files_or_parsed() -> None:
    text = KAFKA.read_text(encoding="utf-8")
    parsed = parse_program(text)
    verdict = clew.check(parsed, nodes=["a", "b", "c", "C", "Z"], eot=6, eff=4, crashes=1)
    assert verdict.counterexamples == clew.check([str(KAFKA)]).counterexamples


def test_nodes_are_found_where_facts_and_messages_are() -> None:
    program = parse_program(
        "link(a, b); link(X, Y)@next :- link(X, Y); hop(Y)@async :- link(X, Y); next(c)@async :- hop(_);"
        "next(X)@next :- next(X);"
    )
    assert clew.check(program, eot=4).spec.nodes == ("a", "b", "c")


def test_nodes_can_be_numbers() -> None:
    program = parse_program(
        "link(1, 2); link(X, Y)@next :- link(X, Y); got(Y)@async :- link(X, Y); got(X)@next :- got(X);"
    )
    verdict = clew.check(program, eot=3, eff=3, nodes=[1, 2])
    assert verdict.spec.nodes == (1, 2)
    assert verdict.counterexamples[0].faults == clew.FaultSet.of([clew.Loss(1, 2, 1), clew.Loss(1, 2, 2)])
    assert clew.run(program, [clew.Loss(1, 2, 1)], eot=2).faults == clew.FaultSet.of([clew.Loss(1, 2, 1)])


def test_python_values_are_nodes_as_they_are() -> None:
    """A text has to be interpreted; a caller from Python says what is meant, and a string is no number."""
    program = parse_program("link(1, 2); got(Y)@async :- link(X, Y); got(X)@next :- got(X);")
    with pytest.raises(clew.UsageError) as refused:
        clew.check(program, eot=3, eff=3, nodes=["1", "2"])
    assert refused.value.message == 'the string "1" can be no node of the program, but the number 1 can'
    with pytest.raises(clew.UsageError) as unknown:
        clew.run(program, [clew.Loss("1", "2", 1)], eot=2)
    assert (unknown.value.message, unknown.value.remedy) == ("unknown node '\"1\"'", "the nodes are 1, 2")


@pytest.mark.parametrize("node", [True, 1.0, None, ("a",), 2**31, b"a"])
def test_what_is_neither_a_string_nor_a_number_is_no_node(node: object) -> None:
    with pytest.raises(clew.UsageError, match="invalid node name"):
        clew.check(KAFKA, nodes=["a", node])  # type: ignore[list-item]


def test_progress_is_told_after_every_run() -> None:
    told: list[tuple[int, str]] = []
    verdict = clew.check(KAFKA, strategy="lineage", progress=lambda runs, stage: told.append((runs, stage)))
    assert max(runs for runs, _ in told) == verdict.runs
    assert ("choosing faults") in {stage for _, stage in told}


@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
def test_strategies_agree_on_retrying_broadcast(strategy: str) -> None:
    verdict = clew.check(EXAMPLES / "retry-deliv.ded", strategy=strategy, find_all=True)
    assert [str(c.faults) for c in verdict.counterexamples] == ["O(a,b,1) C(a,2)", "O(a,c,1) C(a,2)"]


def test_symmetry_lists_one_of_each_kind() -> None:
    for strategy in ("lineage", "exhaustive"):
        verdict = clew.check(EXAMPLES / "retry-deliv.ded", strategy=strategy, find_all=True, symmetry=True)
        assert len(verdict.counterexamples) == 1


def test_symmetry_saves_executions() -> None:
    runs = [clew.check(EXAMPLES / "ack-deliv.ded", strategy="lineage", symmetry=s).runs for s in (False, True)]
    assert runs[1] < runs[0]


def test_seeds_decide_what_random_draws() -> None:
    runs = {clew.check(KAFKA, strategy="random", seed=seed, max_runs=5000).runs for seed in (1, 2, 3)}
    assert len(runs) == 3
    assert clew.check(KAFKA, strategy="random", max_runs=5000).runs == clew.check(
        KAFKA, strategy="random", seed=0, max_runs=5000
    ).runs  # fmt: skip


def test_errors_are_typed_and_placed() -> None:
    with pytest.raises(clew.ProgramError) as caught:
        clew.check(parse_program("p(X) :- q(Y);", "here.ded"), eot=3)
    assert str(caught.value.position) == "here.ded:1:1"
    with pytest.raises(clew.UsageError, match="EFF 9 is larger than EOT 6"):
        clew.check(KAFKA, eff=9)
