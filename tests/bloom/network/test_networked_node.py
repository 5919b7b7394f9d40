"""Nodes that run: messages over real sockets, callbacks, and calls from outside."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest

from bloom.network.network_programs import Doubler, Echo, Store, until
from clew.bloom import Bloom, Limits, agg, bloom, channel, imported, scratch, table
from clew.bloom.network.wire import encode
from clew.errors import ProgramError, UsageError

#: How long a row is depends on the number of the port.
_DIGITS = str.maketrans("0123456789", "##########")


def of(ident: int) -> Callable[[Any], bool]:
    return lambda row: bool(row.ident == ident)


def send(address: str, *packets: bytes) -> None:
    host, port = address.split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for packet in packets:
            udp.sendto(packet, (host, int(port)))


# -- messages ----------------------------------------------------------------------------------------------------


def test_two_nodes_exchange_messages() -> None:
    with Echo() as one, Echo("localhost:0") as two:
        assert two.ip_port.startswith("localhost:")
        for what in [1, "two", (3, None), frozenset(["x"]), b"\0"]:
            row = one.insert_and_wait(one.ask, (two.ip_port, what), one.answer)
            assert row == (what,)
        assert set(two.seen) == {(1,), ("two",), ((3, None),), (frozenset(["x"]),), (b"\0",)}
        assert (one.garbage, two.garbage) == ({}, {})


@pytest.mark.parametrize("size", [1300, 1500, 70_000, 1_000_000])
def test_rows_of_any_size_arrive(size: int) -> None:
    with Echo() as one, Echo() as two:
        assert one.insert_and_wait(one.ask, (two.ip_port, "x" * size), one.answer) == ("x" * size,)


def test_the_largest_row_is_a_setting() -> None:
    size, limits = 5_000_000, Limits(frame=6_000_000)
    with Echo(limits=limits) as one, Echo(limits=limits) as two:
        assert one.insert_and_wait(one.ask, (two.ip_port, "x" * size), one.answer) == ("x" * size,)


def test_a_message_to_oneself_needs_no_network() -> None:
    with Echo() as node:
        assert node.insert_and_wait(node.ask, (node.ip_port, "x" * 20_000_000), node.answer).what[:3] == "xxx"
        assert node.garbage == {}


def test_rows_that_cannot_be_sent_cost_a_log_line_each(caplog: pytest.LogCaptureFixture) -> None:
    with Echo() as one, Echo() as two:
        one.ask.insert(("nowhere", 1), (7, 1), (two.ip_port, "x" * 17_000_000), (two.ip_port, "\ud800"))
        assert one.insert_and_wait(one.ask, (two.ip_port, "good"), one.answer) == ("good",)
        assert one.garbage == {"not sent": 4}
    messages = [r.getMessage() for r in caplog.records if r.name == "clew.bloom"]
    assert [m.removeprefix("a row for 'ping' was not sent: ").translate(_DIGITS) for m in messages] == [
        "# is not an address such as 'localhost:####'",
        "it takes ######## bytes, more than #######",
        "'utf-#' codec can't encode character '\\ud###' in position #: surrogates not allowed",
        "'nowhere' is not an address such as 'localhost:####'",
    ]


def test_unreachable_peers_do_not_stop_a_node() -> None:
    with Echo() as one, Echo() as two:
        one.ask.insert(("no.such.host.invalid:1", 1), ("127.0.0.1:1", "x" * 5000))
        until(lambda: one.garbage == {"unknown host": 1, "not connected": 1})
        assert one.insert_and_wait(one.ask, (two.ip_port, 1), one.answer) == (1,)


def test_garbage_is_counted_and_the_node_lives_on(caplog: pytest.LogCaptureFixture) -> None:
    with Echo() as node:
        send(
            node.ip_port,
            b"",
            b"\xc1",
            msgpack.packb([2, "ping", []]),
            encode("seen", (1,)),
            encode("nothing", (1,)),
            encode("ping", (1, 2)),
            msgpack.packb([1, "pong", [{}, 1]]),
        )
        until(lambda: sum(node.garbage.values()) == 7)
        assert node.garbage == {
            "empty": 1,
            "not msgpack": 1,
            "other version": 1,
            "unknown channel": 2,
            "wrong width": 1,
            "bad value": 1,
        }
        assert node.insert_and_wait(node.ask, (node.ip_port, 1), node.answer) == (1,)
    assert [r.getMessage() for r in caplog.records if r.name == "clew.bloom"] == [
        "rejected a row for the unknown channel 'seen'",
        "rejected a row for the unknown channel 'nothing'",
        "rejected a row of 2 columns for 'ping', which has 3",
    ]


class Picky(Bloom):
    """Functions that fail for some rows, and a table with a key."""

    message = channel("@dst", "key", val=["value"])
    kept = table("key", val=["value"])
    halves = table("half")

    @bloom
    def rules(self) -> None:
        self.kept <= self.message(lambda m: (m.key, m.value))
        self.halves <= self.message(lambda m: (len(m.value) / 2,))


def test_rows_that_rules_cannot_digest_cost_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    with Picky() as node:
        send(node.ip_port, encode("message", ("", 1, 5)))
        until(lambda: (1, 5) in node.kept)
        send(node.ip_port, encode("message", ("", 1, "abcd")))
        until(lambda: (2.0,) in node.halves)
        assert list(node.kept) == [(1, 5)]
    found = [r.getMessage() for r in caplog.records if r.name == "clew.bloom"]
    assert len(found) == 2
    assert "object of type 'int' has no len()" in found[0]
    assert "(1, 5)" in found[1] and "(1, 'abcd')" in found[1]


def test_a_step_that_fails_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Echo() as node:
        until(lambda: not node.machine.pending)
        step = node.machine.step
        monkeypatch.setattr(node.machine, "step", lambda: 1 / 0)
        node.ask.insert((node.ip_port, 1))
        until(lambda: node.garbage == {"failed step": 1})
        monkeypatch.setattr(node.machine, "step", step)
        assert node.insert_and_wait(node.ask, (node.ip_port, 2), node.answer, lambda r: r.what == 2) == (2,)
    assert "ZeroDivisionError" in caplog.text


# -- from outside ------------------------------------------------------------------------------------------------


def test_calls_from_many_threads_get_their_own_answers() -> None:
    answers: dict[int, Any] = {}

    def ask(ident: int) -> None:
        for turn in range(20):
            key = ident * 100 + turn
            row = node.insert_and_wait(node.question, (key, key), node.result, of(key))
            answers[key] = row.number

    with Doubler() as node:
        threads = [threading.Thread(target=ask, args=(k,)) for k in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {k: 2 * k for i in range(5) for k in range(i * 100, i * 100 + 20)}
        assert node._watches == [] and node._asking == {}


def test_calls_from_coroutines() -> None:
    async def main() -> list[Any]:
        node = Doubler()
        run = asyncio.create_task(node.run_async())
        while not node.running:
            await asyncio.sleep(0)
        rows = await asyncio.gather(
            *(node.call(node.question, (k, k), node.result, of(k)) for k in range(10))
        )
        with pytest.raises(UsageError, match="the node would wait for itself"):
            node.insert_and_wait(node.question, (1, 1), node.result)
        with pytest.raises(TimeoutError):
            await node.call(node.question, (1, 1), node.result, lambda r: False, timeout=0.01)
        node.stop()
        await run
        return rows

    assert asyncio.run(main()) == [(k, 2 * k) for k in range(10)]


def test_a_table_answers_with_what_is_there_already() -> None:
    with Doubler() as node:
        for _ in range(2):
            assert node.insert_and_wait(node.question, (1, 1), node.log, lambda r: r.ident == 1) == (1,)


def test_no_answer_is_a_timeout_that_says_what_was_asked() -> None:
    with Doubler() as node, pytest.raises(TimeoutError) as raised:
        node.insert_and_wait(node.question, (1, 1), node.result, lambda r: r.ident == 2, timeout=0.05)
    assert str(raised.value) == "nothing in <Doubler.result> answers (1, 1) after 0.05 seconds"


def test_an_error_in_the_condition_is_raised_where_it_is_awaited() -> None:
    with Doubler() as node, pytest.raises(ZeroDivisionError):
        node.insert_and_wait(node.question, (1, 1), node.result, lambda r: 1 / 0)


def test_a_node_that_ends_leaves_nobody_waiting() -> None:
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            node.insert_and_wait(node.question, (1, 1), node.result, lambda r: False, timeout=60)
        except UsageError as error:
            raised.append(error)

    with Doubler() as node:
        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: node._asking)
    thread.join()
    assert [str(e) for e in raised] == ["error: the node ended before there was an answer"]


def test_callbacks_see_what_appears() -> None:
    node = Doubler()
    results: list[Any] = []
    logged: list[Any] = []
    node.on(node.result, results.extend)
    end = node.on("log", logged.extend)
    with node:
        for ident in (1, 1, 2):
            node.insert_and_wait(node.question, (ident, ident), node.result)
        assert [(r.ident, r.number) for r in results] == [(1, 2), (1, 2), (2, 4)]
        assert logged == [(1,), (2,)]
        end()
        node.insert_and_wait(node.question, (3, 3), node.log, lambda r: r.ident == 3)
        assert logged == [(1,), (2,)]


def test_the_same_callback_twice_is_two_callbacks() -> None:
    node = Doubler()
    results: list[Any] = []
    ends = [node.on(node.result, results.extend) for _ in range(2)]
    with node:
        node.insert_and_wait(node.question, (1, 1), node.result)
        assert results == [(1, 2), (1, 2)]
        for end in (ends[1], ends[1]):
            end()
        node.insert_and_wait(node.question, (2, 2), node.result)
        assert results == [(1, 2), (1, 2), (2, 4)]


def test_a_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    node = Doubler()
    node.on(node.result, lambda rows: 1 / 0)
    with node:
        assert node.insert_and_wait(node.question, (1, 1), node.result) == (1, 2)
    assert "a callback for 'result' failed" in caplog.text


def test_a_callback_may_insert_and_stop() -> None:
    node = Doubler()

    def answered(rows: Any) -> None:
        if rows[0].ident == 3:
            node.stop()
        else:
            node.question.insert((rows[0].ident + 1, 0))

    node.on(node.result, answered)
    node.start()
    node.question.insert((1, 0))
    until(lambda: not node.running)
    node.stop()
    assert list(node.log) == [(1,), (2,), (3,)]


class Outer(Bloom):
    inner = imported(Doubler)
    start_with = scratch("n")

    @bloom
    def rules(self) -> None:
        self.inner.question <= self.start_with(lambda s: (s.n, s.n))


def test_collections_of_imported_modules_can_be_watched() -> None:
    with Outer() as node:
        assert node.insert_and_wait(node.start_with, (4,), node.inner.result) == (4, 8)
        assert list(node.inner.log) == [(4,)]


def test_rows_inserted_before_the_run_are_there() -> None:
    node = Echo()
    node.ask.insert(("127.0.0.1:1", 1))
    with pytest.raises(UsageError, match="which has 2 columns"):
        node.ask.insert((1,))
    rows: list[Any] = []
    node.on(node.ask, rows.extend)
    with node:
        until(lambda: rows)
    assert rows == [("127.0.0.1:1", 1)]


# -- misuse ------------------------------------------------------------------------------------------------------


def test_misuse_says_what_to_do(tmp_path: Path) -> None:
    node = Echo()
    with pytest.raises(UsageError, match="the node does not run"):
        node.insert_and_wait(node.ask, ("", 1), node.answer)
    with pytest.raises(UsageError, match="has no collection 'nothing' with rows to wait for"):
        node.on("nothing", print)
    with node:
        with pytest.raises(UsageError, match="the node runs already"):
            node.run()
        with pytest.raises(UsageError, match="the node runs already"):
            node.start()
        with pytest.raises(UsageError, match="the node steps by itself"):
            node.tick()
        with pytest.raises(UsageError, match="cannot listen at"):
            Echo(node.ip_port).start()
    with pytest.raises(UsageError, match="'here' is not an address"):
        Echo("here").start()
    with pytest.raises(UsageError, match="has the durable table 'kept' and nowhere to keep it") as raised:
        Store().run()
    assert raised.value.position is not None
    assert raised.value.remedy == 'give the node a folder: Store(..., data="folder")'
    ticked = Store("127.0.0.1:0", data=tmp_path)
    ticked.tick()
    with pytest.raises(UsageError, match="the node has stepped before"):
        ticked.run()


def test_a_program_that_is_wrong_is_refused_at_the_start() -> None:
    class Wrong(Bloom):
        a = scratch("x")

        @bloom
        def rules(self) -> None:
            self.a <= self.a.group([], agg.max("x"))

    with pytest.raises(ProgramError, match="'a'"):
        Wrong().start()
