"""The causal order of an execution: what a violation rests on, and the canonical order of the same events.

``causal_past`` is the first stage of the paper (provenance): events outside the causal past of the violation
cannot have had a part in it.

Events at different nodes that do not depend on each other can be told in any order.  In canonical order processes
start first, what comes from outside comes just before it is delivered, and then every chain of causes is told to
its end before another begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.minimization.trial import Item, Schedule, Target, repeat_recorded
from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop
from clew.simulation.execution.steps import Do
from clew.simulation.world import CodeBlock, Happened


def causal_past(target: Target, schedule: Schedule) -> Schedule:
    """Return the items that the violation rests on, or that may concern everything.

    What the network did (losses, copies) and code blocks stay: they are in no order with the events of a node.
    With a code block stays what it delivered, and what was at the nodes that it restarted.  A violation that names
    no node is about all, also about those that are down.
    """
    run = repeat_recorded(target, schedule)
    assert run.world.history is not None and run.broken is not None
    blocks = [k for k, item in enumerate(schedule) if _is_block(target, item)]
    needed = _closure(run.world.history, run.broken.nodes or tuple(target.scenario.nodes), blocks)
    return tuple(item for k, item in enumerate(schedule) if k in needed or _is_global(target, item))


def _closure(history: Sequence[Happened], nodes: Sequence[str], blocks: Sequence[int]) -> set[int]:
    pending: list[int] = [*blocks]
    for node in nodes:
        # The last event of a node has all before it at the same node in its past.
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


def canonicalize(target: Target, schedule: Schedule) -> list[Item]:
    """Return the same events in canonical order, with every event after those that it depends on."""
    depends = _dependencies(target, schedule)
    order = {name: k for k, name in enumerate(target.scenario.nodes)}
    waiting = [place for place, item in enumerate(schedule) if not _is_message(target, item)]
    sent = {item for item in schedule if isinstance(item, int) and _is_message(target, item)}
    told: dict[int, int] = {}
    items: list[Item] = []
    while waiting:
        # Quadratic, on executions that are minimized: a few dozen events.
        ready = [place for place in waiting if depends[place] <= told.keys()]
        place = min(ready, key=lambda place: _urgency(target, schedule, place, depends[place], told, order))
        waiting.remove(place)
        told[place] = len(told)
        item = schedule[place]
        # A message from outside just before its first delivery, which is where a reader looks for it.
        if not isinstance(item, int) and item.origin in sent:
            sent.remove(item.origin)
            items.append(item.origin)
        items.append(item)
    return items


def _urgency(
    target: Target,
    schedule: Sequence[Item],
    place: int,
    depends: set[int],
    told: dict[int, int],
    order: dict[str, int],
) -> tuple[int, int, int]:
    """Rank what comes first: processes that start, what comes from outside to them, then the latest chain."""
    item = schedule[place]
    if isinstance(item, int):
        event = target.externals[item]
        return (0, order[event.node], place) if isinstance(event, Start) else (2, place, 0)
    first = all(isinstance(schedule[k], int) for k in depends)
    if first and not item.act.source:
        return (1, order[item.act.target], place)
    return (2, -max((told[k] for k in depends), default=-1), place)


def _is_message(target: Target, item: Item) -> bool:
    return isinstance(item, int) and isinstance(target.externals[item], Send)


def _dependencies(target: Target, schedule: Schedule) -> list[set[int]]:
    """Return, by place, the places that have to come before; messages from outside are left out of this."""
    history = repeat_recorded(target, schedule).world.history
    assert history is not None
    messages = {place for place, item in enumerate(schedule) if _is_message(target, item)}
    depends: list[set[int]] = []
    barrier: set[int] = set()
    for place, item in enumerate(schedule):
        if place in messages:
            depends.append(set())
        elif _concerns_all(target, item):
            depends.append(set(range(place)) - messages)
            barrier = {place}
        else:
            depends.append((set(history[place].depends) - messages) | barrier)
    return depends


def _concerns_all(target: Target, item: Item) -> bool:
    """Tell whether an item changes who hears whom, and so stays where it is."""
    if isinstance(item, int):
        return isinstance(target.externals[item], CodeBlock | Partition | Heal | Stop | Restart)
    return item.act.do is not Do.DELIVER
