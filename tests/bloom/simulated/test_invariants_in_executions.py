"""A broken ``die`` is a finding: in random executions, in small ones, for chosen faults, and of the model."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.bloom import EVERY, Bloom, bloom, channel, checked, interface, scratch, table
from clew.bloom.simulated import bloom_node, bloom_scenario, insert
from clew.errors import ProgramError
from clew.injection.checking import check_scenario
from clew.simulation import Faults, Scenario, VirtualTime
from clew.simulation.fuzzing.fuzz import FuzzAnswer, fuzz

# mypy: disable-error-code="comparison-overlap, operator"


class Lease(Bloom):
    """Takes a lease that it hears of, gives it up when it hears that, and never holds two."""

    setting = checked(
        nodes=["a", "b"],
        eot=6,
        eff=4,
        crashes=0,
        given={"a": {1: {"grant": [("b", 1)]}, 2: {"revoke": [("b", 1)]}, 3: {"grant": [("b", 2)]}}},
    )
    grant = interface.input("to", "number")
    revoke = interface.input("to", "number")
    granted = channel("@to", "number")
    revoked = channel("@to", "number")
    held = table("number")

    @bloom
    def rules(self) -> None:
        self.granted <~ self.grant
        self.revoked <~ self.revoke
        self.held <= self.granted.payloads()
        self.held <- self.revoked.payloads()

    @bloom
    def invariants(self) -> None:
        both = (self.held * self.held).pairs(lambda x, y: (x.number, y.number) if x.number < y.number else None)
        self.die <= both


def scenario_of(**others: Any) -> Scenario:
    events = [insert("a", "grant", ("b", 1)), insert("a", "revoke", ("b", 1)), insert("a", "grant", ("b", 2))]
    fields: dict[str, Any] = {"time": VirtualTime(latency=0.01, until=1), "faults": Faults(losses=1)} | others
    return bloom_scenario({"a": Lease, "b": Lease}, before=events, **fields)


def test_the_model_is_broken_by_the_loss_of_what_takes_the_lease_back() -> None:
    verdict = clew.check(Lease)
    (found,) = verdict.counterexamples
    assert str(found.faults) == "O(a,b,2)"
    assert [str(violation) for violation in found.violations] == ["never_die(b, 1, 2) at time 4"]
    assert clew.check(Lease, eff=2).answer is clew.Answer.CERTIFIED


@pytest.mark.parametrize("name", ["die", "never_die"])
def test_names_that_its_relation_takes_are_refused(name: str) -> None:
    class Both(Lease):
        never_die = scratch("x")

    class Given(Lease):
        setting = checked(nodes=["a"], eot=3, given={"a": {"die": [(1, 2)]}})

    message = {"never_die": "a collection is called 'never_die'", "die": "rows are given to 'die', which is a die"}
    with pytest.raises(ProgramError, match=message[name]):
        clew.check({"never_die": Both, "die": Given}[name])


def test_random_executions_find_it_and_what_was_held_before_is_what_is_seen() -> None:
    found = fuzz(scenario_of(time=None, faults=None), runs=50, seed=0)
    assert found.recording is not None
    broken = found.recording.broken
    assert broken is not None
    assert (broken.invariant, broken.nodes) == ("die (Lease.invariants)", ("b",))
    assert broken.what.startswith("die(number=1, number_2=2) (line ")


@pytest.mark.parametrize("strategy", ["lineage", "exhaustive"])
def test_chosen_faults_find_it(strategy: str) -> None:
    verdict = check_scenario(scenario_of(), strategy=strategy)
    found = verdict.counterexample
    assert found is not None
    assert str(found.faults) == "O(a,b,revoked,1)"
    assert found.broken.invariant == "die (Lease.invariants)"


def test_a_node_made_by_hand_raises() -> None:
    made = scenario_of(time=None, faults=None)
    by_hand = Scenario(
        nodes={name: bloom_node(Lease) for name in "ab"},
        running=("a", "b"),
        before=made.before,
        messages=made.messages,
    )
    found = fuzz(by_hand, runs=50, seed=0)
    assert found.recording is not None
    assert "DiedError" in str(found.recording.broken)
    assert "die(number=1, number_2=2)" in str(found.recording.broken)


class Restarting(Bloom):
    """Dies of what it is told, and is itself again after a restart."""

    setting = checked(nodes=["a"], eot=3, given={EVERY: {"told": [("x",)]}})
    told = interface.input("x")
    kept = table("x", durable=True)

    @bloom
    def rules(self) -> None:
        self.kept <= self.told
        self.die <= self.told.filter(lambda t: t.x == "bad")


def test_a_dead_node_does_nothing_and_leaves_nothing_on_disk() -> None:
    made = bloom_scenario(
        {"a": Restarting},
        before=[insert("a", "told", ("good",)), insert("a", "told", ("bad",)), insert("a", "told", ("later",))],
    )
    ended = [invariant for invariant in made.invariants if invariant.__name__ == "no_node_dies"]
    without = Scenario(
        nodes=made.nodes, running=("a",), before=made.before, messages=made.messages, invariants=[watch_kept]
    )
    assert len(ended) == 1
    assert fuzz(made, runs=5, seed=0).answer is FuzzAnswer.VIOLATION
    assert fuzz(without, runs=5, seed=0).answer is FuzzAnswer.NO_VIOLATION


def watch_kept(nodes: Any) -> str | None:
    kept = [row.x for row in nodes["a"].kept]
    return "it kept what it died of" if "bad" in kept else None


def test_programs_without_invariants_get_no_invariant() -> None:
    class Plain(Bloom):
        told = interface.input("x")

    made = bloom_scenario({"a": Plain}, may_refuse=True)
    assert made.invariants == ()
