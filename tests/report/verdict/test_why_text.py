"""Why a counterexample breaks the outcome, for the terminal: to the letter for kafka, and never too wide."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.budgets.deadline import Deadline
from clew.engine.execution import Message
from clew.explain.explainer import Explainer
from clew.explain.explanation import Event, Explanation
from clew.explain.steps import MessageStep, NodeStep, RowStep, Step
from clew.explain.why import Support, Why
from clew.explain.without import Account, Without
from clew.faults import Crash, Delay, Fault, FaultSet, Loss
from clew.report.diagrams.lamport import lamport_of
from clew.report.verdict.explaining import explanation_lines
from clew.report.verdict.why_text import rows_to_explain, why_lines
from clew.violation import Violation
from counterexamples import BROKEN
from example_verdicts import verdict_of
from report.verdict.kafka_why import KAFKA_WHY

#: Of properties that are expensive, or asked of several variants.
HALF = settings().max_examples // 2

NAMES = st.one_of(
    st.sampled_from(["a", "b", "replica-12", "n" * 40, "x" * 200, "写真", "写" * 60]),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), min_size=1, max_size=30),
)


@cache
def told(name: str) -> tuple[tuple[Explanation, ...], FaultSet, int]:
    """Why the first counterexample of an example fails."""
    found = verdict_of(name)
    assert found.program is not None
    first = found.counterexamples[0]
    explainer = Explainer(found.program, found.spec, Deadline(None))
    return explainer.explain(first.violations, first.faults), first.faults, found.spec.eot


def columns(line: str) -> int:
    wide = {"W": 2, "F": 2}
    return sum(wide.get(unicodedata.east_asian_width(c), 1) for c in line if unicodedata.category(c)[0] != "M")


# -- exact ------------------------------------------------------------------------------------------------------


def test_kafka() -> None:
    """What is cut is marked; where there is no room for all of a support, what is cut stays, and then its end."""
    assert list(why_lines(*told("kafka"))) == KAFKA_WHY


def test_both_delays_of_the_saga() -> None:
    """Only the first one cuts the support; it takes the second one, too."""
    assert list(why_lines(*told("saga"))) == [
        "Why pre(x): given 'pre', post(x) had one support without faults; it is cut:",
        "  D(o,p,3,1) cuts reserve o→h@1, confirmed h→o@2, ✗ charge o→p@3, receipt p→o@4",
        "  without D(o,p,3,1): charge o→p@3 arrives at 4, not 5, receipt p→o@4, no attempt(o, x, 2)@6,",
        "    no charge o→p@6, no charged(p, x, 2)@7, no twice(x)@10: post(x) holds",
        "  without D(p,o,5,1): receipt p→o@5 arrives at 6, not 7, no attempt(o, x, 2)@6, no charge o→p@6,",
        "    no charged(p, x, 2)@7, no twice(x)@10: post(x) holds",
        "  How it arose:",
        "     3  charge o→p arrives at 5, not 4: D(o,p,3,1)",
        "     5  receipt p→o arrives at 7, not 6: D(p,o,5,1)",
        "     6  attempt(o, x, 2); charge o→p",
        "     7  charged(p, x, 2)",
        "    10  twice(x); pre(x) holds, post(x) does not",
    ]


def test_what_is_only_lost_did_not_arise() -> None:
    """``missing`` is part of the assertion: no node derives it.  All that the outcome takes is told."""
    rows, faults, eot = told("classic-deliv")
    assert list(why_lines(rows, faults, eot))[-4:] == [
        "  without O(a,b,1): bcast a→b@1 arrives, log(b, data)@2, bcast b→c@2, log(c, data)@3,",
        "    no missing(c, data)@5, no missing(b, data)@5: post(a, data) holds",
        "  without O(a,c,1): bcast a→c@1 arrives, log(c, data)@2, bcast c→b@2, log(b, data)@3,",
        "    no missing(c, data)@5, no missing(b, data)@5: post(a, data) holds",
    ]


def test_rows_that_are_violated_alike_refer_to_the_first() -> None:
    lines = list(why_lines(*told("3pc")))
    assert lines[:2] == [
        "Why pre(agreement, a, t1):",
        "  given 'pre', post(agreement, a, t1) had 8 supports without faults; each is cut:",
    ]
    assert lines[10:] == [
        "  without O(C,a,3): pre_commit C→a@3 arrives, prepared(a, t1)@4, no decision(a, t1, abort)@5,",
        "    no conflict(a, t1)@9: post(agreement, a, t1) holds",
        "  without C(C,4): pre_commit C→a@4 is sent, prepared(a, t1)@5, no decision(a, t1, abort)@5,",
        "    no conflict(a, t1)@9: post(agreement, a, t1) holds",
        "  How it arose:",
        "    3  pre_commit C→a is lost: O(C,a,3)",
        "    4  pre_commit C→a is not sent: C(C,4)",
        "    5  decision(a, t1, abort)",
        "    9  conflict(a, t1); pre(agreement, a, t1) holds, post(agreement, a, t1) does not",
        "Why pre(agreement, b, t1): as for pre(agreement, a, t1).",
        "Why pre(agreement, d, t1): as for pre(agreement, a, t1).",
    ]


def test_without_supports_the_faults_come_first() -> None:
    rows, faults, eot = told("kafka")
    lines = list(why_lines([rows[0]._replace(why=None)], faults, eot))
    assert lines[0] == "Why pre(C, w1): each of the faults is needed:"
    assert lines[1:] == list(why_lines(rows, faults, eot))[10:]


def test_no_more_than_three_rows_are_explained_in_full() -> None:
    rows, faults, eot = told("kafka")
    others = [Violation("pre", (n,)) for n in range(6)]
    many = [rows[0]._replace(account=rows[0].account._replace(violation=other)) for other in others]
    many[2] = many[2]._replace(like=others[1])
    told_of = list(rows_to_explain(iter(many)))
    assert told_of == many[:4]
    lines = [line for line in why_lines(told_of, faults, eot, left_out=2) if not line.startswith("  ")]
    assert [line.partition(":")[0] for line in lines[:4]] == [f"Why pre({n})" for n in range(4)]
    assert lines[2] == "Why pre(2): as for pre(1)."
    assert lines[4:] == ["... and 2 more rows; --report explains them"]
    assert list(why_lines(told_of, faults, eot, left_out=1))[-1] == "... and 1 more row; --report explains it"


def test_no_more_than_twelve_rows_are_told_of() -> None:
    row = told("kafka")[0][0]
    assert len(list(rows_to_explain([row, *[row._replace(like=row.violation)] * 20]))) == 12


def test_a_violation_that_was_kept_away() -> None:
    lines = list(why_lines(*told("bully-le-lossy")))
    assert lines[0] == "Why pre(a, a): without faults 2 supports kept pre(a, a) away; each is cut:"
    assert lines[5].startswith("  without O(a,b,7): election a→b@7 arrives, alive b→a@8, no wins(a)@9")
    assert lines[6].endswith("pre(a, a) does not hold")


def test_one_support() -> None:
    rows, faults, eot = told("2pc")
    sent = "prepare C→b@1, prepare C→d@1, vote a→C@2, vote b→C@2, vote d→C@2"
    assert [line.partition(" cuts ")[2] for line in why_lines(rows, faults, eot)][2] == f"{sent}, ✗ outcome C→a@3"
    assert list(why_lines(rows[:1], faults, eot))[:2] == [
        "Why pre(termination, a, t1):",
        "  given 'pre', post(termination, a, t1) had one support without faults; it is cut:",
    ]


def test_of_many_supports_the_first_are_listed_but_every_fault() -> None:
    rows, faults, eot = told("redun-deliv-late")
    lines = list(why_lines(rows, faults, eot))
    assert lines[15].startswith("  O(a,c,") and lines[16] == "  ... and 31 more; --report shows them"
    assert len([line for line in lines if line.startswith("  without ")]) == len(faults) == 18


def test_more_supports_than_are_known() -> None:
    one = Support((message("m", "a", "b", 1),), (), (), (Loss("a", "b", 1),), (), (Loss("a", "b", 1),))
    lost = Violation("got", ("b", 1))
    row = Explanation(account(lost, Loss("a", "b", 1)), why=Why(lost, False, (one,) * 200, True))
    lines = list(why_lines([row], FaultSet.of([Loss("a", "b", 1)]), 3))
    assert lines[0] == "Why got(b, 1): got(b, 1) had more than 200 supports without faults; each is cut:"
    assert lines[1] == "  O(a,b,1) cuts ✗ m a→b@1"
    assert lines[16] == "  ... and more; --report shows them"
    assert lines[17:] == ["  without O(a,b,1): m a→b@1 arrives: got(b, 1) is there at the end"]


def test_what_fails_without_faults_is_not_explained_again() -> None:
    nothing = Account(Violation("pre", ("a",)), FaultSet(), ())
    assert list(why_lines([Explanation(nothing)], FaultSet(), 3)) == []


def test_faults_that_are_not_needed_are_told_together() -> None:
    needed, spare = Loss("a", "b", 1), (Loss("b", "a", 1), Crash("b", 2))
    lost = Violation("got", ("b", 1))
    lines = [Without(fault, False, lost, False, ()) for fault in spare]
    row = Explanation(Account(lost, FaultSet((needed,)), (*account(lost, needed).without, *lines)))
    assert list(why_lines([row], FaultSet.of([needed, *spare]), 3)) == [
        "Why got(b, 1): not all of the faults are needed:",
        "  without O(b,a,1), C(b,2): it is violated all the same, so they are not needed",
        "  and without O(a,b,1): m a→b@1 arrives: got(b, 1) is there at the end",
    ]
    row = Explanation(Account(lost, FaultSet(), tuple(lines[:1])))
    assert list(why_lines([row], FaultSet.of(spare[:1]), 3)) == [
        "Why got(b, 1): it is violated in the failure-free run already.",
        "  without O(b,a,1): it is violated all the same, so it is not needed",
    ]


def test_a_long_chain_loses_its_middle() -> None:
    """First the rows on the way to another one of the same time, then what is in the middle."""
    steps: list[Step] = [MessageStep("m", ("b",), "a", 1, 2, True, True)]
    for t in range(2, 9):
        steps += [RowStep(f"relation{t}{part}", ("b", "data"), t, True, part != "z") for part in "xyz"]
    line = Without(Loss("a", "b", 1), True, Violation("post", ("b",)), True, tuple(steps))
    row = Explanation(Account(Violation("pre", ("b",)), FaultSet((line.fault,)), (line,)))
    assert list(why_lines([row], FaultSet((line.fault,)), 9))[1:] == [
        "  without O(a,b,1): m a→b@1 arrives, relation2z(b, data)@2, relation3z(b, data)@3, …,",
        "    relation6z(b, data)@6, relation7z(b, data)@7, relation8z(b, data)@8: post(b) holds",
    ]


def test_of_many_times_the_first_and_the_last_are_told() -> None:
    events = tuple(Event(t, RowStep("r", (t,), t, False), None) for t in range(1, 13))
    row = Explanation(account(Violation("pre", ("b",)), Loss("a", "b", 1)), events)
    lines = list(why_lines([row], FaultSet.of([Loss("a", "b", 1)]), 12))
    assert lines[2:] == [
        "  How it arose:",
        *(f"    {t:2}  r({t})" for t in range(1, 5)),
        "        ... and 4 more times; --report shows them",
        *(f"    {t:2}  r({t})" for t in range(9, 12)),
        "    12  r(12); pre(b) holds, post(b) does not",
    ]


def test_messages_that_arrive_later_than_usual_say_when() -> None:
    late = MessageStep("m", ("c",), "b", 3, 6, False, False)
    steps = (MessageStep("m", ("b",), "a", 2, 4, True, True), late)
    line = Without(Crash("a", 1), True, Violation("pre", ("c",)), False, steps)
    row = Explanation(
        Account(Violation("pre", ("c",)), FaultSet((line.fault,)), (line,)),
        (Event(2, steps[0], line.fault), Event(3, late, None)),
    )
    assert list(why_lines([row], FaultSet((line.fault,)), 7))[1:] == [
        "  without C(a,1): m a→b@2 is sent (arrives at 4), no m b→c@3 (arrives at 6): pre(c) does not hold",
        "  How it arose:",
        "    2  m a→b is not sent: C(a,1)",
        "    3  m b→c (arrives at 6)",
        "    7  pre(c) holds, post(c) does not",
    ]


def test_in_ascii() -> None:
    rows, faults, eot = told("kafka")
    assert next(line for line in why_lines(rows, faults, eot, ascii_only=True) if "O(b,Z,1)" in line).startswith(
        "  O(b,Z,1) cuts X report b"
    )


# -- nothing is passed over -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BROKEN)
def test_every_fault_of_the_counterexample_of_an_example_is_named(name: str) -> None:
    rows, faults, eot = told(name)
    lines = list(why_lines(rows, faults, eot))
    for fault in faults:
        assert any(line.startswith(f"  without {fault}: ") for line in lines)


# -- never too wide ---------------------------------------------------------------------------------------------


def message(relation: str, source: str, target: str, sent: int) -> Message:
    return Message(relation, (target, source), source, target, sent, sent + 1)


def account(violation: Violation, fault: Loss) -> Account:
    """One lost message without which the row is there."""
    arrives = MessageStep("m", (fault.target,), fault.source, fault.time, fault.time + 1, True, True)
    return Account(violation, FaultSet((fault,)), (Without(fault, True, violation, True, (arrives,)),))


@st.composite
def supported(draw: st.DrawFn) -> tuple[Why, set[Fault]]:
    """Supports with any names, each cut by one or more of its faults."""
    happened: set[Fault] = set()
    supports = []
    for _ in range(draw(st.integers(1, 3))):
        sent = [
            message(draw(NAMES), draw(NAMES), draw(NAMES), draw(st.integers(1, 12)))
            for _ in range(draw(st.integers(0, 9)))
        ]
        up = [(draw(NAMES), draw(st.integers(1, 12))) for _ in range(draw(st.integers(0 if sent else 1, 2)))]
        falsifier: list[Fault] = [Loss(m.source, m.target, m.sent) for m in sent]
        falsifier += [Crash(node, 1) for node, _ in up]
        cut_by = draw(st.lists(st.sampled_from(falsifier), min_size=1, max_size=3, unique=True))
        happened.update(cut_by)
        supports.append(Support(tuple(sent), (), tuple(up), tuple(falsifier), (), tuple(cut_by)))
    row = tuple(draw(st.lists(NAMES, max_size=3)))
    why = Why(Violation(draw(NAMES), row), draw(st.booleans()), tuple(supports), draw(st.booleans()))
    return why, happened


@st.composite
def steps(draw: st.DrawFn) -> Step:
    time, there = draw(st.integers(1, 12)), draw(st.booleans())
    row = tuple(draw(st.lists(NAMES, min_size=1, max_size=3)))
    match draw(st.sampled_from(["row", "message", "node"])):
        case "row":
            return RowStep(draw(NAMES), row, time, there, draw(st.booleans()))
        case "message":
            arrives = time + draw(st.integers(1, 3))
            return MessageStep(draw(NAMES), row, draw(NAMES), time, arrives, there, draw(st.booleans()))
        case _:
            return NodeStep(draw(NAMES), time)


@st.composite
def accounts(draw: st.DrawFn, violation: Violation, faults: list[Fault]) -> Explanation:
    """Any chains, and any events."""
    lines = [
        Without(
            fault,
            draw(st.booleans()),
            Violation(draw(st.sampled_from(["pre", "post", violation.relation])), violation.row),
            draw(st.booleans()),
            tuple(draw(st.lists(steps(), min_size=1, max_size=8))),
        )
        for fault in faults
    ]
    needed = FaultSet.of(line.fault for line in lines if line.needed)
    told = [(step, draw(st.sampled_from([None, *faults]))) for step in draw(st.lists(steps(), max_size=12))]
    events = sorted((Event(step.time, step, fault) for step, fault in told), key=lambda event: event.time)
    return Explanation(Account(violation, needed, tuple(lines)), tuple(events))


@st.composite
def explained(draw: st.DrawFn) -> tuple[list[Explanation], FaultSet]:
    rows = []
    happened: set[Fault] = {Delay(draw(NAMES), draw(NAMES), 3, 2)} if draw(st.booleans()) else set()
    for _ in range(draw(st.integers(1, 2))):
        why, cut_by = draw(supported())
        happened |= cut_by
        rows.append(why)
    faults = FaultSet.of(happened)
    return [draw(accounts(why.violation, list(faults)))._replace(why=why) for why in rows], faults


@settings(max_examples=HALF)
@given(explained(), st.booleans(), st.sampled_from([100, 80, 60]))
def test_no_line_is_wider_than_it_may_be(
    case: tuple[list[Explanation], FaultSet], ascii_only: bool, width: int
) -> None:
    for line in why_lines(*case, 14, ascii_only=ascii_only, width=width):
        assert columns(line) <= width
        assert line and line == line.rstrip()


@settings(max_examples=HALF)
@given(explained())
def test_every_support_has_a_line_that_shows_a_cut_first_of_all(
    case: tuple[list[Explanation], FaultSet],
) -> None:
    rows, faults = case
    for row in rows:
        assert row.why is not None
        lines = [line for line in why_lines([row], faults, 14) if re.match(r"  \S.*? cuts? ", line)]
        assert len(lines) >= len(row.why.supports)
        for line in lines[: len(row.why.supports)]:
            assert "✗" in line or "…" in line or re.search(r" cuts? and \d+ more$", line)


@pytest.mark.parametrize("name", BROKEN)
def test_no_line_about_an_example_is_wider_than_a_hundred_columns(name: str) -> None:
    rows, faults, eot = told(name)
    lines = list(why_lines(rows, faults, eot))
    assert lines and max(map(columns, lines)) <= 100
    assert all("✗" in line for line in lines if re.match(r"  [OCD]\(", line)), "every line shows what is cut"


@pytest.mark.parametrize("name", BROKEN)
def test_left_out_words_are_counted(name: str) -> None:
    """What is shown and what is said to be left out is all there is."""
    rows, faults, eot = told(name)
    for row in rows:
        assert row.why is not None
        lines = [line for line in why_lines([row], faults, eot) if re.match(r"  [OCD]\(", line)]
        for line, support in zip(lines, row.why.supports, strict=False):
            shown = re.split(r" cuts? ", line, maxsplit=1)[1].split(", ")
            more = re.fullmatch(r"and (\d+) more", shown[-1])
            count = len(shown) - 1 + int(more[1]) if more else len(shown)
            texts = {f"{m.relation} {m.source}→{m.target}@{m.sent}" for m in support.messages}
            assert count == len(texts) + len(support.up) + len(support.punctual)


def test_a_narrow_terminal_keeps_what_is_cut() -> None:
    rows, faults, eot = told("kafka")
    lines = [line for line in why_lines(rows, faults, eot, width=60) if line.startswith("  O(b,Z,1)")]
    assert lines == ["  O(b,Z,1) cuts ✗ report b→Z@1, b never crashes, and 5 more"]


@pytest.mark.parametrize("name", BROKEN)
def test_the_whole_explanation_can_be_ascii(name: str) -> None:
    found = verdict_of(name)
    assert found.program is not None
    rows, faults, _ = told(name)
    run = Explainer(found.program, found.spec, Deadline(None)).run(faults)
    lines = explanation_lines(lamport_of(run), rows, faults, ascii_only=True)
    assert all(line.isascii() for line in lines)
    assert not any("?" in line for line in lines), "nothing is lost on the way"
    assert any(line.startswith("Why ") for line in lines)
