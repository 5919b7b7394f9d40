"""The shop of ``aiohttp_shop.py`` as a suite of pytest: ``pytest examples/asyncio/test_aiohttp_shop.py``."""

from __future__ import annotations

from aiohttp_shop_scenarios import order_tea

import clew
import clew.aio


@clew.aio.test(losses=1, strategy="exhaustive")
async def test_with_keys_an_order_is_charged_once(world: clew.aio.World) -> None:
    """It is certified: each request, reply and connection was lost once."""
    await order_tea(world, keys=True)


@clew.aio.test(losses=1, lost="reset", strategy="exhaustive")
async def test_with_keys_connections_may_be_reset(world: clew.aio.World) -> None:
    """The same where the shop is told that a connection is broken, and need not wait."""
    await order_tea(world, keys=True)


@clew.scenario_test("aiohttp_shop_scenarios.py:retrying", expect="counterexample")
def test_a_lost_answer_is_charged_again(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert str(found.faults) == "O(payments,shop,reply,1)"
