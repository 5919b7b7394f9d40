"""One answer for each promise: in text, JSON, JUnit and on the page, by every strategy, proved and replayed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew import Answer, FailureSpec, FaultSet, Verdict, check, parse_program, replay_verdict, run, write_report
from clew.budgets.deadline import Deadline
from clew.checker.answers import Standing
from clew.checker.model import Model
from clew.checker.strategies import STRATEGIES, Options, note_kept_promises
from clew.dedalus.printer import print_program
from clew.errors import BudgetExhaustedError, UsageError
from clew.files.checkpoints import Checkpoint
from clew.program.checks import check_program
from clew.proof.refuting import ContradictionError, Refutation, refute
from clew.report.verdict.junit import junit_xml
from clew.search import exact
from clew.search.verdict import Ledger, conduct
from command import ROOT
from generators import few_mixed_specs, program_nodes
from interrupted import killed_and_continued, opportunities
from named_promises import promising_programs

SCHEMA = json.loads((ROOT / "docs/verdict.schema.json").read_text())

#: A lock that is granted to b where nothing was heard of a in this step, and forgotten.
LOCK = """
want("a", "s"); want("b", "s");
want(X, S)@next :- want(X, S);
ask(S, X)@async :- want(X, S);
holds(X, S)@async :- ask(S, X), notin ask(S, "a");
holds(X, S)@async :- ask(S, X), X == "a";
holds(X, S)@next :- holds(X, S);
never(X, Y) :- holds(X, S), holds(Y, S), X < Y;
pre_served(S) :- want(_, S), notin crash(_, _, _);
post_served(S) :- holds(_, S);
pre_fair(X) :- want(X, _), notin crash(_, _, _);
post_fair(X) :- want(X, _), holds("a", _);
"""


def _check(text: str = LOCK, **options: object) -> Verdict:
    bounds: dict[str, object] = {"nodes": ["a", "b", "s"], "eot": 4, "eff": 3, "crashes": 0}
    return check(parse_program(text), **{**bounds, **options})  # type: ignore[arg-type]


def _standings(verdict: Verdict) -> list[tuple[str, Standing, tuple[int, ...]]]:
    return [(a.assertion.relation, a.standing, a.counterexamples) for a in verdict.promises]


def test_the_exact_search_decides_every_promise_by_its_fewest_faults() -> None:
    verdict = _check()
    assert [str(c.faults) for c in verdict.counterexamples] == [
        "O(a,s,2)",
        "O(a,s,2) O(s,a,2)",
        "O(a,s,2) O(b,s,2) O(s,a,2)",
    ]
    assert _standings(verdict) == [
        ("never", Standing.VIOLATED, (1,)),
        ("pre_served", Standing.VIOLATED, (3,)),
        ("pre_fair", Standing.VIOLATED, (2, 3)),
    ]
    assert str(verdict).splitlines()[:7] == [
        "COUNTEREXAMPLE: 3 minimal ones, within EOT 4, EFF 3, 0 crashes, nodes a, b, s.",
        "  never stays empty: violated by 1",
        "  pre_served implies post_served: violated by 3",
        "  pre_fair implies post_fair: violated by 2 and 3",
        " 1.",
        "  the message from a to s at time 2 is lost",
        "  violates never(a, b) at time 4, which must never hold",
    ]
    assert "4  │           │           │  VIOLATED never(a, b)" in str(verdict)
    assert "    4  never(a, b) holds" in str(verdict)


def test_of_what_goes_on_holding_the_first_time_is_told() -> None:
    for strategy in ("exact", "lineage"):
        (found,) = _check(eff=2, eot=6, strategy=strategy).counterexamples
        assert [str(v) for v in found.violations] == ["never(a, b) at time 4"]
    execution = run(parse_program(LOCK), found.faults, nodes=["a", "b", "s"], eot=6)
    assert [time for time in range(1, 7) if execution.rows("never", time)] == [4, 5, 6]
    assert execution.violations == found.violations


ALL = [
    "O(a,s,1)",
    "O(a,s,2)",
    "O(a,s,1) O(a,s,2)",
    "O(a,s,2) O(s,a,2)",
    "O(a,s,2) O(b,s,2) O(s,a,2)",
    "O(a,s,1) O(b,s,1) O(a,s,2) O(b,s,2)",
    "O(a,s,1) O(a,s,2) O(b,s,2) O(s,b,2)",
]


@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
def test_all_are_those_that_are_minimal_for_a_promise(strategy: str) -> None:
    verdict = _check(strategy=strategy, find_all=True)
    assert [str(c.faults) for c in verdict.counterexamples] == ALL
    assert _standings(verdict) == [
        ("never", Standing.VIOLATED, (1, 2)),
        ("pre_served", Standing.VIOLATED, (5, 6, 7)),
        ("pre_fair", Standing.VIOLATED, (3, 4, 5, 6, 7)),
    ]
    assert str(verdict).splitlines()[1:4] == [
        "  never stays empty: violated by 1 and 2",
        "  pre_served implies post_served: violated by 5, 6 and 7",
        "  pre_fair implies post_fair: violated by 3, 4, 5, 6 and 7",
    ]


@pytest.mark.parametrize("strategy", ["lineage", "exhaustive", "random"])
def test_a_search_that_ends_at_the_first_decides_no_other(strategy: str) -> None:
    verdict = _check(strategy=strategy)
    undecided = Standing.UNDECIDED, "the search ended at a counterexample for another promise"
    assert [(a.standing, a.reason) for a in verdict.promises] == [(Standing.VIOLATED, None), undecided, undecided]
    assert "  pre_fair implies post_fair: not decided: the search ended at a" in str(verdict)
    cases = {case.get("name"): case for case in ElementTree.fromstring(junit_xml(verdict, ())).iter("testcase")}
    assert cases["never stays empty"].find("failure") is not None
    skipped = cases["pre_fair implies post_fair"].find("skipped")
    assert skipped is not None and "not decided" in (skipped.get("message") or "")


def test_what_holds_beside_what_is_broken_is_certified_and_passes() -> None:
    verdict = _check(eff=2)
    assert _standings(verdict) == [
        ("never", Standing.VIOLATED, (1,)),
        ("pre_served", Standing.CERTIFIED, ()),
        ("pre_fair", Standing.CERTIFIED, ()),
    ]
    root = ElementTree.fromstring(junit_xml(verdict, ["lock.ded"]))
    found = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert found == {
        "never stays empty": ["failure"],
        "pre_served implies post_served": ["system-out"],
        "pre_fair implies post_fair": ["system-out"],
    }
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "violated: never(a, b) at time 4; the message from a to s at time 1 is lost"


def test_a_limit_leaves_promises_undecided() -> None:
    verdict = _check(strategy="exhaustive", max_runs=1)
    assert verdict.answer is Answer.INCOMPLETE
    assert [(a.standing, a.reason) for a in verdict.promises] == [
        (Standing.UNDECIDED, "the limit of 1 runs was reached")
    ] * 3


@pytest.mark.parametrize("options", [{}, {"eff": 2}, {"eff": 1}, {"find_all": True}, {"strategy": "lineage"}])
def test_documents_are_as_the_schema_says_and_can_be_replayed(options: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "lock.ded"
    file.write_text(LOCK)
    bounds: dict[str, object] = {"nodes": ["a", "b", "s"], "eot": 4, "eff": 3, "crashes": 0, **options}
    verdict = check(file, **bounds)  # type: ignore[arg-type]
    document = json.loads(verdict.to_json())
    jsonschema.validate(document, SCHEMA)
    assert [(a["relation"], a["answer"], tuple(a["counterexamples"])) for a in document["answers"]] == [
        (name, standing.value, numbers) for name, standing, numbers in _standings(verdict)
    ]
    saved = tmp_path / "verdict.json"
    saved.write_text(verdict.to_json())
    if verdict.counterexamples:
        again = replay_verdict(saved, [str(file)])
        assert [set(r.violations) for r in again.runs] == [set(c.violations) for c in verdict.counterexamples]
        assert "still fails: never(a, b) at time 4" in str(again)
        file.write_text(LOCK.replace('notin ask(S, "a")', 'notin ask(S, "a"), X == S'))
        assert "fixed: never(a, b) does not hold at any time" in str(replay_verdict(saved, [str(file)]))
    else:
        with pytest.raises(UsageError, match="only a counterexample can be replayed"):
            replay_verdict(saved, [str(file)])


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("answers", 0, "answer"), "certified", "'violated' if, and only if"),
        (("answers", 1, "answer"), "violated", "'violated' if, and only if"),
        (("answers", 0, "counterexamples"), [], "the counterexamples that violate it: \\[1\\]"),
        (("answers", 0, "answer"), "kept", "expected"),
        (("answers",), [], "an answer for each promise"),
        (("counterexamples", 0, "violated", 0, "time"), 0, "expected"),
        (("counterexamples", 0, "violated", 0, "relation"), "pre_x", "must never hold, beside a time"),
        (("promises", 0, "relation"), 1, "a relation"),
    ],
)
def test_a_document_that_was_edited_is_refused(
    place: tuple[str | int, ...], value: object, message: str, tmp_path: Path
) -> None:
    document = json.loads(_check(eff=2).to_json())
    *way, last = place
    part = document
    for step in way:
        part = part[step]
    part[last] = value
    (tmp_path / "edited.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=message):
        replay_verdict(tmp_path / "edited.json", ["lock.ded"])


def test_a_program_with_one_promise_says_nothing_more_than_before() -> None:
    text = LOCK[: LOCK.index("never")] + "pre(S) :- want(_, S); post(S) :- holds(_, S);"
    verdict = _check(text)
    assert verdict.promises == ()
    assert "answers" not in json.loads(verdict.to_json())
    alone = _check(LOCK[: LOCK.index("pre_served")])
    assert str(alone).splitlines()[1] == "  never stays empty: violated"


def test_one_execution_tells_each_promise(tmp_path: Path) -> None:
    execution = run(parse_program(LOCK), nodes=["a", "b", "s"], eot=4)
    assert [line for line in str(execution).splitlines() if line.startswith(("holds", "VIOLATED"))] == [
        "holds: 'never' has no row at any time",
        "holds: every row of 'pre_served' is in 'post_served' at the end",
        "holds: every row of 'pre_fair' is in 'post_fair' at the end",
    ]
    broken = run(parse_program(LOCK), _check().counterexamples[0].faults, nodes=["a", "b", "s"], eot=4)
    assert [line for line in str(broken).splitlines() if line.startswith(("holds", "VIOLATED"))] == [
        "VIOLATED: never(a, b) at time 4",
        "holds: every row of 'pre_served' is in 'post_served' at the end",
        "holds: every row of 'pre_fair' is in 'post_fair' at the end",
    ]
    document = json.loads(broken.to_json())
    assert document["violated"] == [{"relation": "never", "row": ["a", "b"], "time": 4}]
    page = tmp_path / "run.html"
    write_report(broken, page)
    assert "never(a, b) holds at time 4, which must never be" in page.read_text()


@pytest.mark.parametrize("eff", [1, 2])
def test_the_page_has_a_line_for_each_promise(eff: int, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_report(_check(eff=eff), page)
    text = page.read_text()
    assert "pre_fair implies post_fair" in text
    assert ("violated at time 4: never(a, b)" in text) == (eff == 2)


@pytest.mark.parametrize(("kept", "eff"), [("never", 2), ("pre_served", 3), ("pre_fair", 3)])
def test_there_is_no_proof_where_a_single_promise_is_broken(kept: str, eff: int) -> None:
    others = {"never", "pre_served", "post_served", "pre_fair", "post_fair"} - {kept, kept.replace("pre", "post")}
    lines = [line for line in LOCK.splitlines() if line.split("(")[0] not in others]
    # What holds in any case comes first and last: neither place may be the only one that is looked at.
    first, last = (
        "pre_a(S) :- want(_, S); post_a(S) :- want(_, S);",
        "never_z(X) :- holds(X, S), want(X, S), X == S;",
    )
    program = check_program(parse_program("\n".join([first, *lines, last]))).program
    spec = FailureSpec(("a", "b", "s"), 4, eff)
    found = check(program, nodes=spec.nodes, eot=4, eff=eff, crashes=0)
    assert {v.relation for c in found.counterexamples for v in c.violations} == {kept}
    with pytest.raises(ContradictionError):
        refute(program, spec, Deadline(None))


@settings(max_examples=settings().max_examples // 20 + 1)
@given(st.data())
def test_a_proof_is_about_every_promise(data: st.DataObject) -> None:
    program = check_program(data.draw(promising_programs())).program
    spec = data.draw(few_mixed_specs(program, 300))
    note(f"{spec}\n{print_program(program)}")
    found = conduct(lambda book: exact.search(Model(program, spec), book), Ledger())
    if found.answer is Answer.CERTIFIED:
        assert isinstance(refute(program, spec, Deadline(None)), Refutation)
    else:
        with pytest.raises(ContradictionError):
            refute(program, spec, Deadline(None))


@settings(max_examples=settings().max_examples // 20 + 1)
@given(st.data())
def test_a_search_that_is_killed_and_continued_answers_the_same(data: st.DataObject) -> None:
    program = data.draw(promising_programs())
    note(print_program(program))
    how: dict[str, object] = data.draw(
        st.sampled_from(
            [
                {"strategy": "exhaustive", "find_all": True, "eot": 3, "eff": 2},
                {"strategy": "lineage", "find_all": True, "eot": 3, "eff": 2},
                {"strategy": "lineage", "find_all": True, "effort": 0.005},
                {"strategy": "exhaustive", "effort": 0.005},
            ]
        )
    )

    def search(checkpoint: Checkpoint | None) -> tuple[object, ...]:
        verdict = check(program, nodes=program_nodes(program), crashes=1, checkpoint=checkpoint, **how)  # type: ignore[arg-type]
        lines = [line for line in verdict.to_json().splitlines() if '"seconds"' not in line]
        return lines, verdict.executions, verdict.promises

    with tempfile.TemporaryDirectory() as folder:
        times = opportunities(Path(folder) / "counted", search)
        if times:
            at = max(1, round(data.draw(st.floats(0, 1)) * times))
            assert killed_and_continued(Path(folder) / "ck", search, at) == search(None)


class _Cut(Model):
    """A system whose questions about single promises run out of budget."""

    def ever_fewer_faults(self, promise: str | None = None) -> Iterator[FaultSet]:
        if promise is not None:
            raise BudgetExhaustedError("the time limit was reached")
        yield from super().ever_fewer_faults()


def test_a_question_that_is_cut_short_leaves_its_promise_undecided() -> None:
    program = check_program(parse_program(LOCK)).program
    system = _Cut(program, FailureSpec(("a", "b", "s"), 4, 2))
    found = conduct(lambda book: exact.search(system, book, promises=system.promises), Ledger())
    assert found.reason == "the time limit was reached; 'pre_served' and 'pre_fair' may need fewer faults, or hold"
    assert [str(c.faults) for c in found.counterexamples] == ["O(a,s,1)"]
    assert note_kept_promises(found, STRATEGIES["exact"], program, Options()).kept == ()
    assert note_kept_promises(replace(found, reason=None), STRATEGIES["exact"], program, Options()).kept == (
        "pre_served",
        "pre_fair",
    )
