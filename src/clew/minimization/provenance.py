"""Leaving out what cannot have had a part in the violation: events outside its causal past."""

from __future__ import annotations

from collections.abc import Sequence

from clew.minimization.trial import Item, Schedule, Target, again
from clew.simulation.execution.steps import Do
from clew.simulation.world import CodeBlock, Happened


def causal_past(target: Target, schedule: Schedule) -> Schedule:
    """The items that the violation rests on, or that may concern everything.

    What the network did (losses, copies) and code blocks stay: they are in no order with the events of a node.
    With a code block stays what it delivered, and what was at the nodes that it restarted.  A violation that names
    no node is about all, also about those that are down.
    """
    run = again(target, schedule)
    assert run.world.history is not None and run.broken is not None
    blocks = [k for k, item in enumerate(schedule) if _is_block(target, item)]
    needed = _closure(run.world.history, run.broken.nodes or tuple(target.scenario.nodes), blocks)
    return tuple(item for k, item in enumerate(schedule) if k in needed or _is_global(target, item))


def _closure(history: Sequence[Happened], nodes: Sequence[str], blocks: Sequence[int]) -> set[int]:
    pending: list[int] = [*blocks]
    for node in nodes:
        at_node = [h.number for h in history if h.node == node]
        pending += at_node[-1:]
    needed: set[int] = set()
    while pending:
        number = pending.pop()
        if number not in needed:
            needed.add(number)
            pending += history[number].depends
    return needed


def _is_global(target: Target, item: Item) -> bool:
    return _is_block(target, item) if isinstance(item, int) else item.act.do is not Do.DELIVER


def _is_block(target: Target, item: Item) -> bool:
    return isinstance(item, int) and isinstance(target.externals[item], CodeBlock)
