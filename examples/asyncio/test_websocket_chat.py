"""The chat of ``websocket_chat.py`` as a suite of pytest: ``pytest examples/asyncio/test_websocket_chat.py``."""

from __future__ import annotations

from websocket_chat_scenarios import listen

import clew
import clew.aio


@clew.aio.test(by="fuzz", runs=1)
async def test_all_is_heard_where_nothing_is_lost(world: clew.aio.World) -> None:
    await listen(world, again=False, numbers=False)


@clew.scenario_test("websocket_chat_scenarios.py:numbered", strategy="exhaustive")
def test_numbers_tell_what_was_heard() -> None:
    """It is certified: each connection was reset once at each message."""


@clew.scenario_test("websocket_chat_scenarios.py:insistent", expect="counterexample")
def test_a_word_is_repeated_whose_confirmation_is_lost(clew_result: clew.CodeVerdict) -> None:
    found = clew_result.counterexample
    assert found is not None
    assert str(found.faults) == "O(room,ann,reply,3)"
