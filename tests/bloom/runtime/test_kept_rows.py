"""Drawn programs over many steps: rows that are kept are those that would be derived anew.

Two oracles.  A naive node shares no code with the runtime, and says what the rows are.  A node that forgets before
each step what it has kept must do everything else in the same way, too: which of two rows with one key stays in a
recursion, every report, what waits for the next step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bloom.runtime import drawn_programs
from bloom.runtime.drawn_programs import STEPS, Drawn, draw
from bloom.runtime.naive_node import NaiveNode, look_at
from clew import bloom
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.runtime.storage import LatticeView
from long_mode import first_of

#: Programs are drawn in portions, of which the suite has the first ones.
PORTION = 30
PORTIONS = first_of(range(400), 4)


def make(drawn: Drawn) -> Any:
    names = ("agg", "bloom", "channel", "interface", "table", "scratch", "lset", "lmax", "lpset", "lbag", "lmap")
    space: dict[str, Any] = {name: getattr(bloom, name) for name in names}
    space |= {"Node": Node, "__name__": __name__}
    space |= {name: getattr(drawn_programs, name) for name in ("largest", "collect", "give_up")}
    exec(compile(drawn.source, f"drawn {drawn.number}", "exec"), space)
    return space["Drawn"]()


def drawn_in(portion: int) -> Iterator[Drawn]:
    return map(draw, range(portion * PORTION, (portion + 1) * PORTION))


def rows_of(machine: Machine, names: tuple[str, ...]) -> dict[str, Any]:
    views = {name: machine.rows(name) for name in names}
    return {n: v.value if isinstance(v, LatticeView) else set(map(tuple, v)) for n, v in views.items()}


class Shown:
    """Rows of a naive node, as functions of rules see them."""

    def __init__(self, node: NaiveNode, name: str) -> None:
        self._rows = node.rows[name]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows


def compare_with_naive_node(drawn: Drawn) -> int:
    """Compare all steps, as far as they do not depend on the order of rounds, and return how many."""
    node, other = make(drawn), make(drawn)
    naive = NaiveNode(other.program)
    other._view = lambda name: Shown(naive, name)
    for number, step in enumerate(drawn.steps):
        for event in step:
            for each in (node.machine, naive):
                getattr(each, event.kind)(event.collection, event.rows)
        stepped, expected = node.tick(), naive.step()
        if expected.ambiguous:
            return number
        held = look_at(naive)
        assert rows_of(node.machine, drawn.names) == {name: held[name] for name in drawn.names}, drawn.number
        assert set(stepped.sent) == expected.sent, drawn.number
        assert _reports(stepped) == expected.reports, drawn.number
    return len(drawn.steps)


def _reports(stepped: StepResult) -> set[tuple[str, str]]:
    """Return what is reported of scratches."""
    return {(r.collection, r.message) for r in stepped.refused if r.collection[0] in "sq"}


@pytest.mark.parametrize("portion", PORTIONS)
def test_nodes_agree_with_a_naive_one(portion: int) -> None:
    compared = sum(map(compare_with_naive_node, drawn_in(portion)))
    # Only a few programs end in a conflict within a recursion.
    assert compared > 0.8 * PORTION * STEPS


@pytest.mark.parametrize("portion", PORTIONS)
def test_nodes_that_keep_rows_do_what_forgetful_ones_do(portion: int) -> None:
    for drawn in drawn_in(portion):
        keeping, forgetting = make(drawn), make(drawn)
        for step in drawn.steps:
            found = []
            for node in (keeping, forgetting):
                for event in step:
                    getattr(node.machine, event.kind)(event.collection, event.rows)
                if node is forgetting:
                    node.machine._evaluation.forget()
                pending = node.machine.pending
                found.append((pending, node.tick(), node.machine.waiting, rows_of(node.machine, drawn.names)))
            assert found[0] == found[1], drawn.number
