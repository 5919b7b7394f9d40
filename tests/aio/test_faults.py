"""Faults: of packets and connections, and what a scenario does to hosts itself."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import clew
from aio.in_world import run
from clew.aio import World
from clew.aio.scenarios.adapting import make_scenario
from clew.aio.settings import Settings
from clew.injection.faults import MessageLoss, MessageName


async def echo() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(line)
        except OSError:
            pass
        writer.close()

    async with await asyncio.start_server(connected, port=7) as server:
        await server.serve_forever()


async def talk(lines: int = 2, limit: float = 500, pause: float = 0) -> list[str]:
    """Say lines one after the other, and return what was heard, with the error that ended it."""
    heard = []
    try:
        async with asyncio.timeout(limit):
            reader, writer = await asyncio.open_connection("server", 7)
            with closing(writer):
                for number in range(lines):
                    writer.write(b"%d\n" % number)
                    heard.append((await reader.readline()).decode().strip())
                    await asyncio.sleep(pause)
    except (OSError, TimeoutError) as error:
        heard.append(type(error).__name__)
    return heard


def under(faults: list[str], **settings: Any) -> Any:
    """Let a client talk to a server under faults; return what it hears."""
    heard: list[Any] = []

    async def scenario(world: World) -> None:
        world.start("server", echo)
        await asyncio.sleep(1)
        heard.append((await talk(), round(world.now)))
        world.promise("something", True)

    made = make_scenario(scenario, Settings(hosts=["client", "server"], **settings))
    lost = []
    for fault in faults:
        source, target, kind, nth = fault.split(",")
        lost.append(MessageLoss(MessageName(source, target, kind, int(nth))))
    clew.run_scenario(made, lost, in_process=True)
    return heard[0]


@pytest.mark.parametrize(
    ("lost", "unit", "fault", "heard"),
    [
        ("silent", "connection", "client,server,connection,1", (["TimeoutError"], 64)),
        ("silent", "request", "client,server,request,2", (["0", "TimeoutError"], 501)),
        ("reset", "connection", "client,server,connection,1", (["ConnectionRefusedError"], 1)),
        ("reset", "request", "client,server,request,2", (["0", "ConnectionResetError"], 1)),
        ("reset", "request", "server,client,reply,1", (["ConnectionResetError"], 1)),
        ("silent", "segment", "client,server,Data,1", (["0", "1"], 1)),
    ],
)
def test_what_a_loss_of_a_stream_looks_like(lost: str, unit: str, fault: str, heard: Any) -> None:
    """A segment is sent again; a request or a connection stays silent from its first packet on, or is reset."""
    assert under([fault], lost=lost, unit=unit) == heard


def test_a_scenario_may_reset_refuse_and_cut() -> None:
    async def scenario(world: World) -> Any:
        world.start("server", echo)
        await asyncio.sleep(1)
        talking = asyncio.create_task(talk(lines=100, pause=1))
        await asyncio.sleep(2.5)
        world.reset("server", "client")
        broken = await talking
        world.refuse("server")
        refused = await talk()
        world.heal()
        healed = await talk()
        world.partition("server")
        silent = await talk(limit=5)
        world.heal()
        return broken, refused, healed, silent, await talk()

    good = ["0", "1"]
    assert run(scenario) == (
        ["0", "1", "2", "ConnectionResetError"],
        ["ConnectionRefusedError"],
        *(good, ["TimeoutError"], good),
    )


def test_a_pause_delays_what_comes_meanwhile() -> None:
    async def scenario(world: World) -> Any:
        world.start("server", echo)
        await asyncio.sleep(1)
        world.pause("server", 30)
        return await talk(), round(world.now)

    assert run(scenario) == (["0", "1"], 31)


def test_a_crash_runs_no_line_and_a_restart_keeps_the_disk() -> None:
    ran: list[str] = []

    async def boot() -> None:
        count = int(Path("count").read_text()) + 1 if Path("count").exists() else 1
        Path("count").write_text(str(count))
        ran.append(f"life {count}")
        try:
            await asyncio.shield(asyncio.sleep(1000))
        finally:
            ran.append("finally")

    async def scenario(world: World) -> Any:
        ran.clear()
        world.start("a", boot)
        for _ in range(3):
            await asyncio.sleep(1)
            world.restart("a")
        await asyncio.sleep(1)
        world.crash("a")
        await asyncio.sleep(2000)
        return list(ran)

    assert run(scenario) == ["life 1", "life 2", "life 3", "life 4"]


class Collecting(asyncio.DatagramProtocol):
    def __init__(self, heard: list[bytes]) -> None:
        self.heard = heard

    def datagram_received(self, data: bytes, sender: Any) -> None:
        self.heard.append(data)


async def send_ten(world: World) -> list[int]:
    heard: list[bytes] = []

    async def receive() -> None:
        await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Collecting(heard), local_addr=("0.0.0.0", 9)
        )
        await asyncio.Event().wait()

    world.start("receiver", receive)
    await asyncio.sleep(1)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=("receiver", 9)
    )
    for number in range(10):
        transport.sendto(b"%d" % number)
    await asyncio.sleep(100)
    return [int(data) for data in heard]


def test_datagrams_are_lost_delayed_and_there_twice() -> None:
    assert run(send_ten) == list(range(10))
    seen: list[list[int]] = []

    async def kept(world: World) -> None:
        seen.append(await send_ten(world))
        world.promise("something", True)

    hosts = ["client", "receiver"]
    for settings in (
        Settings(hosts=hosts, loss=0.3),
        Settings(hosts=hosts, duplication=0.3),
        Settings(hosts=hosts, latency=(0.01, 5)),
    ):
        clew.fuzz(make_scenario(kept, settings), runs=1, in_process=True)
    lost, doubled, delayed = seen
    assert len(lost) < 10 and set(lost) < set(range(10))
    assert len(doubled) > 10 and set(doubled) == set(range(10))
    assert delayed != sorted(delayed) == list(range(10))
