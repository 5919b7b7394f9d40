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


class Dice(Client):
    def on_message(self, ctx, sender, message):
        super().on_message(ctx, sender, Write(ctx.random.randrange(6)))


def counts(nodes):
    got = nodes["register"].got if "register" in nodes else 0
    return Broken(f"count {got}", "", ("register",)) if got in (1, 3) else None


class Counter(Register):
    got = 0

    def on_message(self, ctx, sender, message):
        super().on_message(ctx, sender, message)
        self.got += 1


wrong = made(newest, small)
counting = Scenario(
    nodes={"register": Counter},
    running=["register"],
    before=[Send("register", Write(1)), Send("register", Write(2)), Send("register", Write(3))],
    invariants=[counts],
)
never = WaitCondition("a leader", lambda world: False)
waiting = Scenario(
    nodes={"register": Register},
    running=["register"],
    before=[Send("register", Write(1)), never, Restart("register"), Send("register", Write(2))],
    invariants=[newest],
)
sometimes = Scenario(
    nodes={"register": Register},
    running=["register"],
    before=[
        Send("register", Write(1)),
        Send("register", Write(2)),
        WaitCondition("the first alone", lambda world: world.nodes["register"].best == 1),
        Send("register", Write(3)),
    ],
    invariants=[lambda nodes: None],
)
drawing = Scenario(
    nodes={"register": Register, "a": Dice}, running=["register", "a"], before=[Send("a", Write(1))]
)
nobody = Scenario(nodes={"register": Register}, before=[Send("register", Write(1))], invariants=[newest])
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
    assert "  checked: only that no handler raises; the scenario has no invariants\n" in done.stdout


def test_a_violation_with_its_schedule_and_recording(register: str, tmp_path: Path) -> None:
    recording = str(tmp_path / "rec.json")
    done = clew("explore", f"{register}:wrong", "-o", recording, cwd=tmp_path)
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
    again = clew("replay", recording, cwd=tmp_path)
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


def test_each_violation_is_counted_up_to_itself(register: str) -> None:
    done = clew("explore", f"{register}:counting", "--all")
    assert done.returncode == 1
    headlines = [line for line in done.stdout.splitlines() if line.startswith("VIOLATION")]
    assert headlines == [
        "VIOLATION: count 1 at register, after 1 delivery.",
        "VIOLATION: count 3 at register, after 3 deliveries.",
    ]


def test_a_wait_that_is_never_over_is_incomplete(register: str) -> None:
    done = clew("explore", f"{register}:waiting")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == (
        "INCOMPLETE: 'wait for a leader' never ends, so what follows never happens: restart register, send Write "
        "to register; no violation so far.\n"
        "  explored: 1 schedule, 2 global states, 5 events executed\n"
        "  bounds: at most 2 timers a node, no losses, no duplicates\n"
    )


def test_a_wait_that_is_not_over_in_every_schedule_is_said(register: str) -> None:
    done = clew("explore", f"{register}:sometimes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  in 2 of 4 schedules a wait never ends, and what follows it does not happen\n" in done.stdout


def test_random_numbers_are_incomplete(register: str) -> None:
    done = clew("explore", f"{register}:drawing", "--seed", "3", "--timers", "0")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == (
        "INCOMPLETE: a draws random numbers, and only those of seed 3 are tried; no violation so far.\n"
        "  explored: 1 schedule, 3 events executed\n"
        "  checked: only that no handler raises; the scenario has no invariants\n"
        "  bounds: no timers, no losses, no duplicates\n"
    )


def test_nothing_happening_is_incomplete(register: str) -> None:
    done = clew("explore", f"{register}:nobody")
    assert done.returncode == 3
    assert done.stdout.startswith(
        "INCOMPLETE: no handler runs: no message arrives, no timer goes off, no node starts; "
        "no violation so far.\n"
    )


def test_the_clock_is_bad_input_with_the_place(register: str, tmp_path: Path) -> None:
    timed = REGISTER.replace("self.value = message.value", "import time; self.value = time.monotonic_ns()")
    file = scenario_file(tmp_path, timed, "timed.py")
    done = clew("explore", f"{file}:right", "--timers", "0")
    assert (done.returncode, done.stdout) == (2, "")
    first, second, remedy = done.stderr.splitlines()
    assert (
        first
        == "error: executed again, 'deliver Write from a to register' leaves another state (value of register)"
    )
    assert second.startswith("  perhaps because of ")
    assert second.endswith("time.monotonic_ns(): the clock")
    assert remedy == (
        "  remedy: nodes must not share anything, nor depend on anything but their state and their context"
    )


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


@pytest.mark.parametrize("seed", ["-1", "9999999999999999999999999"])
def test_a_seed_that_no_recording_can_hold_is_refused(seed: str, tmp_path: Path) -> None:
    done = clew("explore", scenario_file(tmp_path, CALM), "--seed", seed)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: the seed is {seed}\n  remedy: give one from 0 to 9223372036854775807")
