"""Time limits are enforced from outside: whatever is stuck, and in whichever command, it ends, with the place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from clew.budgets.whereabouts import PATIENCE
from command import clew, start_clew

#: A time limit is over, at most, so many seconds later; the rest is for a machine that is busy.
_LATER, _BUSY = 5.0, 20.0

BLOOM = """
import ctypes, os, re
from clew.bloom import Bloom, bloom, checked, scratch, table

def hostile(do):
    class Made(Bloom):
        given = scratch("x")
        log = table("x")
        pre = scratch("x")
        post = scratch("x")
        setting = checked(nodes=["a"], eot=3, given={"a": {"given": [("v",)]}})

        @bloom
        def rules(self) -> None:
            self.log <= self.given(lambda g: (do(g.x),))
            self.pre <= self.log
            self.post <= self.log

    return Made

def leave(x):
    if x == "v":
        os._exit(0)
    return x

def crash(x):
    if x == "v":
        ctypes.string_at(0)
    return x

def backtrack(x):
    return bool(re.match(r"(a+)+$", "a" * 50 + "b"))

def wait(x):
    # As a library that holds the interpreter's lock while it waits: nothing interrupts that, nor takes it any CPU.
    mutex, lock = ctypes.create_string_buffer(64), ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    return lock(mutex) and x  # for ever

def power(x):
    return 7**10**9 > 0

def devour(x):
    return bytearray(1 << 45) and x

def recurse(x):
    return recurse((x,))

def give_up(x):
    if x == "v":
        raise GeneratorExit
    return x

def fork(x):
    if x == "v":
        os.fork()
    return x

Leaves, Crashes, Backtracks, Waits, Computes = map(hostile, (leave, crash, backtrack, wait, power))
def quit(x):
    if x == "v":
        raise SystemExit(0)
    return x

class Own(BaseException):
    pass

def raise_own(x):
    if x == "v":
        raise Own
    return x

def interrupt(x):
    if x == "v":
        raise KeyboardInterrupt
    return x

