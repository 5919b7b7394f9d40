"""Small random changes of a schedule, which a walk makes one after the other."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from clew.minimization.trial import Item, Target
from clew.simulation.events import Send

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
    deeds = [item for item in items if not isinstance(item, int)]
    if deeds:
        items.insert(random.randrange(len(items) + 1), random.choice(deeds))


def redirect(random: Random, items: list[Item], target: Target) -> None:
    """Replace a message from outside by one of its type that was recorded as sent to another node."""
    sent = {k: event for k, event in enumerate(target.externals) if isinstance(event, Send)}
    used = [item for item in items if isinstance(item, int) and item in sent]
    if not used:
        return
    old = random.choice(used)
    others = [
        k
        for k, event in sent.items()
        if k not in used and event.node != sent[old].node and type(event.message) is type(sent[old].message)
    ]
    if not others:
        return
    new = random.choice(others)
    for place, item in enumerate(items):
        if item == old:
            items[place] = new
        elif not isinstance(item, int) and item.origin == old:
            items[place] = item._replace(act=item.act._replace(target=sent[new].node), origin=new)


#: What a walk draws from: mostly leaving out, which is what it is for.
MOVES: tuple[Move, ...] = (leave_out, leave_out, leave_out_some, move, move, swap_neighbours, copy, redirect)
