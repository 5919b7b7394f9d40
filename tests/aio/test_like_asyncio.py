"""Programs return the same on Clew's loop as on Python's own, in real time and with real sockets on loopback."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from aio import programs_of_networks, programs_of_tasks
from aio.in_world import run

Program = Callable[[], Coroutine[Any, Any, Any]]

PROGRAMS = (*programs_of_tasks.PROGRAMS, *programs_of_networks.PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_returns_what_it_returns_on_pythons_own_loop(program: Program) -> None:
    with warnings.catch_warnings():
        # Transports that a program leaves open are closed by Python's collector, which says so.
        warnings.simplefilter("ignore", ResourceWarning)
        expected = asyncio.run(program())
        gc.collect()
    assert expected is not None
    assert run(lambda world: program()) == expected
