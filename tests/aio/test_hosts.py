"""Hosts have names, addresses, clocks, random numbers and disks of their own."""

from __future__ import annotations

import asyncio
import datetime
import os
import random
import secrets
import socket
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic  # on purpose: bound before anything is replaced
from typing import Any

import pytest

import clew
from aio.in_world import run
from clew.aio import World
from clew.aio.scenarios.adapting import make_scenario
from clew.aio.settings import EPOCH, Settings
from clew.errors import UsageError


async def answer_with_address() -> None:
    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(repr((writer.get_extra_info("sockname")[0], socket.gethostname())).encode())
        writer.close()

    async with await asyncio.start_server(connected, port=80) as server:
        await server.serve_forever()


async def ask(host: str, port: int = 80) -> str:
    reader, writer = await asyncio.open_connection(host, port)
    answer = await reader.read()
    writer.close()
    return answer.decode()


def test_a_host_is_found_by_its_name_and_all_of_its_addresses() -> None:
    async def scenario(world: World) -> Any:
        world.start("web", answer_with_address)
        world.add_address("web", "192.168.7.7")
        await asyncio.sleep(1)
        loop = asyncio.get_running_loop()
        found = [entry[4] for entry in await loop.getaddrinfo("web", 80, type=socket.SOCK_STREAM)]
        own = world.address_of("web")
        answers = [await ask(name) for name in ("web", "WEB", own, "192.168.7.7")]
        name = await loop.getnameinfo(("192.168.7.7", 80))
        return found == [(own, 80), ("192.168.7.7", 80)], answers, own, name, world.hosts

    found, answers, own, name, hosts = run(scenario)
    assert found and name == ("web", "80") and hosts == ("client", "web")
    assert answers == [repr((address, "web")) for address in (own, own, own, "192.168.7.7")]


def test_nobody_answers_where_nobody_is() -> None:
    async def scenario(world: World) -> Any:
        world.start("web", answer_with_address)
        seen = []
        for host in ("nobody", "10.9.9.9", "web"):  # the last one does not listen yet
            try:
                await ask(host, 81)
            except OSError as error:
                seen.append(type(error).__name__)
        return seen

    assert run(scenario) == ["gaierror", "OSError", "ConnectionRefusedError"]


@dataclass
class Noted:
    at: float = field(default_factory=time.time)


class Clocked:
    clock = time.monotonic

    def read(self, now: Any = time.time, *, since: Any = time.perf_counter) -> tuple[float, float]:
        return now(), since()


CLOCKS = {"now": time.time}


def test_clocks_go_by_virtual_time_however_they_were_bound() -> None:
    async def scenario(world: World) -> Any:
        await asyncio.sleep(3600)
        days = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromtimestamp(EPOCH, datetime.UTC)
        read = [time.time(), Noted().at, Clocked().read()[0]]
        return (
            {now - EPOCH for now in read},
            {monotonic(), Clocked.clock(), Clocked().read()[1], time.monotonic_ns() / 1e9},
            days.total_seconds(),
            time.strftime("%H:%M", time.gmtime()),
        )

    start = time.monotonic()
    now, since, days, shown = run(scenario)
    assert (now, since, days, shown) == ({3600.0}, {4600.0}, 3600.0, "02:46")
    assert time.monotonic() - start < 600, "an hour passes in less"


def test_random_numbers_are_the_hosts_own_and_those_of_the_seed() -> None:
    generator = random.Random(3)

    async def draw() -> None:
        random.random()

    def make(others: bool) -> Any:
        async def scenario(world: World) -> Any:
            if others:
                world.start("other", draw)
            await asyncio.sleep(1)
            sources = (random.random, uuid.uuid4, uuid.uuid1, secrets.token_hex, generator.random)
            return [str(source()) for source in sources], os.urandom(4), random.sample(range(9), 3)

        return scenario

    assert run(make(False)) == run(make(True))


def test_what_escapes_is_named_where_executions_differ() -> None:
    async def scenario(world: World) -> None:
        await asyncio.sleep(CLOCKS["now"]() % 1)
        world.promise("something", True)

    with pytest.raises(UsageError) as refused:
        clew.check_scenario(make_scenario(scenario, Settings(hosts=["client"])))
    error = refused.value
    assert "the first event that differs is number 1, at" in error.message
    assert "timer 'timer' at client; the other time, at" in error.message
    assert f"time.time is kept in CLOCKS of {__file__}: call it by its module" in (error.remedy or "")


