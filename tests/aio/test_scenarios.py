"""What a scenario says: promises, assumptions, what it exposes and records; and how commands take it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.aio import World
from clew.aio.network.decoding import describe_packet
from clew.aio.scenarios.adapting import make_scenario
from clew.aio.settings import Settings
from clew.injection.faults import MessageLoss, MessageName
from clew.injection.running import RunAnswer
from command import clew as command


def check(scenario: Any, **settings: Any) -> clew.CodeVerdict:
    """Check a scenario by lineage, without faults."""
    return clew.check_scenario(make_scenario(scenario, Settings(**settings)), losses=0, crashes=0)


async def count() -> None:
    """Nothing but a host that lives."""
    await asyncio.Event().wait()


def test_invariants_see_what_hosts_expose() -> None:
    def no_more_than_three(nodes: Mapping[str, Any]) -> str | None:
        return next((f"{name} has {n.value}" for name, n in nodes.items() if getattr(n, "value", 0) > 3), None)

    async def scenario(world: World) -> None:
        value = 0

        async def increase() -> None:
            nonlocal value
            world.expose("value", lambda: value)
            for _ in range(5):
                value += 1
                await asyncio.sleep(1)

        world.start("a", increase)
        await asyncio.sleep(10)
        world.promise("the scenario has returned", True)

    found = check(scenario, invariants=[no_more_than_three]).counterexample
    assert found is not None and (found.broken.invariant, found.broken.what) == ("no_more_than_three", "a has 4")


def test_a_history_that_no_order_explains_breaks_its_promise() -> None:
    async def scenario(world: World) -> None:
        async def answer(value: Any) -> Any:
            await asyncio.sleep(1)
            return value

        await world.record("ann", "write", 1, answer(None))
        await world.record("bob", "read", None, answer(1))
        world.promise_linearizable()
        await world.record("bob", "read", None, answer(2))
        world.promise_linearizable("register")

    found = check(scenario).counterexample
    assert found is not None and found.broken.invariant == "the history is linearizable"
    assert found.broken.what == "read → 2 of client bob cannot be explained"


def test_an_operation_that_raises_may_have_happened() -> None:
    async def scenario(world: World) -> None:
        async def fail() -> None:
            await asyncio.sleep(1)
            raise OSError("no answer")

        with pytest.raises(OSError, match="no answer"):
            await world.record("ann", "write", 1, fail())
        world.history.invoke("bob", "read")
        world.history.ok("bob", 1)
        world.promise_linearizable()

    assert check(scenario).counterexample is None


def test_lineage_reaches_through_a_history_and_a_disk() -> None:
    """What other hosts have recorded and written is what the promise rests on: its loss is tried first."""

    async def scenario(world: World) -> None:
        async def serve() -> None:
            def connected(_: Any, writer: asyncio.StreamWriter) -> None:
                Path("seen").write_text("yes")
                writer.close()

            async with await asyncio.start_server(connected, port=1) as server:
                await server.serve_forever()

        async def call() -> None:
            async def connect() -> str:
                reader, writer = await asyncio.open_connection("server", 1)
                await reader.read()
                writer.close()
                return "connected"

            await world.record("caller", "write", "connected", connect())

        world.start("server", serve)
        await asyncio.sleep(1)
        world.start("caller", call)
        await asyncio.sleep(500)
        seen = Path("/clew-disks/server/seen").exists()
        world.promise("the server has seen it", seen and len(world.history.history().operations) == 1)

    made = make_scenario(scenario, Settings(unit="connection"))
    verdict = clew.check_scenario(made, losses=1, crashes=0)
    assert verdict.counterexample is not None
    assert str(verdict.counterexample.faults) == "O(caller,server,connection,1)"
    assert verdict.runs == 2


@pytest.mark.parametrize("lineage", ["tasks", "hosts"])
def test_the_verdict_says_how_lineage_goes(lineage: str, tmp_path: Path) -> None:
    verdict = check(_talk, lineage=lineage)
    assert verdict.lineage == lineage


async def _talk(world: World) -> None:
    world.start("a", count)
    await asyncio.sleep(1)
    world.promise("something", True)


SCENARIOS = """
import asyncio

import clew.aio


async def serve():
    def connected(reader, writer):
        writer.write(b"hello")
        writer.close()

    async with await asyncio.start_server(connected, port=1) as server:
        await server.serve_forever()


@clew.aio.scenario(losses=1, loss=0.5, lineage="hosts", expect="counterexample", expect_faults=1)
async def impatient(world):
    world.start("server", serve)
    await asyncio.sleep(1)
    try:
        async with asyncio.timeout(0.1):
            reader, writer = await asyncio.open_connection("server", 1)
            heard = await reader.read()
            writer.close()
    except OSError:
        heard = b""
    world.promise("somebody says hello", heard == b"hello")


@clew.aio.test(by="fuzz", runs=1)
async def test_all_is_well_without_faults(world):
    await impatient(world)


