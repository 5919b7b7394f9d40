"""Programs on ``asyncio`` that end the process, or take from it what Clew needs: also where only their hosts are
asked for, which is before the first run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import clew

HOSTILE = '''
import asyncio, ctypes, os, re, sys
import clew.aio

def scenario(function):
    """A server that answers a line, and does something before that."""
    async def serve(reader, writer):
        line = await reader.readline()
        function()
        writer.write(line)
        writer.close()

    async def server():
        async with await asyncio.start_server(serve, port=80) as listening:
            await listening.serve_forever()

    async def ask(world):
        world.start("server", server)
        await asyncio.sleep(1)
        reader, writer = await asyncio.open_connection("server", 80)
        writer.write(b"x\\n")
        world.promise("an answer", await reader.readline() == b"x\\n")

    return clew.aio.scenario(losses=1, step_seconds=1)(ask)

def take_streams():
    sys.stdin = sys.stdout = sys.stderr = None

exits = scenario(lambda: os._exit(0))
crashes = scenario(lambda: ctypes.string_at(0))
takes_streams = scenario(take_streams)
numbers = scenario(lambda: setattr(os, "getpid", lambda: 7))
waits = scenario(lambda: re.match(r"(a+)+$", "a" * 50 + "b"))
'''

DECODING = """
import asyncio
import clew.aio

def scenario(decoder):
    async def answer():
        async def serve(reader, writer):
            writer.write(await reader.readline())
        async with await asyncio.start_server(serve, port=80) as listening:
            await listening.serve_forever()

    async def ask(world):
        world.start("server", answer)
        await asyncio.sleep(1)
        reader, writer = await asyncio.open_connection("server", 80)
        try:
            writer.write(b"x\\n")
        except Exception:
            pass
        world.promise("an answer", await reader.readline() == b"x\\n")

    return clew.aio.scenario(losses=1, decoder=decoder)(ask)

async def wait(data):
    return "text"

def leave(data):
    raise SystemExit(0)

divides = scenario(lambda data: 1 / 0)
leaves = scenario(leave)
is_async = scenario(wait)
is_odd = scenario(lambda data: object())
"""

LATE = """
import asyncio
import clew.aio

async def answer():
    async def serve(reader, writer):
        writer.write(await reader.readline())
    async with await asyncio.start_server(serve, port=80) as listening:
        await listening.serve_forever()

@clew.aio.scenario(losses=1, loss=0.3)
async def late(world):
    world.start("server", answer)
    await asyncio.sleep(1)
    answered = False
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection("server", 80)
            writer.write(b"x\\n")
            answered = await reader.readline() == b"x\\n"
    except TimeoutError:
        world.start("second", answer)
        await asyncio.sleep(1)
    world.promise("an answer", answered)
"""

FROM_PYTHON = """
import clew
from clew.simulation.loading import load_scenario

found = clew.fuzz(load_scenario("hostile.py:exits"), runs=2)
print("went on:", found.exit_code, found.recording.ends_process)
"""

ENDED = "the process ended by itself (exit code 0) in scenario.<locals>.server at server, at event 5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("coroutines")
    (made / "hostile.py").write_text(HOSTILE, encoding="utf-8")
    return made


def test_an_end_is_a_finding_at_its_event_and_its_recording_still_fails(folder: Path) -> None:
    done = clew("fuzz", "hostile.py:exits", "--runs", "2", "-o", "exits.json", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"VIOLATION: {ENDED}, in the run with seed 0.\n")
    again = clew("replay", "exits.json", cwd=folder)
    assert (again.returncode, again.stderr) == (1, "")
    assert again.stdout.startswith("STILL FAILS")


@pytest.mark.parametrize(("name", "how"), [("exits", ENDED), ("crashes", "the process was ended by SIGSEGV in ")])
def test_an_end_is_a_counterexample(name: str, how: str, folder: Path) -> None:
    done = clew("check", f"hostile.py:{name}", "--json", "-", cwd=folder)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["verdict"] == "counterexample"
    assert how in done.stdout


@pytest.mark.parametrize("name", ["takes_streams", "numbers"])
def test_what_the_code_takes_is_not_missed(name: str, folder: Path) -> None:
    done = clew("fuzz", f"hostile.py:{name}", "--runs", "2", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("NO VIOLATION in these runs.\n")


def test_what_nothing_can_interrupt_is_refused_with_its_event(folder: Path) -> None:
    done = clew("run", "hostile.py:waits", cwd=folder)
    assert done.returncode == 2
    told = "error: in scenario.<locals>.server at server, event 5: your code has not returned for 1 s, and nothing"
    assert done.stderr.startswith(told)


def test_from_python_it_does_not_end_the_caller(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FROM_PYTHON], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("went on: 1 True\n")


@pytest.mark.parametrize("command", ["fuzz", "check"])
def test_hosts_that_start_only_under_faults_are_known_to_recordings(command: str, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    assert clew(command, "late.py", "-o", "late.json", cwd=tmp_path).returncode == 1
    again = clew("replay", "late.json", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (1, "")
    assert "\nSTILL FAILS: an answer at client, " in again.stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("divides", "the decoder raised ZeroDivisionError: division by zero"),
        ("leaves", "the decoder raised SystemExit: 0"),
        ("is_async", "the decoder returned a coroutine, and nobody would execute it"),
        ("is_odd", "the decoder returned object"),
    ],
)
def test_a_mistake_of_a_decoder_is_none_of_the_program(name: str, told: str, tmp_path: Path) -> None:
    """It was an uncaught exception of the program that sends: a counterexample without any fault."""
    (tmp_path / "decoding.py").write_text(DECODING, encoding="utf-8")
    done = clew("check", f"decoding.py:{name}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr and "Warning" not in done.stderr