def test_packets_that_differ_only_in_content_are_told_apart() -> None:
    numbers = iter(range(100))

    async def listen() -> None:
        async with await asyncio.start_server(lambda _, writer: writer.close(), port=80) as server:
            await server.serve_forever()

    async def scenario(world: World) -> None:
        world.start("web", listen)
        await asyncio.sleep(1)
        _, writer = await asyncio.open_connection("web", 80)
        writer.write(b"%03d" % next(numbers))
        await asyncio.sleep(1)
        world.promise("something", True)

    with pytest.raises(UsageError) as refused:
        clew.check_scenario(make_scenario(scenario, Settings(hosts=["client", "web"])))
    assert "from client to web" in refused.value.message


# -- disks -------------------------------------------------------------------------------------------------------


async def keep_a_log(forces: bool) -> None:
    with Path("log").open("a") as log:
        for number in range(100):
            log.write(f"{number}\n")
            if number % 10 == 9:
                log.flush()
                if forces:
                    os.fsync(log.fileno())
            await asyncio.sleep(1)


async def crash_and_read(world: World, forces: bool) -> list[str]:
    world.start("a", keep_a_log, forces)
    await asyncio.sleep(25)
    world.crash("a")
    await asyncio.sleep(1)
    return Path("/clew-disks/a/log").read_text().splitlines()


def test_a_disk_outlives_a_crash_and_buffers_do_not() -> None:
    """What a crashed host had not flushed is never written, not even when Python collects its file."""
    assert run(lambda world: crash_and_read(world, forces=False)) == [str(number) for number in range(20)]


def test_a_torn_disk_loses_what_was_not_synced() -> None:
    async def synced(world: World) -> Any:
        return await crash_and_read(world, forces=True)

    async def unsynced(world: World) -> Any:
        return await crash_and_read(world, forces=False)

    whole = [str(number) for number in range(20)]
    assert run(synced, disk="torn") == whole
    left = {tuple(_run_with_seed(unsynced, seed)) for seed in range(12)}
    assert tuple(whole) in left and () in left and len(left) > 2
    assert all("\n".join(whole).startswith("\n".join(lines)) for lines in left)


def _run_with_seed(scenario: Any, seed: int) -> list[str]:
    returned: list[Any] = []

    async def kept(world: World) -> None:
        returned.append(await scenario(world))
        world.promise("it has returned", True)

    clew.run_scenario(
        make_scenario(kept, Settings(hosts=["client", "a"], disk="torn")), seed=seed, in_process=True
    )
    first: list[str] = returned[0]
    return first


def test_files_of_a_host_are_its_own_and_gone_at_the_end() -> None:
    kept: list[int] = []

    async def write(text: str) -> None:
        Path("folder").mkdir()
        Path("folder", "b").write_text(text)
        Path("folder", "a").touch()
        os.rename("folder/b", "folder/c")  # noqa: PTH104
        with Path("folder/c").open("rb") as file:
            kept.append(file.fileno())
        raw = os.open("raw", os.O_CREAT | os.O_WRONLY)
        os.write(raw, b"raw")
        os.close(raw)

    async def scenario(world: World) -> Any:
        for name in ("one", "other"):
            world.start(name, write, name)
        await asyncio.sleep(1)
        with tempfile.TemporaryDirectory() as temporary:
            Path(temporary, "x").write_text("x")
            names = os.listdir(temporary)  # noqa: PTH208
        os.chdir("/clew-disks/other")
        walked = [(top, sorted(files)) for top, _, files in os.walk(".")]
        return Path("/clew-disks/one/folder/c").read_text(), Path.cwd().name, walked, names

    assert run(scenario) == ("one", "other", [(".", ["raw"]), ("./folder", ["a", "c"])], ["x"])
    assert not list(Path(tempfile.gettempdir()).glob(f"clew-disk-{os.getpid()}-*"))
    assert not Path("folder").exists() and not Path("/clew-disks").exists()
