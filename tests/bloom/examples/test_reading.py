"""All examples can be read and stratified; what is not seen through is known and listed here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.bloom import Bloom
from clew.bloom.language.module import program_of
from clew.bloom.runtime.machine import Machine

_MODULES = [
    "cart",
    "clocks",
    "delivery",
    "heartbeat",
    "idioms",
    "kvs",
    "multicast",
    "paxos",
    "reliable_broadcast",
    "two_phase_commit",
]

#: The blocks with functions that are opaque, and why.
_OPAQUE = {
    "DestructiveCart.on_action": "it uses changed",
    "DestructiveCart.on_checkout": "it uses tuple",
    "DisorderlyCart.on_checkout": "it uses tuple",
    "Multipaxos.give_promise": "it uses frozenset",
    "Multipaxos.recover": "it contains another function or a comprehension",
    "VectorClock.receive": "it returns a value where rows are expected",
}


def _classes(module: str) -> Iterator[Any]:
    for value in vars(importlib.import_module(module)).values():
        if isinstance(value, type) and issubclass(value, Bloom) and value.__module__ == module:
            yield value


@pytest.mark.parametrize("module", _MODULES)
def test_every_class_is_a_program_that_runs(module: str) -> None:
    for cls in _classes(module):
        program = program_of(cls)
        Machine(program, "node").step()
        for notice in program.notices:
            block, _, reason = notice.message.partition(": a function is not seen through, because ")
            assert _OPAQUE[block] == reason


def test_every_opaque_function_is_still_there() -> None:
    classes = [cls for module in _MODULES for cls in _classes(module)]
    found = {notice.message.partition(":")[0] for cls in classes for notice in program_of(cls).notices}
    assert found == set(_OPAQUE)


def test_the_table_of_examples_lists_all_of_them() -> None:
    folder = Path(__file__).parents[3] / "examples" / "bloom"
    listed = (folder / "README.md").read_text()
    assert [m for m in _MODULES if f"[{m}.py]({m}.py)" not in listed] == []
