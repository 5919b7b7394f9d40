"""Nodes that run: timers, durable tables, and what remains after the end."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import Client, Clock, Doubler, Echo, Store, until
from clew.errors import UsageError

# -- timers and output -------------------------------------------------------------------------------------------


def test_timers_fire_with_numbers_and_the_time() -> None:
    before = time.time()
    with Clock() as node:
        until(lambda: len(node.fired) >= 3)
        rows = list(node.fired)
    assert [r.number for r in rows] == list(range(1, len(rows) + 1))
    assert rows[0].time >= before + 0.019
    assert sorted(r.time for r in rows) == [r.time for r in rows]


def test_missed_timers_are_not_made_up() -> None:
    node = Clock()
    with node:
        until(lambda: len(node.fired) >= 1)
        with node._lock:
            time.sleep(0.2)  # a step has to wait for this thread
        until(lambda: node.fired[len(node.fired)].time - node.fired[1].time > 0.2)
        rows = list(node.fired)
    assert len(rows) <= (rows[-1].time - rows[0].time) / 0.02 - 5


def test_nodes_without_a_network_open_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.bloom.network.driver.Transport", None)
    with Doubler() as node:
        assert node.insert_and_wait(node.question, (1, 1), node.result) == (1, 2)


# -- durable tables ----------------------------------------------------------------------------------------------


def test_durable_rows_are_there_after_a_restart(tmp_path: Path) -> None:
    with Client() as client:
        with Store(data=tmp_path) as store:
            for n in range(5):
                client.insert_and_wait(client.wish, (store.ip_port, n, f"k{n % 2}", n), client.done)
            assert list(store.kept) == [("k0", 4), ("k1", 3)]
        with Store(data=tmp_path) as store:
            assert list(store.kept) == [("k0", 4), ("k1", 3)]
            client.insert_and_wait(client.wish, (store.ip_port, 9, "k0", 9), client.done)
        assert [f.name for f in tmp_path.iterdir()] == ["Store.sqlite"]
        with Store(data=tmp_path / "Store.sqlite") as store:
            assert list(store.kept) == [("k0", 9), ("k1", 3)]


def test_what_a_message_acknowledges_was_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The put is stored by the step after the one that acknowledges it."""
    events: list[Any] = []
    with Client() as client, Store(data=tmp_path) as store:
        driver: Any = store._driver
        write, sent = driver._tables.write, driver._send

        def written(changes: Any) -> None:
            listed = [(name, tuple(added), tuple(removed)) for name, added, removed in changes]
            events.extend(listed)
            write(listed)

        def send(rows: Any) -> None:
            events.extend(channel for channel, _ in rows)
            sent(rows)

        monkeypatch.setattr(driver._tables, "write", written)
        monkeypatch.setattr(driver, "_send", send)
        client.insert_and_wait(client.wish, (store.ip_port, 1, "k", "v"), client.done)
    assert events == [("kept", (("k", "v"),), ()), "acknowledged"]


def test_a_file_that_cannot_be_written_ends_the_run_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client() as client:
        store = Store(data=tmp_path)
        store.start()

        def fails(changes: Any) -> None:
            raise UsageError("the disk is full")

        driver: Any = store._driver
        monkeypatch.setattr(driver._tables, "write", fails)
        with pytest.raises(TimeoutError):
            client.insert_and_wait(client.wish, (store.ip_port, 1, "k", "v"), client.done, timeout=0.3)
        until(lambda: not store.running)
        with pytest.raises(UsageError, match="the disk is full"):
            store.stop()


# -- the end -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list open files there")
def test_nothing_remains_after_the_end() -> None:
    before = threading.active_count()
    sockets = _open_sockets()
    with Echo():
        assert _open_sockets() > sockets
    for _ in range(3):
        with Echo() as one, Echo("localhost:0") as two:
            one.insert_and_wait(one.ask, (two.ip_port, "x" * 5000), one.answer)
            two.insert_and_wait(two.ask, (one.ip_port, "y"), two.answer, lambda r: r.what == "y")
    assert threading.active_count() == before
    assert _open_sockets() == sockets


def _open_sockets() -> int:
    """Of this process, as Linux lists them."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing itself is one of them
            found += str(descriptor.readlink()).startswith("socket:")
    return found


def test_a_cancelled_run_gives_everything_back() -> None:
    async def main() -> None:
        node = Echo()
        ready = asyncio.Event()
        run = asyncio.create_task(node.run_async(ready=ready.set))
        await ready.wait()
        port = int(node.ip_port.split(":")[1])
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert not node.running
        again = Echo(f"127.0.0.1:{port}")
        ready.clear()
        run = asyncio.create_task(again.run_async(ready=ready.set))
        await ready.wait()
        again.stop()
        await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_node_can_be_started_again_and_has_the_same_address() -> None:
    node = Echo()
    with node:
        first = node.ip_port
        node.insert_and_wait(node.ask, (first, 1), node.seen)
    with node:
        assert node.ip_port == first
        assert list(node.seen) == [(1,)]
    node.stop()


def test_printed_rows_go_to_the_log_unless_somebody_wants_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "clew.bloom")
    lines: list[str] = []
    for printer in (None, lines.append):
        with Echo(printer=printer) as node:
            told = threading.Event()
            node.on(node.ask, lambda rows, told=told: told.set())  # type: ignore[misc]
            step = node.machine.step
            monkeypatch.setattr(
                node.machine, "step", lambda step=step: replace(step(), printed=(("a line",), ("two", 2)))
            )
            node.ask.insert(("127.0.0.1:1", 1))
            assert told.wait(10)
    assert lines[-2:] == ["a line", "two 2"]
    assert [r.getMessage() for r in caplog.records if r.name == "clew.bloom"][-2:] == ["a line", "two 2"]
