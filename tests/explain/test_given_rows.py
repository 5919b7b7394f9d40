"""Inputs and choices of a counterexample: accounted for, drawn, and in the commands that repeat it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew import parse_program, run
from clew.budgets.deadline import Deadline
from clew.dedalus.printer import print_program
from clew.engine.runs import Runs
from clew.explain.explanation import explain_rows
from clew.faults import FailureSpec, Pick
from clew.program.checks import check_program
from clew.program.ir import Program
from clew.report.diagrams.lamport import Gift, GiftKind, lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg, legend_items
from clew.report.diagrams.lamport_text import diagram_lines
from clew.report.verdict.explaining import explain_verdict
from cli.in_process import run_clew, shell_arguments
from counterexamples import EXAMPLES, minimal_counterexamples
from example_verdicts import verdict_of
from explain.test_without import Reference, assert_true
from generators import lasting_programs, open_programs, open_specs

NO_DEADLINE = Deadline(None)
FEW = settings(max_examples=max(20, settings().max_examples // 4))


@st.composite
def open_problems(draw: st.DrawFn) -> tuple[Program, FailureSpec]:
    program = draw(open_programs(lasting_programs() if draw(st.booleans()) else None))
    spec = draw(open_specs(program))
    note(f"{spec}\n{print_program(program)}")
    return program, spec


@given(open_problems())
def test_every_input_and_choice_is_accounted_for(problem: tuple[Program, FailureSpec]) -> None:
    checked = check_program(problem[0]).program, problem[1]
    known = Reference(*problem)
    for counterexample in minimal_counterexamples(*problem, find_all=False).counterexamples:
        faults = counterexample.faults
        for row in explain_rows(Runs.of(*checked, faults, NO_DEADLINE), counterexample.violations):
            assert_true(row, faults, known)


@FEW
@given(open_problems())
def test_every_input_and_choice_is_named_on_the_terminal(problem: tuple[Program, FailureSpec]) -> None:
    verdict = minimal_counterexamples(*problem, find_all=False)
    lines = "\n".join(explain_verdict(verdict, on_failure=_raise).lines)
    for fault in verdict.counterexamples[0].faults if verdict.counterexamples else ():
        assert str(fault) in lines.split("Why")[0]
        assert f"without {fault}: " in lines or "already: no fault is needed" in lines


def _raise(failure: Exception) -> None:
    raise failure


@FEW
@given(open_problems())
def test_the_printed_command_and_the_document_repeat_it(problem: tuple[Program, FailureSpec]) -> None:
    """Through a text, a real shell, and the JSON that a verdict is saved as."""
    program, spec = problem
    with TemporaryDirectory() as folder:
        (Path(folder) / "p.ded").write_text(print_program(program), encoding="utf-8")
        bounds = ["--eot", str(spec.eot), "--eff", str(spec.eff), "--crashes", str(spec.crashes)]
        found = run_clew(Path(folder), ["check", "p.ded", "--json", "o.json", *bounds])
        if found.code != 1:
            return
        again = run_clew(Path(folder), shell_arguments(found.replay))
        assert again.code == 1
        assert all(words.split(": ")[0] in again.out for words in found.lines("  violates "))
        replayed = run_clew(Path(folder), ["replay", "o.json", "--json", "r.json"])
        assert replayed.code == 1
        saved = json.loads((Path(folder) / "o.json").read_text(encoding="utf-8"))["counterexamples"][0]
        repeated = json.loads((Path(folder) / "r.json").read_text(encoding="utf-8"))["replays"][0]
        assert {name: repeated.get(name) for name in saved} == saved


def test_the_drawing_of_inputs_and_choices() -> None:
    faults = verdict_of("session").counterexamples[0].faults
    diagram = lamport_of(run(EXAMPLES / "session.ded", faults, eot=8))
    assert diagram.gifts == (
        Gift("c", 3, GiftKind.INPUT, 2),
        Gift("c", 5, GiftKind.INPUT, 3),
        Gift("c", 5, GiftKind.PICK, 4),
    )
    assert diagram.unseen_faults == ()
    svg = diagram_svg(diagram, title="a session", standalone=True)
    assert svg.count('<g class="gift input">') == 3  # two boxes, and the legend
    assert "<title>I(read(c),5); K(get(c, v1, s),5)</title>" in svg
    assert [item.text for item in legend_items(diagram)] == [
        "delivered",
        "lost",
        "given from outside",
        "chosen",
    ]
    text = "\n".join(diagram_lines(diagram))
    assert "INPUT" in text and "I(read(c),5); K(get(c, v1, s),5)" in text


def test_a_choice_at_a_place_that_is_no_node_is_in_the_margin() -> None:
    program = parse_program(
        """
        seat("x", 1); seat("x", 2); link("a", "b");
        link(X, Y)@next :- link(X, Y);
        taken(R, S) :- seat(R, S), choose((R), (S));
        pre(S) :- taken(_, S); post(S) :- taken(_, S);
        """
    )
    execution = run(program, [Pick("taken", ("x", 2), 1)], nodes=["a", "b"], eot=2)
    assert any("K(taken(x, 2),1)" in line for line in diagram_lines(lamport_of(execution)))
