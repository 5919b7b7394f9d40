"""The program that docs/multipaxos.md shows does what the page says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from command import ROOT
from random_network import RandomNetwork

NAMES = ("a", "b", "c")


def _program_of_the_page(folder: Path) -> Any:
    page = (ROOT / "docs" / "multipaxos.md").read_text(encoding="utf-8")
    ((name, source),) = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", page, re.DOTALL)
    file = folder / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _let_time_pass(network: RandomNetwork, ticks: int) -> None:
    for _ in range(ticks):
        for name in network.nodes:
            for timer in ("beat_timer", "retry", "sweep"):
                network.fire(name, timer)
        network.run(10)


def test_the_registers_of_the_page_are_the_same_everywhere(tmp_path: Path) -> None:
    registers = _program_of_the_page(tmp_path).Registers
    network = RandomNetwork({name: registers(name) for name in NAMES}, 1)
    for node in network.nodes.values():
        node.member.insert(*((name,) for name in NAMES))
    _let_time_pass(network, 8)
    network.nodes["a"].submit.insert(("ann", 1, ("x", 1)))
    network.nodes["b"].submit.insert(("bob", 1, ("y", 3)))
    _let_time_pass(network, 3)
    # After the first one is done: what is under way at once has no order.
    network.nodes["a"].submit.insert(("ann", 2, ("x", 2)))
    _let_time_pass(network, 3)
    for node in network.nodes.values():
        assert sorted(node.registers) == [("x", 2), ("y", 3)]
    assert network.refused == []
