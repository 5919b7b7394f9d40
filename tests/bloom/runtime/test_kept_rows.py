"""Drawn programs over many steps: rows that are kept are those that would be derived anew.

Two oracles.  A naive node shares no code with the runtime, and says what the rows are.  A node that forgets before
each step what it has kept must do everything else in the same way, too: which of two rows with one key stays in a
recursion, every report, what waits for the next step.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from bloom.runtime import drawn_programs
from bloom.runtime.drawn_programs import STEPS, Drawn, draw
from bloom.runtime.naive_node import NaiveNode, look_at
from clew import bloom
from clew.bloom.lattices import large
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.runtime.operators.groups import KeptExtremes, KeptGroups
from clew.bloom.runtime.storage import Cell, LatticeView, Store
from clew.bloom.runtime.strata.tasks import KeptTask, Task
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
    return map(draw, _numbers_in(portion))


def rows_of(machine: Machine, names: Sequence[str]) -> dict[str, Any]:
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


def comparable_names(drawn: Drawn) -> list[str]:
    """Return the collections that do not depend on how numbers are spelled; none, if all of them may.

    A lpset takes 1 and not 1.0.  Which of two equal rows an expression passes on is left open.
    """
    given = [value for step in drawn.steps for event in step for row in event.rows for value in row]
    spelled = any(isinstance(value, float | bool) for value in given) or "avg" in drawn.source
    if spelled and re.search(r"self\.p\d", drawn.source):
        return []
    return [name for name in drawn.names if not (spelled and name[0] == "p")]


def compare_with_naive_node(drawn: Drawn, *, spelled: bool = False) -> int:
    """Compare all steps, as far as they do not depend on the order of rounds, and return how many.

    ``spelled``: which spelling of a row is in a report is not compared.
    """
    names = comparable_names(drawn)
    if not names:
        return 0
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
        assert rows_of(node.machine, names) == {name: held[name] for name in names}, drawn.number
        assert set(stepped.sent) == expected.sent, drawn.number
        assert spelled or of_scratches(_reports(stepped)) == of_scratches(expected.reports), drawn.number
    return len(drawn.steps)


def _reports(stepped: StepResult) -> Iterator[tuple[str, str]]:
    return ((r.collection, r.message) for r in stepped.refused)


def of_scratches(reports: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what is said of scratches that are declared: the runtime tells of tables what is new.

    Which of two equal values is told, 1, 1.0 or True, is left open.
    """
    declared = ((name, said) for name, said in reports if name[0] in "sqo" and name[1:].isdigit())
    return {(name, _one_spelling(said)) for name, said in declared}


def _one_spelling(said: str) -> str:
    numbers = re.sub(r"(\d)\.0(?!\d)", r"\1", said)
    return re.sub(r"\b(True|False)\b", lambda found: str(int(found[0] == "True")), numbers)


@pytest.mark.parametrize("portion", PORTIONS)
def test_nodes_agree_with_a_naive_one(portion: int) -> None:
    comparable = [drawn for drawn in drawn_in(portion) if comparable_names(drawn)]
    assert len(comparable) > 0.7 * PORTION
    # Only a few programs end in a conflict within a recursion.
    assert sum(map(compare_with_naive_node, comparable)) > 0.8 * len(comparable) * STEPS


@pytest.mark.parametrize("portion", PORTIONS)
def test_rows_that_are_equal_are_one_however_they_are_spelled(portion: int) -> None:
    for number in _numbers_in(portion):
        compare_with_naive_node(draw(number, spelled=True), spelled=True)


def _numbers_in(portion: int) -> range:
    return range(portion * PORTION, (portion + 1) * PORTION)


@pytest.mark.parametrize("portion", PORTIONS)
def test_large_lattices_do_what_small_ones_do(portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE", 1)
    for drawn in drawn_in(portion):
        compare_with_naive_node(drawn)


@pytest.mark.parametrize("portion", PORTIONS)
def test_nodes_agree_with_a_naive_one_for_long(portion: int) -> None:
    for number in _numbers_in(portion)[::3]:
        drawn = draw(number, 5 * STEPS)
        # Sets of sets of sets, for so many steps, would be larger than the memory.
        if "accum" not in drawn.source:
            compare_with_naive_node(drawn)


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


# -- steps that fail ---------------------------------------------------------------------------------------------

#: What a step is made of, as far as it changes something that is kept.
PARTS: Sequence[tuple[type[Any], str]] = (
    *((Store, name) for name in ("extend", "remove", "has_changed", "compare_with", "forget_changes")),
    *((KeptTask, name) for name in ("advance", "difference", "count", "recount")),
    *((Task, name) for name in ("full", "new_rows")),
    *((Cell, "merge"), (KeptGroups, "_compute"), (KeptExtremes, "_change_group")),
)


class Interrupter:
    """Raises at one of the parts of a step, before or after it, when it has been told to."""

    def __init__(self, chance: random.Random, patch: pytest.MonkeyPatch) -> None:
        self._chance = chance
        self._left = 0
        for kind, name in PARTS:
            patch.setattr(kind, name, self._wrap(getattr(kind, name)))

    def _wrap(self, part: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            if self._left == 1 and self._chance.random() < 0.5:
                self._interrupt()
            found = part(*given)
            if self._left == 1:
                self._interrupt()
            self._left = max(0, self._left - 1)
            return found

        return run

    def _interrupt(self) -> None:
        self._left = 0
        raise KeyboardInterrupt

    def tick(self, node: Any) -> bool:
        """Let a node take a step that may fail; tell whether it did not."""
        self._left = self._chance.randint(1, 25)
        try:
            node.tick()
        except KeyboardInterrupt:
            return False
        finally:
            self._left = 0
        return True


def begin_again(drawn: Drawn, machine: Machine) -> Machine:
    """Return a new machine with what another one has in tables and lattices, and what waits there."""
    made: Machine = make(drawn).machine
    for name, cell in machine._cells.items():
        made._cells[name].merge(cell.value)
        made._cells[name].forget_changes()
    for name, store in machine._stores.items():
        if store.persists:
            made.restore(name, store.rows)
    waiting = machine.waiting
    for name, rows in waiting.inserted:
        made.insert(name, rows)
    for name, rows in waiting.deleted:
        made.delete(name, rows)
    for name, rows in waiting.sent:
        made.send(name, rows)
    made._waiting.merged += waiting.merged
    return made


@pytest.mark.parametrize("portion", PORTIONS)
def test_after_a_step_that_failed_all_is_as_at_a_node_that_begins_there(
    portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(portion)
    interrupter = Interrupter(chance, monkeypatch)
    failures = 0
    for drawn in drawn_in(portion):
        node, fresh = make(drawn), None
        for step in drawn.steps:
            for machine in (node.machine, *([fresh] if fresh else [])):
                for event in step:
                    getattr(machine, event.kind)(event.collection, event.rows)
            if chance.random() >= 0.25:
                node.tick()
            elif not interrupter.tick(node):
                failures += 1
                fresh = begin_again(drawn, node.machine)
                continue
            if fresh is not None:
                fresh.step()
                found, expected = ((rows_of(m, drawn.names), m.waiting) for m in (node.machine, fresh))
                assert found == expected, drawn.number
    assert failures > PORTION / 2
