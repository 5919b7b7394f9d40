"""Budgets that end inside C code: the answer is incomplete, and the process ends in peace."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew import Answer, check, parse_program
from clew.budgets.deadline import Deadline
from command import start_clew as clew

#: Grounding this takes far longer than the time limit, without a single call back into Python.  It computes where
#: its messages go, so that only grounding can tell its nodes.
ENDLESS = (
    "".join(f"d(a, {n}); " for n in range(40))
    + "d(N + 1, N)@async :- d(X, N), N < 0; "
    + "d(X, N)@next :- d(X, N); z(X, A, B, C, D, E) :- d(X, A), d(X, B), d(X, C), d(X, D), d(X, E);"
)


def test_a_time_limit_while_nodes_are_being_found_gives_an_incomplete_verdict() -> None:
    script = (
        "import clew, sys\n"
        f"verdict = clew.check(clew.parse_program({ENDLESS!r}), eot=5, time_limit=0.3)\n"
        "print(verdict.answer.value, verdict.reason)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "incomplete the time limit of 0.3 s ran out before the nodes were known; name them with --nodes\n"
    )


def test_the_command_says_that_the_nodes_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "p.ded").write_text(ENDLESS)
    done = clew("check", "p.ded", "--eot", "5", "--time-limit", "0.3", cwd=tmp_path)
    assert done.returncode == 3
    assert "nodes not known yet" in done.stdout and "nodes ." not in done.stdout and "nodes \n" not in done.stdout


def test_the_command_still_writes_its_json(tmp_path: Path) -> None:
    (tmp_path / "p.ded").write_text(ENDLESS)
    done = clew("check", "p.ded", "--eot", "5", "--time-limit", "0.3", "--json", "-", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[1:]) == (
        3,
        ["  remedy: read it in a rule, in 'pre' or in 'post', or leave it out"],  # of z, which nothing reads
    )
    assert '"verdict": "incomplete"' in done.stdout


def test_a_time_limit_leaves_the_caller_able_to_go_on() -> None:
    program = parse_program("p(a, 1)@1; p(a, 2)@1; p(L, X + Y)@next :- p(L, X), p(L, Y); p(L, X)@next :- p(L, X);")
    assert check(program, eot=30, time_limit=0.2).answer is Answer.INCOMPLETE
    assert check(program, eot=3).answer is Answer.CERTIFIED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_watcher_that_fails_is_a_failure() -> None:
    """Without it, no limit holds; a thread that ends by an exception would go unnoticed."""
    deadline = Deadline(60)

    def fail() -> None:
        raise SystemExit

    deadline.heartbeat = fail
    with pytest.raises(RuntimeError, match="nothing watched the time limit"), deadline.watching(lambda: None):
        time.sleep(0.3)
