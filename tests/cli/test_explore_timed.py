"""``clew explore`` of scenarios with virtual time, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import ROOT, clew
from scenario_files import CALM, scenario_file

LEASE = str(ROOT / "examples" / "lease" / "lease.py")

#: Two messages to a; it promises to get the first one first.
RACE = """\
from clew.simulation import *


class Keeper(Node):
    def on_start(self, ctx):
        self.got = ()

    def on_message(self, ctx, sender, message):
        self.got = (*self.got, message)


def in_order(nodes):
    return None if nodes["a"].got == ("one", "two") else f"a got {', '.join(nodes['a'].got)}"


def made(latency, **options):
    return Scenario(
        nodes={"a": Keeper},
        running=["a"],
        before=[Send("a", "one"), Elapse(0.1), Send("a", "two")],
        promises=[in_order],
        time=VirtualTime(latency=latency, until=1),
        **options,
    )


slow = made((0.1, 0.3))
even = made(0.1)
nothing = made(0.1, assume=lambda nodes: False)
"""


@pytest.fixture
def race(tmp_path: Path) -> str:
    return scenario_file(tmp_path, RACE, "race.py")


def test_the_lease_is_safe_where_clocks_drift_little() -> None:
    done = clew("explore", f"{LEASE}:small_bounded")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "NO VIOLATION: all executions within the bounds are explored.\n"
        "  explored: 125 ends, 2780 global states, 21262 events executed\n"
        "  bounds: messages take 0.01 or 0.1 s, clocks at the speed 0.98 or 1.02, no losses, no duplicates, until "
        "2.5 s, every order of what is due at one time\n"
        "  not tried: other latencies between these and other speeds of clocks\n"
    )


def test_the_lease_is_not_where_they_drift_much(tmp_path: Path) -> None:
    recording, document = str(tmp_path / "rec.json"), str(tmp_path / "explored.json")
    done = clew("explore", f"{LEASE}:small_drifting", "-o", recording, "--json", document)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "VIOLATION: one at work at a, b, after 15 deliveries.",
        "  a and b work at the same time",
        "  clocks: a 0.8, b 0.8, server 1.2",
        "  schedule:",
        "      1. at 0.3125 s, timer ask at a",
    ]
    again = clew("replay", recording, "--scenario", f"{LEASE}:small_drifting")
    assert "  All 15 events did what was recorded.\n" in again.stdout
    bounds = json.loads(Path(document).read_text(encoding="utf-8"))["bounds"]
    assert bounds["clocks"] == {"a": [0.8, 1.2], "b": [0.8, 1.2], "server": [0.8, 1.2]}
    assert [each["seconds"] for each in bounds["latencies"]] == [[0.01, 0.1], [0.0]]
    assert (bounds["clocks_of_seed"], bounds["until"]) == (None, 2.5)


def test_a_promise_that_is_kept_and_one_that_is_not(race: str) -> None:
    done = clew("explore", f"{race}:even")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "NO VIOLATION: all executions within the bounds are explored.\n"
        "  explored: 1 end, 5 global states, 4 events executed\n"
        "  bounds: messages take 0.1 s, clocks that are right, no losses, no duplicates, until 1 s, every order "
        "of what is due at one time\n"
    )
    done = clew("explore", f"{race}:slow")
    assert done.returncode == 1
    assert done.stdout.startswith(
        "VIOLATION: in_order, after 2 deliveries.\n"
        "  a got two, one\n"
        "  schedule:\n"
        "      1. at 0 s, send str to a\n"
        "        (let 0.1 s pass)\n"
        "      2. at 0.1 s, send str to a\n"
        "      3. at 0.2 s, deliver str from outside to a\n"
        "      4. at 0.3 s, deliver str from outside to a\n"
        "        (the end: what was promised must be kept)\n"
    )


def test_nothing_promised_is_no_certificate(race: str) -> None:
    done = clew("explore", f"{race}:nothing")
    assert done.returncode == 3
    assert done.stdout.startswith(
        "INCOMPLETE: nothing is promised at the end of any execution: what the scenario assumes holds at none; "
        "no violation so far.\n"
    )


def test_clocks_of_a_seed(tmp_path: Path) -> None:
    document = str(tmp_path / "explored.json")
    done = clew(
        "explore", f"{LEASE}:small_bounded", "--clocks", "0", "--latencies", "3", "--seed", "7", "--json", document
    )
    assert done.returncode == 0
    assert "  bounds: messages take 0.01, 0.055 or 0.1 s, clocks as drawn from seed 7 (a " in done.stdout
    bounds = json.loads(Path(document).read_text(encoding="utf-8"))["bounds"]
    assert bounds["clocks_of_seed"] == 7
    assert all(len(speeds) == 1 for speeds in bounds["clocks"].values())


def test_a_time_limit_is_incomplete() -> None:
    done = clew("explore", f"{LEASE}:bounded", "--time-limit", "0.3")
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE: the time limit of 0.3 s ran out; no violation so far.\n")


def test_bounds_that_do_not_fit_are_refused(race: str, tmp_path: Path) -> None:
    done = clew("explore", f"{race}:even", "--timers", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: timers is 1, and the scenario has virtual time, in which timers go off when they are due\n"
        "  remedy: leave timers out: executions end with their time, VirtualTime(until=...)\n"
    )
    done = clew("explore", scenario_file(tmp_path, CALM), "--clocks", "3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: clocks is 3, and the scenario has no virtual time\n"
        "  remedy: give the scenario time=VirtualTime(...), or leave clocks out\n"
    )


def test_the_output_does_not_depend_on_the_hash_seed(race: str) -> None:
    first, second = (
        clew("explore", f"{race}:slow", "--all", "--json", "-", PYTHONHASHSEED=seed) for seed in ("1", "2")
    )
    assert first.stdout == second.stdout
