"""Explanations that once were wrong, each as small as it could be made."""

from __future__ import annotations

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.engine.extremes import Cheapest
from clew.explain.explainer import Explainer
from clew.explain.lineage_graph import LineageGraph
from clew.explain.overview import overview
from clew.explain.why import Why
from clew.faults import Delay, FailureSpec, FaultSet, Loss
from clew.program.checks import check_program
from clew.report.lineage.marks import lineage_marks
from clew.report.verdict.wording import support_words
from clew.violation import Violation

ALARM = """
say("c", "a");  t("a", 1);  watch("a", "b");  there("b", "x");
watch(X, Y)@next :- watch(X, Y);
there(X, Y)@next :- there(X, Y);
t(X, N + 1)@next :- t(X, N);
fine(Y)@async :- say(X, Y);
fine(X)@next :- fine(X);
alarm(Y)@async :- watch(X, Y), t(X, 2), notin fine(X);
alarm(X)@next :- alarm(X);
pre(X, P) :- there(X, P);
post(X, P) :- there(X, P), notin alarm(X);
"""
SAFE = Violation("pre", ("b", "x"))

LATE_TOKEN = """
start("a", "b");  here("a", "x");
here(X, P)@next :- here(X, P);
token(Y)@async :- start(X, Y);
pre(X, P) :- here(X, P);
post(X, P) :- here(X, P), notin token("b");
"""

TWO_RULES = """
s("a", "x");  s("c", "x");  peer("a", "b");  peer("c", "b");
m(Y, P)@async :- s("a", P), peer("a", Y);
n(Y, P)@async :- s("c", P), peer("c", Y);
m(X, P)@next :- m(X, P);
n(X, P)@next :- n(X, P);
pre("b", "x") :- peer("a", "b")@1;
post(X, P) :- m(X, P);
post(X, P) :- m(X, P), n(X, P);
"""

SECOND_TRY = """
cast("a", "b", "x");  t("a", 1);  back("b", "a");
t(X, N + 1)@next :- t(X, N);
back(X, Y)@next :- back(X, Y);
cast(X, Y, P)@next :- cast(X, Y, P);
log(Y, P)@async :- cast(X, Y, P), t(X, 1);
log(Y, P)@async :- cast(X, Y, P), t(X, 3), notin ack(X, Y, P);
log(X, P)@next :- log(X, P);
ack(Y, X, P)@async :- log(X, P), back(X, Y);
"""

THREE_LATE_MESSAGES = """
t("a", 1);  start("a", "x");
t(X, N + 1)@next :- t(X, N);
start(X, Y)@next :- start(X, Y);
go("b", N)@async :- t("a", N), N == 5;
go("b", N)@async :- t("a", N), N == 3;
go("b", N)@async :- t("a", N), N == 7;
go(X, N)@next :- go(X, N);
pre(X, P) :- start(X, P);
post(X, P) :- start(X, P), go("b", 3), go("b", 5), go("b", 7);
"""


def explainer(text: str, nodes: str, eot: int, eff: int = 0, crashes: int = 0, delays: int = 0) -> Explainer:
    program = check_program(parse_program(text)).program
    return Explainer(program, FailureSpec(tuple(nodes), eot, eff, crashes, delays), Deadline(None))


def labels(graph: LineageGraph) -> list[str]:
    return [goal.label for goal in graph.goals]


def test_what_kept_a_message_from_being_sent_stays_in_the_focused_graph() -> None:
    lineage = explainer(ALARM, "abc", 5, eff=4, crashes=1).lineage(SAFE)
    assert labels(lineage.focused) == ["post(b, x)", "there(b, x)", "no alarm(b)", "fine(a)"]
    sent = [f.transfer.link for f in lineage.focused.firings if f.transfer and f.fired]
    assert sent == [("c", "a", 1)]


def test_a_loss_where_nothing_was_sent_cuts_nothing() -> None:
    about = explainer(ALARM, "abc", 5, eff=4)
    graph = about.lineage(SAFE).whole
    run = about.run(FaultSet.of([Loss("c", "a", 1), Loss("a", "b", 2)]))
    assert run.good  # the alarm is lost: that saves the outcome
    cut = [graph.firings[n].transfer for n in lineage_marks(graph, overview(graph, about.program.rules), run).cut]
    assert [t.link for t in cut if t] == [("c", "a", 1)]


def test_a_message_that_must_not_be_late_is_named() -> None:
    about = explainer(LATE_TOKEN, "ab", 3, delays=1)
    faults = FaultSet.of([Delay("a", "b", 1, 1)])
    explained: Why = about.why(Violation("pre", ("a", "x")), faults)
    (support,) = explained.supports
    assert (support.messages, support.punctual) == ((), (("a", "b", 1),))
    assert support_words(support, faults, 3) == [("what a sends b at 1 is not late", True)]
    (firing,) = [f for f in about.lineage(explained.violation).focused.firings if f.transfer]
    assert (firing.fired, firing.punctual) == (False, True)


def test_a_rule_is_left_out_when_a_premise_of_it_is() -> None:
    """The second rule for ``post`` needs a message that no minimal support needs."""
    graph = explainer(TWO_RULES, "abc", 4, eff=3).lineage(SAFE).focused
    assert labels(graph) == ["post(b, x)", "m(b, x)", "peer(a, b)"]  # the last is given
    assert len(graph.why[0]) == 1


def test_a_row_that_comes_late_but_is_there_in_the_end_is_not_gone() -> None:
    about = explainer(SECOND_TRY, "ab", 6, eff=2)
    graph = about.lineage(Violation("log", ("b", "x"))).whole
    run = about.run(FaultSet.of([Loss("a", "b", 1)]))
    assert run.good
    assert 0 not in lineage_marks(graph, overview(graph, about.program.rules), run).gone
    assert graph.goals[0].label == "log(b, x)"


def test_how_far_eff_would_have_to_move_is_the_least() -> None:
    (margin,) = explainer(THREE_LATE_MESSAGES, "ab", 9, eff=2).margins()
    by_losses = margin.distance.by_losses
    assert isinstance(by_losses, Cheapest)
    assert by_losses.faults == FaultSet.of([Loss("a", "b", 3)])
    assert by_losses.outside == 1
