"""Checks of small asyncio programs agree with an injector that shares no code with them; see ``__main__``, too."""

from __future__ import annotations

import asyncio

import pytest

import clew.aio
from aio.exactness.comparing import Counts, compare
from clew import check_scenario
from clew.aio.scenarios.adapting import make_scenario
from clew.search.verdict import Answer

#: How many programs: in the suite, and with ``--thorough``.
FEW, MANY = 40, 1_000


# What hosts do that are cancelled in the midst of it, they do not close.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    return MANY if request.config.getoption("--thorough") else FEW


def test_all_checks_agree_with_an_injector_of_its_own(number: int) -> None:
    counts = Counts()
    for program in range(1_000_000, 1_000_000 + number):
        counts.add(compare(program, most_sets=150))
    # Enough of each kind that agreement says something.
    assert counts.programs + counts.too_large == number
    assert counts.programs > number * 3 // 4
    assert counts.certified > number // 5
    assert counts.broken > number // 4
    assert counts.sets > 5 * number


async def answer() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"yes\n")
        writer.close()

    async with await asyncio.start_server(connected, port=7000) as server:
        await server.serve_forever()


async def ask(host: str) -> bytes | str:
    """Return what a host answers, or what keeps it from that."""
    try:
        async with asyncio.timeout(0.5):
            reader, writer = await asyncio.open_connection(host, 7000)
            answer = await reader.readline()
            writer.close()
            return answer
    except (OSError, TimeoutError) as error:
        return type(error).__name__


def test_a_host_that_starts_only_under_faults_is_not_known_in_other_executions() -> None:
    seen = []

    async def scenario(world: clew.aio.World) -> None:
        world.start("a", answer)
        await asyncio.sleep(0.1)
        first = await ask("a")
        if first == "TimeoutError":
            world.start("backup", answer)
            await asyncio.sleep(0.1)
        second = await ask("backup")
        seen.append((first, second))
        world.promise("there is a backup where it was started, and only there", True)

    made = make_scenario(scenario)
    verdict = check_scenario(made, losses=1, crashes=0, strategy="exhaustive", in_process=True)
    assert verdict.answer is Answer.CERTIFIED
    assert set(seen) == {(b"yes\n", "gaierror"), ("TimeoutError", b"yes\n")}
    assert seen[-1] == (b"yes\n", "gaierror")
    assert tuple(made.nodes) == ("client", "a")
