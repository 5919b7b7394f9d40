"""A process for each piece of work: what one does to itself is its own end, and nobody else's."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from clew.budgets.deadline import Deadline
from clew.model_tests import processes
from clew.model_tests.processes import Ended, run_all


def do_all(
    *works: Callable[[], object], count: int = 2, seconds: float | None = None, deadline: Deadline | None = None
) -> list[Ended[object]]:
    return run_all(works, count, seconds, deadline or Deadline(None), lambda done, running: None)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def sleep_long() -> None:
    time.sleep(600)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_values_come_in_the_order_of_the_work(count: int) -> None:
    works = [partial(pow, number, 2) for number in range(5)]
    assert do_all(*works, count=count) == [Ended(number**2) for number in range(5)]


def test_each_has_a_process_of_its_own() -> None:
    numbers = [ended.value for ended in do_all(os.getpid, os.getpid, os.getpid)]
    assert len({*numbers, os.getpid()}) == 4


def test_a_process_that_ends_is_told_and_the_others_go_on() -> None:
    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    killed, left, fine = do_all(kill, partial(os._exit, 0), partial(pow, 3, 2))
    assert killed.died == "the process was ended by SIGKILL"
    assert left.died == "the process ended by itself (exit code 0)"
    assert fine == Ended(9)


def test_what_raises_ends_its_process_only() -> None:
    failed, fine = do_all(partial(int, "x"), partial(pow, 3, 2))
    assert failed.died == "the process ended by itself (exit code 1)"
    assert "invalid literal" in failed.printed
    assert fine == Ended(9)


def test_what_is_printed_is_kept_from_its_end(capfd: pytest.CaptureFixture[str]) -> None:
    def chatter() -> int:
        print("first")
        for _ in range(100_000):  # more than a pipe holds
            os.write(1, b"0123456789")
        print("last", file=sys.stderr, flush=True)
        return os.read(0, 1) == b""  # and there is nothing to be read

    (ended,) = do_all(chatter)
    assert ended.value is True
    assert len(ended.printed) == 4000
    assert ended.printed.endswith(("last\n", "first\n"))
    assert capfd.readouterr() == ("", "")


def test_a_process_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.0)
    (late,) = do_all(sleep_long, seconds=0.1)
    assert late == Ended(late=True)


def test_a_deadline_ends_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    def tell_and_sleep() -> None:
        (tmp_path / "process").write_text(str(os.getpid()), encoding="utf-8")
        sleep_long()

    deadline = Deadline(None)

    def interrupt(done: int, running: Sequence[int]) -> None:
        deadline.interrupted = (tmp_path / "process").exists()

    works: list[Callable[[], object]] = [partial(pow, 3, 2), tell_and_sleep, sleep_long]
    ended = run_all(works, 1, None, deadline, interrupt)
    assert ended[0] == Ended(9)
    assert [one.is_unfinished for one in ended] == [False, True, True]
    assert not is_alive(int((tmp_path / "process").read_text(encoding="utf-8")))


def test_nothing_is_left_open() -> None:
    def count_open() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count_open()
    do_all(os.getpid, partial(os._exit, 1), os.getpid)
    assert count_open() == before
