"""The store of ``streams_store.py`` as a suite of pytest: ``pytest examples/asyncio/test_streams_store.py``."""

from __future__ import annotations

from streams_store_scenarios import write_and_read

import clew
import clew.aio


@clew.aio.test(losses=3)
async def test_an_acknowledged_write_is_read_from_two_replicas(world: clew.aio.World) -> None:
    await write_and_read(world, r=2)


@clew.aio.test(losses=2, strategy="exhaustive")
async def test_two_connections_may_be_lost_if_one_replica_is_read(world: clew.aio.World) -> None:
    """R = 1 survives two faults, which is certified."""
    await write_and_read(world, r=1)


@clew.scenario_test("streams_store_scenarios.py:busy", expect="counterexample")
def test_the_third_fault_is_found(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert str(found.faults) == "O(a,b,connection,1) O(a,b,connection,2) O(client,a,connection,2)"
