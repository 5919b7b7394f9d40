"""``clew explore`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import clew
from scenario_files import CALM, CRASH, TOKENS, scenario_file

#: Two clients and a register; it is wrong to take the later message for the newer value.
REGISTER = """\
from dataclasses import dataclass

from clew.simulation import *


@dataclass(frozen=True)
class Write:
    value: int


class Client(Node):
    def on_start(self, ctx):
        ctx.set_timer("again")

    def on_message(self, ctx, sender, message):
        ctx.send("register", message)

    def on_timer(self, ctx, name):
        ctx.send("register", Write(0))


class Register(Node):
    def on_start(self, ctx):
        self.value = 0
        self.best = 0

    def on_message(self, ctx, sender, message):
        self.value = message.value
        self.best = max(self.best, message.value)


def newest(nodes):
    if "register" in nodes and nodes["register"].value < nodes["register"].best:
        return Broken("newest", f"{nodes['register'].value} is not the newest value", ("register",))
    return None


def small(nodes):
    return "too large" if "register" in nodes and nodes["register"].best > 1 else None


def made(*invariants, **options):
    return Scenario(
        nodes={"register": Register, "a": Client, "b": Client},
        running=["register", "a", "b"],
        before=[Send("a", Write(1)), WaitQuiescence(), Send("b", Write(2))],
        invariants=invariants,
        **options,
    )


wrong = made(newest, small)
right = made(lambda nodes: None)
lossy = made(loss=0.5)
"""


@pytest.fixture
def register(tmp_path: Path) -> str:
    return scenario_file(tmp_path, REGISTER, "register.py")


def test_all_schedules_without_a_violation(register: str) -> None:
    done = clew("explore", f"{register}:right", "--timers", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "NO VIOLATION: all schedules within the bounds are explored.\n"
        "  explored: 1 schedule, 5 global states, 13 events executed\n"
        "  bounds: no timers, no losses, no duplicates\n"
    )


def test_more_timers_are_more_schedules(register: str) -> None:
    done = clew("explore", f"{register}:right", "--timers", "1")
    assert done.returncode == 0
    assert "explored: 20 schedules, 91 global states, " in done.stdout
    assert done.stdout.endswith("bounds: at most 1 timer a node, no losses, no duplicates\n")


def test_losses(register: str) -> None:
    done = clew("explore", f"{register}:lossy", "--timers", "0", "--losses", "1")
    assert done.returncode == 0
    assert "explored: 9 schedules" in done.stdout


def test_a_violation_with_its_schedule_and_recording(register: str, tmp_path: Path) -> None:
    recording = str(tmp_path / "rec.json")
    done = clew("explore", f"{register}:wrong", "-o", recording)
    assert done.returncode == 1
    text, _, figures = done.stdout.partition("  explored: ")
    assert text == (
        "VIOLATION: newest at register, after 4 deliveries.\n"
        "  0 is not the newest value\n"
        "  schedule:\n"
        "      1. send Write to a\n"
        "      2. deliver Write from outside to a\n"
        "      3. deliver Write from a to register\n"
        "      4. timer again at a\n"
        "      5. deliver Write from a to register\n"
        f"  recorded in {recording}\n"
        f"  replay:   clew replay {recording}\n"
        f"  minimize: clew minimize {recording} -o min.json\n"
    )
    assert figures.endswith("  bounds: at most 2 timers a node, no losses, no duplicates\n")
    again = clew("replay", recording)
    assert again.returncode == 1
    assert "STILL FAILS: newest at register, after 4 deliveries." in again.stdout


def test_all_violations_the_shortest_first(register: str) -> None:
    done = clew("explore", f"{register}:wrong", "--timers", "1", "--all")
    assert done.returncode == 1
    headlines = [line for line in done.stdout.splitlines() if line.startswith("VIOLATION")]
    assert headlines == [
        "VIOLATION: newest at register, after 4 deliveries.",
        "VIOLATION: small, after 4 deliveries.",
    ]
    assert "        (wait until no message is left)\n      4. send Write to b\n" in done.stdout
    assert "not recorded: to keep it, run the same command with -o rec.json" in done.stdout


def test_the_output_does_not_depend_on_the_hash_seed(register: str) -> None:
    first, second = (
        clew("explore", f"{register}:wrong", "--timers", "1", "--all", PYTHONHASHSEED=seed) for seed in ("1", "2")
    )
    assert first.stdout == second.stdout


def test_an_exception_with_its_trace(tmp_path: Path) -> None:
    done = clew("explore", scenario_file(tmp_path, CRASH))
    assert done.returncode == 1
    assert done.stdout.startswith("VIOLATION: no uncaught exception at a, after 1 delivery.\n")
    assert "    ValueError: no thanks\n" in done.stdout


def test_a_time_limit_is_incomplete(tmp_path: Path) -> None:
    many = CALM.replace('Send("a", "thanks")', '*(Send("a", str(n)) for n in range(12))')
    done = clew("explore", scenario_file(tmp_path, many), "--time-limit", "0.2")
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE: the time limit of 0.2 s ran out; no violation so far.\n")


def test_events_drawn_at_random_are_bad_input(tmp_path: Path) -> None:
    done = clew("explore", scenario_file(tmp_path, TOKENS))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: the scenario draws 30 events at random (count), and these cannot be explored\n"
        "  remedy: list the events in 'before' and leave 'count' out\n"
    )


def test_a_path_that_cannot_be_written_is_refused_before_the_search(register: str, tmp_path: Path) -> None:
    done = clew("explore", f"{register}:wrong", "-o", str(tmp_path / "no" / "rec.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written" in done.stderr
