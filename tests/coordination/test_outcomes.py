"""A synthesized program has one outcome: in all orders of rows and punctuations, all batchings, with empty steps.

On components drawn at random (``drawn_programs``), by a driver that shares nothing with the synthesis
(``schedules``).  Seals are declared, so that the proof of ``worlds`` decides, whatever the analysis recommends.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from clew.analysis.blazes.extraction.system import extract
from clew.coordination.components import ClassProgram
from clew.coordination.planning import order_component
from clew.coordination.plans import OrderPlan, SealedComponent, SealedInput, SealPlan, Service
from clew.coordination.seal_planning import seal_component
from clew.coordination.synthesis import build_class
from clew.errors import ClewError
from coordination.drawn_programs import Drawn, draw
from coordination.schedules import Outcome, Partitioned, again, play, states
from long_mode import first_of

PARTS = 4
_SCHEDULES = 5
#: What has to be among the components that are sealed.
KINDS = ("sealed", "refused", "shown", "two inputs", "in common", "requests", "one by one", "settling")


def _seeds(part: int, programs: int, thorough: bool) -> range:
    return range(part, 20_000 if thorough else programs, PARTS)


# -- seals -------------------------------------------------------------------------------------------------------


def _plan(drawn: Drawn, cls: Any, chance: random.Random) -> SealPlan:
    names = ["a", "b"] if "b" in drawn.inputs and chance.random() < 0.5 else ["a"]
    key = "k" if chance.random() < 0.9 else "v"
    (component,) = extract(cls).dataflow.components
    part = seal_component(ClassProgram.read(cls), component, [SealedInput(name, (key,)) for name in names])
    return SealPlan((part,), independent=chance.random() < 0.4)


def _rows(chance: random.Random, most: int) -> list[tuple[int, int]]:
    return sorted({(chance.randint(1, 2), chance.randint(1, 3)) for _ in range(chance.randint(1, most))})


def _outcomes(drawn: Drawn, cls: Any, plan: SealPlan, chance: random.Random) -> set[Outcome]:
    (part,) = plan.components
    at = {one.interface: drawn.inputs[one.interface].index(one.key[0]) for one in part.inputs}
    producers = 1 if plan.independent else chance.randint(1, 3)
    sealed = Partitioned({name: _rows(chance, 5) for name in at}, at, producers)
    others = [(name, row) for name in drawn.inputs if name not in at for row in _rows(chance, 3)]
    first = [] if plan.independent else sealed.known()
    node: Any = build_class(cls, plan)("n")
    found = set()
    for _ in range(_SCHEDULES):
        node = again(node)
        events = [*sealed.events(), *others]
        found.add(play(node, first, events, chance, outputs=drawn.outputs, tables=drawn.tables))
        assert _left(node, part) == [], "everything was let in"
    return found


def _left(node: Any, part: SealedComponent) -> list[Any]:
    """What waits in the end, and nobody knows why.  A request about a partition that nobody ends waits for it."""
    held = [row for one in part.inputs for row in getattr(node, f"{one.interface}_seals").held]
    known = {row.partition for one in part.inputs for row in getattr(node, f"{one.interface}_seals").gone}
    for read in part.reads:
        reads = getattr(node, f"{read.interface}_reads")
        held += [row for row in reads.waiting if row.partition in known] if read.key else list(reads.to_ask)
    return held


@pytest.mark.parametrize("part", first_of(range(PARTS), 1))
def test_sealed_components_have_one_outcome(part: int, thorough: bool) -> None:
    count: Counter[str] = Counter()
    for seed in _seeds(part, 200, thorough):
        chance = random.Random(seed)
        drawn = draw(seed)
        try:
            cls = drawn.module()
            plan = _plan(drawn, cls, chance)
        except ClewError:
            count["refused"] += 1
            continue
        found = _outcomes(drawn, cls, plan, chance)
        assert len(found) == 1, (seed, plan, drawn.text, found)
        (one,) = found
        count["sealed"] += 1
        count["shown"] += bool(one.shown)
        count["two inputs"] += len(plan.components[0].inputs) > 1
        count["in common"] += len(plan.components[0].groups[0]) > 1
        count["requests"] += bool(plan.components[0].reads)
        count["one by one"] += plan.components[0].one_by_one
        count["settling"] += bool(plan.components[0].watched)
    assert min(count[kind] for kind in KINDS) >= 2, count
    assert count["shown"] > count["sealed"] / 3, count


# -- orders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", first_of(range(PARTS), 1))
def test_ordered_replicas_go_through_the_same_states(part: int, thorough: bool) -> None:
    count: Counter[str] = Counter()
    for seed in _seeds(part, 120, thorough):
        chance = random.Random(seed)
        drawn = draw(seed, tame=0.6)
        try:
            cls = drawn.module()
            one = order_component(ClassProgram.read(cls), "", tuple(drawn.inputs))
        except ClewError:
            count["refused"] += 1
            continue
        node: Any = build_class(cls, OrderPlan((one,), Service.ZOOKEEPER))("n")
        ordered = [(name, row) for name in drawn.inputs for row in _rows(chance, 3)]
        chance.shuffle(ordered)
        outputs = drawn.outputs if one.watched is not None else ()  # else an empty step shows less
        runs = [states(again(node), ordered, chance, outputs=outputs, tables=drawn.tables) for _ in range(3)]
        assert runs[0] == runs[1] == runs[2], (seed, drawn.text, ordered)
        count["ordered"] += 1
        count["settling"] += bool(one.watched)
    assert count["ordered"] > count["settling"] > count["refused"] > 0, count