@clew.aio.test(losses=1)
async def test_a_loss_does_no_harm(world):
    await impatient(world)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenarios")
    (path / "test_hello.py").write_text(SCENARIOS)
    return path


def test_commands_take_coroutine_functions(folder: Path) -> None:
    name = "test_hello.py:impatient"
    checked = command("check", name, "-o", "check.json", cwd=folder)
    assert checked.returncode == 1 and "COUNTEREXAMPLE: 1 fault" in checked.stdout
    assert "lineage search by hosts, " in checked.stdout
    asked = command("check", name, "--json", "-", cwd=folder)
    assert json.loads(asked.stdout)["lineage"] == "hosts"
    found = command("fuzz", name, "-o", "fuzz.json", cwd=folder)
    assert found.returncode == 1 and "VIOLATION: somebody says hello" in found.stdout
    for recording in ("check.json", "fuzz.json"):
        again = command("replay", recording, cwd=folder)
        assert again.returncode == 1 and "STILL FAILS: somebody says hello" in again.stdout
    smaller = command("minimize", "fuzz.json", "-o", "min.json", cwd=folder)
    assert smaller.returncode == 0 and "LOST" in smaller.stdout
    run = command("run", name, "--lose", "client,server,connection,1", cwd=folder)
    assert run.returncode == 1 and "VIOLATED: somebody says hello" in run.stdout
    explored = command("explore", name, cwd=folder)
    assert explored.returncode in (0, 3), explored.stderr
    tested = command("test", "test_hello.py", cwd=folder)
    assert tested.returncode == 0 and "counterexample, 1 fault" in tested.stdout


def test_the_plugin_of_pytest_takes_them(folder: Path) -> None:
    ran = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_hello.py"]
    done = subprocess.run(ran, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout
    assert "is lost, at" in done.stdout and "somebody says hello" in done.stdout


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (b"POST /orders?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", "POST /orders?x=1"),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", "503"),
        (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", "SET k"),
        (b"PING\r\n", "PING"),
        (
            b'{"op": "write", "key": "a long one", "value": "a long one"}\n',
            '{"op": "write", "key": "a long one", …',
        ),
        (b"\x00\x01\xff\xfe", "4 bytes"),
        (b"", "0 bytes"),
    ],
)
def test_packets_are_called_by_what_they_say(data: bytes, label: str) -> None:
    assert describe_packet(Settings(), data) == label


def test_a_message_behind_its_length_is_called_by_what_it_says() -> None:
    settings = Settings(decoder=clew.aio.length_prefixed(2))
    assert describe_packet(settings, b"\x00\x04PING") == "PING"
    assert describe_packet(settings, b"\x00\x09PING") == "PING"  # only its first bytes have come
    assert describe_packet(settings, b"x") == "x"
    own = Settings(decoder=clew.aio.length_prefixed(1, decoder=lambda data: f"own {len(data)}"))
    assert describe_packet(own, b"\x04PING") == "own 4"


class _Answer(asyncio.DatagramProtocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.DatagramTransport)
        self.transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        self.transport.sendto(b"answer", address)


class _Ask(asyncio.DatagramProtocol):
    def __init__(self, answer: asyncio.Future[bytes]) -> None:
        self.answer = answer

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        if not self.answer.done():
            self.answer.set_result(data)


async def _serve_datagrams() -> None:
    await asyncio.get_running_loop().create_datagram_endpoint(_Answer, local_addr=("0.0.0.0", 7000))
    await asyncio.Event().wait()


async def _ask(world: World, patience: float | None) -> None:
    world.start("s", _serve_datagrams)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Ask(answer), remote_addr=("s", 7000))
    transport.sendto(b"question")
    try:
        async with asyncio.timeout(patience):
            got = await answer
    except TimeoutError:
        world.assume(False)
    else:
        world.promise("there is an answer", got == b"answer")
    finally:
        transport.close()


def test_who_waits_for_ever_under_faults_is_not_certified() -> None:
    """The question or the answer is lost: without a time-out, nothing is said of what was going to be promised."""

    async def asking(world: World) -> None:
        await _ask(world, None)

    scenario = make_scenario(asking, Settings(until=30))
    found = clew.check_scenario(scenario, losses=1, crashes=0, strategy="exhaustive", in_process=True)
    assert found.answer is clew.Answer.INCOMPLETE
    assert found.reason == (
        "2 runs did not come to their end, the first with O(client,s,Datagram,1): the scenario did not return:"
        " give what it waits for a time-out, or the scenario a later 'until'"
    )
    lost = MessageLoss(MessageName("client", "s", "Datagram", 1))
    assert clew.run_scenario(scenario, [lost], in_process=True).answer is RunAnswer.UNFINISHED


def test_who_gives_up_is_certified() -> None:
    async def asking(world: World) -> None:
        await _ask(world, 10)

    scenario = make_scenario(asking, Settings(until=30))
    found = clew.check_scenario(scenario, losses=1, crashes=0, strategy="exhaustive", in_process=True)
    assert (found.answer, found.runs) == (clew.Answer.CERTIFIED, 3)
