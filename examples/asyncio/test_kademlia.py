"""kademlia 2.2.3 as a suite of pytest: ``pytest examples/asyncio/test_kademlia.py``."""

from __future__ import annotations

from kademlia_scenarios import FIRST, join, name_datagram, start_nodes

import clew
import clew.aio


@clew.aio.test(by="fuzz", runs=1, decoder=name_datagram)
async def test_a_value_is_stored_where_nothing_is_lost(world: clew.aio.World) -> None:
    start_nodes(world)
    server = await join(FIRST)
    world.promise("the value is stored", await server.set("key", "value"))
    server.stop()


@clew.scenario_test("kademlia_scenarios.py:put_with_one_loss", strategy="exhaustive")
def test_one_lost_datagram_does_no_harm() -> None:
    """It is certified: each of them was lost once."""


@clew.scenario_test("kademlia_scenarios.py:put", expect="counterexample")
def test_set_raises_where_nobody_answers(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert found.broken.what == "ValueError: max() arg is an empty sequence (in put)"
