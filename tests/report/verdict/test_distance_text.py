"""The distance to failure on the page: what it says, and that it says what was not looked at."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from html import unescape
from typing import Any

import pytest

from clew import Answer, Verdict, check, parse_program
from clew.budgets.deadline import Deadline
from clew.engine.extremes import BeyondBudget, Cheapest
from clew.errors import BudgetExhaustedError
from clew.explain.explainer import Explainer
from clew.faults import KINDS, FailureSpec, Fault
from clew.report.verdict.distance_text import distance_lead, distance_note, distance_rows
from clew.report.verdict.page import verdict_page
from clew.report.verdict.template import MarginRow

#: Nothing is promised without faults: a reaches b, or else gives up at time 3 and promises to reach c.
ONLY_UNDER_FAULTS = """
item("a", "x");  peer("a", "b");  spare("a", "c");  t("a", 1);
item(X, P)@next :- item(X, P);
spare(X, Y)@next :- spare(X, Y);
t(X, N + 1)@next :- t(X, N);
log(Y, P)@async :- item(X, P), peer(X, Y);
log(X, P)@next :- log(X, P);
ack("a", P)@async :- log(X, P), X == "b";
ack(X, P)@next :- ack(X, P);
late(X, P) :- item(X, P), notin ack(X, P), t(X, 3);
late(X, P)@next :- late(X, P);
log(Y, P)@async :- late(X, P), spare(X, Y), t(X, 3);
pre(X, P) :- late(X, P);
post(X, P) :- late(X, P), log("c", P);
"""

#: Crashes weigh more than a number can be; without any there is no sum.
TOO_HEAVY = """
item("a", "x");  weight("a", "a", 2000000000);  weight("a", "b", 1000000000);
item(X, P)@next :- item(X, P);
weight(X, Y, W)@next :- weight(X, Y, W);
burden(X, sum<W>) :- crash(X, Y, _), weight(X, Y, W);
pre(X, P) :- item(X, P);
post(X, P) :- item(X, P), notin burden(X, 7);
"""

#: b has the item from the beginning; that is promised, and cannot be broken.
SAFE = """
item("a", "x");  item(X, P)@next :- item(X, P);
hello("b", P)@async :- item("a", P);
pre(X, P) :- item(X, P);
post(X, P) :- item(X, P);
"""
BUDGET = FailureSpec(("a", "b", "c"), 6, eff=2)


def certified(text: str, bounds: FailureSpec) -> Verdict:
    numbers: Any = bounds.numbers
    found = check(parse_program(text), nodes=bounds.nodes, **numbers)
    assert found.answer is Answer.CERTIFIED
    return found


def explainer_of(verdict: Verdict) -> Explainer:
    assert verdict.program is not None
    return Explainer(verdict.program, verdict.spec, Deadline(None))


def rows_of(text: str, bounds: FailureSpec) -> list[MarginRow]:
    return list(distance_rows(explainer_of(certified(text, bounds))))


def page_of(text: str, bounds: FailureSpec) -> str:
    """The text of the page without its markup."""
    verdict = certified(text, bounds)
    page = verdict_page(verdict, ("x.ded",), explainer_of(verdict), lambda stage: None)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_promise_that_only_faults_bring_about_has_a_line() -> None:
    """The loss at time 1 is inside the budget, that at time 3 is not; and a crash at time 1 is like both."""
    ways = "EFF 4: O(a,b,1) O(a,c,3) break pre(a, x)", "1 crash: C(a,1) breaks pre(a, x)"
    assert rows_of(ONLY_UNDER_FAULTS, BUDGET) == [
        MarginRow("any row", "", "", "1", *ways),
        MarginRow("any other row", "", "", "1", *ways),
    ]


def test_a_vacuous_certificate_tells_its_distance() -> None:
    """In the failure-free run nothing is promised, but one more loss breaks a promise."""
    page = page_of(ONLY_UNDER_FAULTS, BUDGET)
    assert "in the failure-free run 'pre' is empty" in page
    assert "any other row 1 EFF 4: " in page


def test_what_was_not_looked_at_is_said() -> None:
    page = page_of(SAFE, BUDGET)
    assert "This is about all runs within EOT 6, whatever is lost and whoever crashes in them" in page
    assert "longer runs and late messages were not looked at." in page
    late = distance_lead(replace(BUDGET, delays=2))
    assert "longer runs and messages that are more than 2 steps late were not looked at." in late
    assert "Outside are losses from time 2 on and crashes beyond 0." in late


def test_what_cannot_be_broken() -> None:
    never = "no, whatever their number within EOT 6"
    assert rows_of(SAFE, BUDGET) == [
        MarginRow("any row", "", "", "none suffices", never, never),
        MarginRow("pre(a, x)", "1", "needs no message", "none suffices", never, never),
    ]


def test_a_budget_without_an_outside() -> None:
    """It admits all losses, and all crashes."""
    rows = rows_of(SAFE, replace(BUDGET, eff=6, crashes=3))
    inside = ("every loss is inside the budget", "every crash is inside the budget")
    assert {(r.distance, r.by_losses, r.by_crashes) for r in rows} == {("none suffices", *inside)}


@pytest.mark.parametrize("bounds", [BUDGET, replace(BUDGET, crashes=1), replace(BUDGET, crashes=1, delays=1)])
def test_the_note_on_an_outcome_that_nothing_touches_names_the_faults(bounds: FailureSpec) -> None:
    page = page_of(SAFE, bounds)
    note = {
        (
            0,
            0,
        ): "No loss can touch this outcome within EOT 6. Crashes are outside the bounds and were not looked at.",
        (1, 0): "No loss and no crash can touch this outcome within EOT 6.",
        (1, 1): "No loss and no crash and no delay of up to 1 step can touch this outcome within EOT 6.",
    }[bounds.crashes, bounds.delays]
    assert f'"note":"{note}"' in page


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.kind.is_failure], ids=lambda kind: kind.name)
def test_no_kind_of_fault_is_forgotten_in_what_the_page_says(kind: type[Fault]) -> None:
    # Taken from the bounds themselves, so that they allow a kind that nobody has thought of yet, too.
    counts: Any = {f.name: 1 for f in fields(BUDGET) if getattr(BUDGET, f.name) == 0}
    wide = replace(BUDGET, eff=4, **counts)
    assert kind.none_of(wide) and kind.beyond(wide) in distance_lead(wide)
    # What is safe must outlast a restart, too.
    page = page_of(f"durable item; {SAFE}", wide)
    assert kind.none_of(wide).lower() in page.lower()


def test_faults_that_are_not_known_to_be_the_fewest_are_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    original = BeyondBudget.cheapest

    def unproven(self: BeyondBudget, *question: object) -> Cheapest | None:
        found = original(self, *question)  # type: ignore[arg-type]
        return found and replace(found, proven=False)

    monkeypatch.setattr(BeyondBudget, "cheapest", unproven)
    (row, _) = rows_of(ONLY_UNDER_FAULTS, BUDGET)
    assert row.distance == "at most 1"
    assert row.by_losses.startswith("EFF 4 or less: ")
    assert row.by_crashes.startswith("1 crash or fewer: ")


def test_questions_that_are_too_hard_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_hard(*_: object) -> None:
        raise BudgetExhaustedError("the effort for this question is used up")

    monkeypatch.setattr(BeyondBudget, "cheapest", too_hard)
    rows = rows_of(ONLY_UNDER_FAULTS, BUDGET)
    assert {(r.distance, r.by_losses, r.by_crashes) for r in rows} == {("not decided",) * 3}
    assert "“not decided”: the solver was stopped before" in distance_note(rows, 0)
    assert "“not decided”: the solver was stopped before" in page_of(ONLY_UNDER_FAULTS, BUDGET)


def test_outcomes_without_a_line_are_counted() -> None:
    row = MarginRow("pre(a)", "1", "1", "1", "", "")
    every = replace(row, row="any row", supports="")
    assert distance_note([every, row], 1) == ""
    assert distance_note([every, row], 2) == "1 further outcome has no line; the first line is about all."
    assert distance_note([every], 3) == "3 further outcomes have no line; the first line is about all."


def test_when_runs_beyond_the_budget_cannot_be_computed_the_page_says_so() -> None:
    page = page_of(TOO_HEAVY, FailureSpec(("a", "b"), 4, eff=2))
    why = "a sum in the rule for 'burden' can become too large"
    assert f"The distance to failure is not known: beyond the bounds {why}." in page
    assert "How much is left" not in page


def test_a_certificate_that_is_wrong_is_not_measured() -> None:
    """Within this budget the program fails: the page must not hide that."""
    program = parse_program(ONLY_UNDER_FAULTS)
    about = Explainer(program, replace(BUDGET, eff=4), Deadline(None))
    with pytest.raises(AssertionError, match="certified, and yet"):
        next(distance_rows(about))
