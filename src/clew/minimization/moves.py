"""The changes that a walk makes to a schedule: each one at random, in place, and whether it helps or not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from clew.minimization.exchanging import Exchange, apply_exchange, describe_delivery
from clew.minimization.trial import Item, Target
from clew.simulation.events import Send
from clew.simulation.world import External

#: How often a message is exchanged for one to another node, rather than for any: recordings often have hundreds of
#: commands to a node that differ in nothing that matters.
_ELSEWHERE = 0.75

Move = Callable[[Random, list[Item], Target], None]


def leave_out(random: Random, items: list[Item], target: Target) -> None:
    if items:
        del items[random.randrange(len(items))]


def leave_out_some(random: Random, items: list[Item], target: Target) -> None:
    for _ in range(random.randrange(2, 5)):
        leave_out(random, items, target)


def move(random: Random, items: list[Item], target: Target) -> None:
    if len(items) > 1:
        item = items.pop(random.randrange(len(items)))
        items.insert(random.randrange(len(items) + 1), item)


def swap_neighbours(random: Random, items: list[Item], target: Target) -> None:
    if len(items) > 1:
        k = random.randrange(len(items) - 1)
        items[k], items[k + 1] = items[k + 1], items[k]


def copy(random: Random, items: list[Item], target: Target) -> None:
    """Deliver once more what was delivered somewhere else: there may be another of that type."""
    acts = [item for item in items if not isinstance(item, int)]
    if acts:
        items.insert(random.randrange(len(items) + 1), random.choice(acts))


def replace_external(random: Random, items: list[Item], target: Target) -> None:
    """Exchange an event from outside for another of its type, a message mostly for one to another node."""
    used = [item for item in items if isinstance(item, int)]
    if not used:
        return
    old = random.choice(used)
    event = target.externals[old]
    alike = [k for k, other in enumerate(target.externals) if k not in used and _is_alike(event, other)]
    if isinstance(event, Send) and random.random() < _ELSEWHERE:
        alike = [k for k in alike if getattr(target.externals[k], "node", "") != event.node]
    if alike:
        new = random.choice(alike)
        items[:] = apply_exchange(items, Exchange(old, new, describe_delivery(target, new)))


def _is_alike(event: External, other: External) -> bool:
    if isinstance(event, Send) and isinstance(other, Send):
        return type(event.message) is type(other.message)
    return type(event) is type(other)


#: What a walk draws from: mostly leaving out, which is what it is for.
MOVES: tuple[Move, ...] = (
    leave_out,
    leave_out,
    leave_out_some,
    move,
    move,
    swap_neighbours,
    copy,
    replace_external,
)
