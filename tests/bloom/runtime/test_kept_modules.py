"""Drawn modules over many steps: a node does what a naive one does, one that forgets, and one that is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from bloom.runtime import drawn_programs
from bloom.runtime.drawn_modules import DURABLE, World, draw_module
from bloom.runtime.drawn_programs import STEPS, Drawn, Event
from bloom.runtime.naive_node import NaiveNode, look_at
from bloom.runtime.test_kept_rows import Shown, comparable_names, of_scratches, rows_of
from clew import bloom
from clew.bloom.ir.schema import Kind
from clew.bloom.lattices import large
from clew.bloom.runtime import endless
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.runtime.strata import recursion
from clew.bloom.tracing.traces import trace
from clew.bloom.values import Row, sort_rows
from long_mode import first_of

PORTION = 40
PORTIONS = first_of(range(200), 2)


def make(drawn: Drawn, world: World) -> Any:
    """Return a new node of a program."""
    space: dict[str, Any] = {name: getattr(bloom, name) for name in bloom.__all__}
    space |= {"Node": Node, "__name__": __name__, "WORLD": world, "SETTINGS": world.settings}
    space |= {name: getattr(drawn_programs, name) for name in ("largest", "collect", "give_up")}

    def above(memo: dict[Any, Any], row: Any) -> dict[Any, Any]:
        if row.y != world.clock[0]:
            memo[row.x] = row.y
        return memo

    space["above"] = above
    exec(compile(drawn.source, f"drawn {drawn.number}", "exec"), space)
    return space["Drawn"]()


class Pair:
    """A node and a naive one to which the same happens."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.names = comparable_names(drawn)
        self.world = World()
        self.node, self.naive = self._begin()

    def _begin(self) -> tuple[Any, NaiveNode]:
        node, other = make(self.drawn, self.world), make(self.drawn, self.world)
        naive = NaiveNode(other.program)
        other._view = lambda name: Shown(naive, name)
        return node, naive

    @property
    def machine(self) -> Machine:
        machine: Machine = self.node.machine
        return machine

    def happen(self, event: Event) -> None:
        match event.kind:
            case "turn":
                self.world.turn(event.rows[0][0])
            case "restart":
                self._restart()
            case "replace":
                self._replace(event)
            case _:
                self._both(event.kind, event.collection, event.rows)

    def _both(self, what: str, name: str, rows: Any) -> None:
        getattr(self.machine, what)(name, rows)
        getattr(self.naive, what)(name, rows)

    def _replace(self, event: Event) -> None:
        """Delete what tables hold with the keys of rows, and insert those."""
        width = len(self.naive.kind_of(event.collection).schema.keys)
        keys = {row[:width] for row in event.rows}
        there = [row for row in self.naive.rows[event.collection] if row[:width] in keys]
        self._both("delete", event.collection, sort_rows(there))
        self._both("insert", event.collection, event.rows)

    def _restart(self) -> None:
        """Begin again with what durable tables hold, which is all that a process leaves behind."""
        held: dict[str, list[Row]] = {name: sort_rows(self.naive.rows[name]) for name in DURABLE}
        self.node, self.naive = self._begin()
        for name, rows in held.items():
            self.machine.restore(name, rows)
            self.naive.rows[name].update(rows)

    def step(self) -> bool:
        """Let both take a step, and compare them; tell whether that can go on."""
        before = {name: set(rows) for name, rows in self.naive.rows.items()}
        stepped, expected = self.node.tick(), self.naive.step()
        if expected.ambiguous:
            return False
        held = look_at(self.naive)
        assert rows_of(self.machine, self.names) == {name: held[name] for name in self.names}
        assert set(stepped.sent) == expected.sent
        assert _changed(stepped) == {
            name: (rows - before[name], before[name] - rows)
            for name, rows in self.naive.rows.items()
            if self.naive.kind_of(name).kind is Kind.TABLE and rows != before[name]
        }
        assert of_scratches((r.collection, r.message) for r in stepped.refused) == of_scratches(expected.reports)
        return True


def _changed(stepped: StepResult) -> dict[str, tuple[set[Row], set[Row]]]:
    return {name: (set(change.added), set(change.removed)) for name, change in stepped.changes.items()}


def compare(drawn: Drawn) -> int:
    """Compare all steps, as far as they do not depend on the order of rounds, and return how many."""
    pair = Pair(drawn)
    if not pair.names:
        return 0
    for number, step in enumerate(drawn.steps):
        for event in step:
            pair.happen(event)
        if not pair.step():
            return number
    return len(drawn.steps)


def modules_in(portion: int, steps: int = STEPS) -> Iterator[Drawn]:
    for number in range(portion * PORTION, (portion + 1) * PORTION):
        yield draw_module(number, steps)


@pytest.mark.parametrize("portion", PORTIONS)
def test_modules_agree_with_a_naive_node(portion: int) -> None:
    comparable = [drawn for drawn in modules_in(portion) if comparable_names(drawn)]
    assert len(comparable) > 0.7 * PORTION
    # Only a few programs end in a conflict within a recursion.
    assert sum(map(compare, comparable)) > 0.8 * len(comparable) * STEPS


@pytest.mark.parametrize("portion", PORTIONS)
def test_what_is_for_many_rows_gives_the_same_with_few(portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recursions that give up taking rows away, joins in portions, and lattices that share what they hold."""
    monkeypatch.setattr(recursion, "_FEW", 0)
    monkeypatch.setattr(endless, "_JOINED_AT_ONCE", 7)
    monkeypatch.setattr(large, "LARGE", 1)
    for drawn in modules_in(portion + len(PORTIONS), 2 * STEPS):
        compare(drawn)


# -- beside nodes of the same kind -------------------------------------------------------------------------------


def compare_nodes(drawn: Drawn, tick: Callable[[Any], StepResult], begin: Callable[[Any], None]) -> None:
    """Compare everything that a node does with what another one does, which begins and ticks in its own way."""
    usual, other = Pair(drawn), Pair(drawn)
    begin(other.node)
    for step in drawn.steps:
        for pair in (usual, other):
            for event in step:
                if event.kind not in ("restart", "replace"):  # these ask the naive node
                    pair.happen(event)
        assert usual.machine.pending == other.machine.pending
        assert usual.node.tick() == tick(other.node)
        assert usual.machine.waiting == other.machine.waiting
        held = [rows_of(pair.machine, drawn.names) for pair in (usual, other)]
        assert held[0] == held[1]


def _forget_and_tick(node: Any) -> StepResult:
    node.machine._evaluation.forget()
    stepped: StepResult = node.tick()
    return stepped


@pytest.mark.parametrize("portion", PORTIONS)
def test_modules_that_keep_rows_do_what_forgetful_ones_do(portion: int) -> None:
    for drawn in modules_in(portion):
        compare_nodes(drawn, _forget_and_tick, lambda node: None)


@pytest.mark.parametrize("portion", PORTIONS)
def test_modules_do_the_same_while_all_of_their_rules_are_traced(portion: int) -> None:
    for drawn in modules_in(portion):
        with ExitStack() as stack:

            def begin(node: Any, stack: ExitStack = stack) -> None:
                stack.enter_context(trace(node))

            compare_nodes(drawn, lambda node: node.tick(), begin)