Devours, Recurses, GivesUp, Forks, Exits = map(hostile, (devour, recurse, give_up, fork, quit))
RaisesOwn, Interrupts = map(hostile, (raise_own, interrupt))
"""


def _line(text: str) -> int:
    """Return the line of the program that contains a text."""
    (number,) = (n for n, line in enumerate(BLOOM.splitlines(), start=1) if text in line)
    return number


BACKTRACK, POWER = f"backtrack at evil.py:{_line('re.match')}", f"power at evil.py:{_line('10**9')}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("limits")
    (made / "evil.py").write_text(BLOOM)
    (made / "loads.py").write_text('import re\n\nre.match(r"(a+)+$", "a" * 50 + "b")\n')
    numbers = "".join(f'n("a", {number})@1;\n' for number in range(150))
    joined = "q(A, X, Y, Z, W)@next :- n(A, X), n(A, Y), n(A, Z), n(A, W), X < Y, Y < Z, Z < W;\n"
    outcome = "pre(A, X) :- q(A, X, _, _, _);\npost(A, X) :- q(A, X, _, _, _);\n"
    keep = "n(A, X)@next :- n(A, X);\n"
    (made / "large.ded").write_text(f"//! nodes=a eot=9 eff=0\n{numbers}{keep}{joined}{outcome}")
    return made


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("check evil.py:Backtracks", BACKTRACK),
        ("check evil.py:Computes", POWER),
        ("check evil.py:Backtracks --strategy lineage", BACKTRACK),
        ("run evil.py:Backtracks", BACKTRACK),
        ("calm evil.py:Backtracks --try 2", BACKTRACK),
        ("check loads.py", "<module> at loads.py:3"),
        ("calm loads.py", "<module> at loads.py:3"),
        ("blazes loads.py:X", "<module> at loads.py:3"),
        ("fuzz loads.py", "<module> at loads.py:3"),
        ("explore loads.py", "<module> at loads.py:3"),
    ],
)
def test_what_nothing_can_interrupt_ends_with_its_place(command: str, where: str, folder: Path) -> None:
    begun = time.monotonic()
    # Without a search nothing is waited for at the limit, and by then the file must have been read.
    limit, patience = (0.2, 1.0) if command.startswith(("check", "fuzz", "explore")) else (1.2, 0.0)
    done = clew(
        *command.split(), "--time-limit", str(limit), cwd=folder,
        change=f"import clew.cli.process.limits as limits; limits.PATIENCE = {patience}",
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == f"INCOMPLETE: the time limit of {limit} s ran out, in {where}"
    assert time.monotonic() - begun < limit + _LATER + _BUSY


def test_the_patience_that_users_get(folder: Path) -> None:
    begun = time.monotonic()
    done = clew("check", "evil.py:Waits", "--time-limit", "0.5", cwd=folder)
    assert done.returncode == 3
    place = f"wait at evil.py:{_line('for ever')}"
    assert done.stderr.splitlines()[-1] == f"INCOMPLETE: the time limit of 0.5 s ran out, in {place}"
    assert PATIENCE <= time.monotonic() - begun < _LATER + _BUSY


@pytest.mark.parametrize("command", ["check", "check --strategy lineage", "check --strategy random", "run"])
def test_grounding_ends_too(command: str, folder: Path) -> None:
    begun = time.monotonic()
    done = start_clew(*command.split(), "large.ded", "--time-limit", "1", cwd=folder)
    assert done.returncode == 3 and "the time limit of 1 s ran out" in done.stdout + done.stderr
    assert ".py" not in done.stderr  # no line of a user
    assert time.monotonic() - begun < 1 + _LATER + _BUSY


@pytest.mark.parametrize("command", ["check", "run", "fuzz", "explore", "replay", "calm", "blazes", "verify"])
def test_a_limit_is_a_number_above_nothing(command: str) -> None:
    for wrong in ("0", "-1", "nan"):
        done = clew(command, "x", "--time-limit", wrong)
        assert done.returncode == 2 and f"error: --time-limit is {wrong}" in done.stderr


@pytest.mark.parametrize("command", ["check", "run", "calm --try 2"])
@pytest.mark.parametrize(
    ("name", "how", "line"),
    [
        ("Leaves", "ended by itself (exit code 0) in leave", "os._exit"),
        ("Crashes", "was ended by SIGSEGV in crash", "string_at"),
    ],
)
def test_an_end_in_a_bloom_function_has_its_place(
    name: str, how: str, line: str, command: str, folder: Path
) -> None:
    verb, *options = command.split()
    done = clew(verb, f"evil.py:{name}", *options, cwd=folder)
    assert done.returncode == 2
    assert f"error: the process {how} at evil.py:{_line(line)}\n" in done.stderr


@pytest.mark.parametrize(
    ("name", "reason"), [("Devours", "memory ran out"), ("Recurses", "nested too deeply for Python's stack")]
)
def test_memory_or_stack_that_a_bloom_function_does_not_get_is_incomplete(
    name: str, reason: str, folder: Path
) -> None:
    place = f"{reason}, in the function in Made.rules for (a, v)"
    done = clew("check", f"evil.py:{name}", cwd=folder)
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE") and place in done.stdout
    done = clew("run", f"evil.py:{name}", cwd=folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("incomplete: ") and done.stderr.endswith(f"{place}\n")


@pytest.mark.parametrize(
    ("name", "raised"), [("GivesUp", "GeneratorExit"), ("RaisesOwn", "Own"), ("Interrupts", "KeyboardInterrupt")]
)
def test_whatever_a_bloom_function_raises_is_about_the_program(name: str, raised: str, folder: Path) -> None:
    done = clew("check", f"evil.py:{name}", cwd=folder)
    assert done.returncode == 3  # nothing is promised
    assert f"raised {raised} for the row" in done.stderr and "it does not fire there" in done.stderr


@pytest.mark.parametrize(
    ("name", "raised"), [("GivesUp", "GeneratorExit"), ("Exits", "SystemExit"), ("RaisesOwn", "Own")]
)
def test_no_exception_of_a_bloom_function_is_an_exit_code(name: str, raised: str, folder: Path) -> None:
    done = clew("calm", f"evil.py:{name}", "--try", "2", cwd=folder)
    assert done.returncode == 2
    assert f"a function raised {raised}" in done.stderr


@pytest.mark.parametrize("command", ["fuzz", "explore", "check", "run", "calm", "blazes"])
def test_an_exit_while_loading_is_no_answer(command: str, tmp_path: Path) -> None:
    (tmp_path / "exits.py").write_text("import sys\n\nsys.exit(0)\n")
    done = clew(command, "exits.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and "SystemExit" in done.stderr


@pytest.mark.parametrize(("command", "answer"), [("check", "CERTIFIED"), ("calm --try 2", "ORDER MATTERS")])
def test_a_fork_in_a_bloom_function_does_not_double_the_answer(command: str, answer: str, folder: Path) -> None:
    verb, *options = command.split()
    done = clew(verb, "evil.py:Forks", *options, cwd=folder)
    assert done.returncode in (0, 1) and done.stdout.count(answer) == 1


def test_an_end_while_loading_has_its_place_and_writes_nothing(folder: Path) -> None:
    (folder / "leaves.py").write_text("import os\n\n\nos._exit(0)\n")
    done = clew("calm", "leaves.py", "--json", "calm.json", cwd=folder)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(
        "error: the process ended by itself (exit code 0) while loading leaves.py, in <module> at leaves.py:4\n"
    )
    assert not (folder / "calm.json").exists()


def test_an_end_that_does_not_come_again_is_told_without_its_place(folder: Path) -> None:
    """And the second attempt, which gets further, neither says anything nor writes the file."""
    (folder / "once.py").write_text(
        "import os\nfrom pathlib import Path\n\nfrom evil import Leaves\n\n"
        'seen = Path("seen")\nif not seen.exists():\n    seen.touch()\n    os._exit(3)\n\n'
        "class Fine(Leaves):\n    pass\n"
    )
    done = clew("calm", "once.py:Fine", "--json", "calm.json", cwd=folder)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: the process ended by itself (exit code 3) while loading once.py\n")
    assert not (folder / "calm.json").exists()
