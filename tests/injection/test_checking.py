"""``check_scenario``: the answer, what it rests on, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew import CodeVerdict, check_scenario, run_scenario
from clew.errors import UsageError
from clew.injection.running import RunAnswer
from clew.search.verdict import Answer
from clew.simulation import Context, Faults, Node, Scenario, Send, VirtualTime
from clew.simulation.recordings.replaying import ReplayOutcome, replay
from injection.relay import Put, relay

SMALL = Faults(losses=1, crashes=1, until=0.5)


def check(scenario: Scenario, **options: Any) -> CodeVerdict:
    return check_scenario(scenario, in_process=True, **options)


def test_lineage_finds_the_loss_and_the_crash_that_lose_what_was_acknowledged() -> None:
    verdict = check(relay(faults=SMALL))
    assert (verdict.answer, verdict.exit_code, verdict.runs) == (Answer.COUNTEREXAMPLE, 1, 2)
    found = verdict.counterexample
    assert found is not None
    assert str(found.faults) == "O(server,backup,Copy,1) C(server,1)"
    assert str(found.broken) == "stored_somewhere: 7 is nowhere"
    assert found.struck == (30_000, 20_000)


def test_what_is_found_is_replayed_from_its_recording_and_from_its_faults() -> None:
    scenario = relay(faults=SMALL)
    found = check(scenario).counterexample
    assert found is not None and found.recording is not None and found.execution is not None
    assert found.execution.broken == found.broken
    assert replay(found.recording, scenario=scenario).outcome is ReplayOutcome.SAME
    again = run_scenario(scenario, found.faults, in_process=True)
    assert (again.answer, again.broken, again.exit_code) == (RunAnswer.VIOLATED, found.broken, 1)


def test_a_patient_server_survives_both_which_only_exhaustion_says() -> None:
    careful = relay(hasty=False, faults=SMALL)
    by_lineage, by_exhaustion = check(careful), check(careful, strategy="exhaustive")
    assert (by_lineage.answer, by_lineage.exit_code) == (Answer.INCOMPLETE, 3)
    assert "--strategy exhaustive" in str(by_lineage.reason)
    assert (by_exhaustion.answer, by_exhaustion.exit_code, by_exhaustion.reason) == (Answer.CERTIFIED, 0, None)


def test_all_strategies_find_the_same_faults() -> None:
    found = {
        strategy: check(relay(faults=SMALL), strategy=strategy, seed=1).counterexample
        for strategy in ("lineage", "exhaustive", "random")
    }
    assert {name: str(each and each.faults) for name, each in found.items()} == dict.fromkeys(
        found, "O(server,backup,Copy,1) C(server,1)"
    )


def test_random_faults_prove_nothing() -> None:
    verdict = check(relay(hasty=False, faults=SMALL), strategy="random", max_runs=5)
    assert (verdict.answer, verdict.runs) == (Answer.INCOMPLETE, 5)
    assert verdict.reason == "5 random runs showed no violation, which proves nothing"


def test_what_breaks_without_faults_needs_none() -> None:
    broken = check(relay(promises=[lambda nodes: "always"])).counterexample
    assert broken is not None and str(broken.faults) == "no fault"


def test_a_handler_that_raises_is_a_counterexample() -> None:
    class Frail(Node):
        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            ctx.send("other", message)

    class Impatient(Node):
        def on_start(self, ctx: Context) -> None:
            ctx.set_timer("late", after=0.1)

        def on_message(self, ctx: Context, sender: str, message: Any) -> None:
            ctx.cancel_timer("late")

        def on_timer(self, ctx: Context, name: str) -> None:
            raise RuntimeError("it is late")

    scenario = Scenario(
        nodes={"n": Frail, "other": Impatient},
        running=("n", "other"),
        before=[Send("n", Put(1))],
        time=VirtualTime(latency=0.01, until=1),
        faults=Faults(losses=1),
    )
    found = check(scenario, strategy="exhaustive").counterexample
    assert found is not None
    assert str(found.faults) == "O(n,other,Put,1)"
    assert "it is late" in str(found.broken)


# -- what an answer is worth -------------------------------------------------------------------------------------


def test_a_certificate_that_promises_nothing_is_none() -> None:
    verdict = check(relay(assume=lambda nodes: False, faults=SMALL), strategy="exhaustive")
    assert (verdict.answer, verdict.exit_code) == (Answer.INCOMPLETE, 3)
    assert "also without faults nothing is promised" in str(verdict.reason)


def test_a_certificate_of_a_scenario_in_which_nothing_is_delivered_is_none() -> None:
    verdict = check(relay(before=(), assume=None, faults=SMALL, promises=[]), strategy="exhaustive")
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == "nothing was tried: without faults nothing is delivered"
    assert verdict.cautions[0].startswith("the scenario has neither promises nor invariants")


def test_executions_that_do_not_come_to_their_end_certify_nothing() -> None:
    verdict = check(relay(hasty=False, faults=SMALL, steps=3), strategy="exhaustive")
    assert verdict.answer is Answer.INCOMPLETE
    assert "did not come to" in str(verdict.reason)


def test_budgets_end_a_search_which_is_then_incomplete() -> None:
    verdict = check(relay(hasty=False, faults=SMALL), strategy="exhaustive", max_runs=3)
    assert (verdict.answer, verdict.runs) == (Answer.INCOMPLETE, 3)


def test_what_is_given_comes_before_what_the_scenario_says_and_that_before_the_usual() -> None:
    assert check(relay(), max_runs=1).bounds.losses == 2
    bounds = check(relay(faults=SMALL), crashes=0, until=0.4, max_runs=1).bounds
    assert (bounds.losses, bounds.crashes, bounds.until, bounds.within) == (1, 0, 400_000, 400_000)


def test_nodes_that_remember_across_executions_are_found_out() -> None:
    calls: list[int] = []

    def fickle(nodes: Any) -> str | None:
        calls.append(1)
        return "now" if len(calls) == 2 else None

    with pytest.raises(UsageError, match="the same faults twice do not lead to the same execution"):
        check(relay(promises=[fickle], faults=SMALL), strategy="random")


# -- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"strategy": "clever"}, "unknown strategy 'clever' for code"),
        ({"losses": -1}, "losses"),
        ({"faults_until": -1.0}, "until"),
        ({"outages": (1, 0.0)}, "one of the outages is 0.0"),
        ({"outages": 2}, "outages is 2"),
        ({"max_runs": 0}, "--max-runs is 0"),
        ({"time_limit": -1}, "--time-limit is -1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(relay(), **options)


def test_a_scenario_without_time_is_refused() -> None:
    with pytest.raises(UsageError, match="a check needs virtual time"):
        check(relay(time=None))


def test_it_says_itself_what_it_found() -> None:
    verdict = check(relay(faults=SMALL))
    assert str(verdict).splitlines()[0] == (
        "COUNTEREXAMPLE: 2 faults, within 1 loss, 1 crash, beginning within 0.5 s, in 1 s of virtual time."
    )
    assert clew.check_scenario is check_scenario
