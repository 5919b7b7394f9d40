"""What is executed at a worker: in a process below it, which may do anything, and by workers that are fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from clew.errors import Position, UsageError
from clew.workers import serving, tasks
from clew.workers.serving import Refusal
from clew.workers.tasks import Build, Job, Reply, own_build, perform
from workers.failing_jobs import open_answering


@pytest.fixture(autouse=True)
def no_processes_left() -> Iterator[None]:
    yield
    for process in tasks._processes()._by_key.values():
        process.end()
    tasks._processes()._by_key.clear()


def ask(given: Any, request: Any, seconds: float | None = None, **more: Any) -> Reply:
    return perform(replace(Job.of(open_answering, given), **more), request, seconds, "")


def test_a_process_is_used_again_for_the_same_job() -> None:
    first, again, other = (ask(given, "pid").value for given in ("one", "one", "two"))
    assert first == again != other
    assert ask("one", "count").value == 3
    assert ask("one", "anything").value == "anything"


def test_a_process_that_is_spent_is_not_used_again() -> None:
    first = ask("one", "spent").value
    assert ask("one", "pid").value != first


def test_no_more_processes_are_kept_than_searches_are_likely_to_take_turns() -> None:
    for number in range(6):
        ask(str(number), "pid")
    kept = tasks._processes()._by_key
    assert [Job.of(open_answering, str(number)).key in kept for number in range(6)] == [False] * 2 + [True] * 4


def test_what_dies_is_said_and_does_not_end_this_process() -> None:
    reply = ask("one", "die")
    assert reply.died is not None and reply.died.message == (
        "a worker process died: it ended by itself (exit code 9)"
    )
    assert reply.how == "ended by itself (exit code 9)"
    assert ask("one", "count").value == 1


def test_what_takes_too_long_is_ended() -> None:
    reply = ask("one", "sleep", 0.3 - tasks._PATIENCE_SECONDS)
    assert reply.died is not None and reply.died.message == "the time was over"
    assert reply.how is None


def test_refusals_and_defects_come_back() -> None:
    assert ask("one", "refuse").refused == Refusal("no", Position("a.py", 1, 2), "ask for less")
    assert "ValueError: defect" in (ask("one", "fail").failed or "")
    assert ask("one", "count").value == 3
    assert ask("refused", "pid").unfit == Refusal("not here", None, "go elsewhere")
    assert "KeyError: 'defect'" in (ask("defective", "pid").failed or "")


def test_files_are_asked_for_and_put_where_they_are_found() -> None:
    assert ask("files", "pid").needs_files
    sent = {"a.py": b"one", "inner/b.py": b"two"}
    reply = ask("files", ("read", "inner/b.py"), files=sent)
    assert (reply.value, reply.needs_files) == (b"two", False)
    # From now on, the process has them.
    assert ask("files", ("read", "a.py")).value == b"one"


def test_files_are_written_nowhere_else() -> None:
    reply = ask("files", "pid", files={"../outside.py": b""})
    assert reply.unfit is not None and reply.unfit.message == (
        "the files cannot be written there ('../outside.py' is not below the folder of the scenario)"
    )


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (Build("0.0.1 (abc)", own_build().python), f"it has Clew {own_build().clew}, and here it is 0.0.1 (abc)"),
        (Build(own_build().clew, "2.7.18"), f"it has Python {own_build().python}, and here it is 2.7.18"),
    ],
)
def test_workers_of_another_build_are_not_fit(build: Build, said: str) -> None:
    reply = ask("one", "pid", build=build)
    assert reply.value is None
    assert reply.unfit is not None and reply.unfit.message == said


def test_what_cannot_be_pickled_is_refused_where_the_search_is() -> None:
    with pytest.raises(UsageError, match="this cannot be sent to the workers of an executor: ") as caught:
        Job.of(open_answering, lambda: 0)
    assert caught.value.remedy == "--workers N uses several processes of this machine"


def test_a_process_that_left_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask("one", "pid").value
    (process,) = tasks._processes()._by_key.values()
    # As if nobody had asked for a while, just before this request.
    monkeypatch.setattr(type(process), "has_ended", property(lambda self: False))
    process.connection.send_bytes(b"")
    process.page.finish(0)
    process._process.kill()
    assert process.wait_for_end(5) is not None
    assert ask("one", "pid").value != first


def test_a_process_leaves_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __init__(self) -> None:
            self.sent: list[object] = []

        def recv(self) -> object:
            return open_answering, None, None

        def send(self, what: object) -> None:
            self.sent.append(what)

        def poll(self, seconds: float) -> bool:
            assert seconds == serving._IDLE_SECONDS
            return False

    silent = Silent()
    serving.main(silent)  # type: ignore[arg-type]
    assert silent.sent == [serving.Outcome()]
