"""Programs with externals in brackets: something stops working, something else happens, and it works again.

Independently drawn externals hardly ever make these, and they are where one event prevents another and a third
allows it again.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from clew.simulation.events import Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.pool import OUTSIDE
from clew.simulation.scenario import Network, Scenario
from clew.simulation.world import CodeBlock, External, WaitCondition, World
from exploration.programs import LETTERS, STATES, Note, Reaction, Table, maker, moved, poke, random_invariants

#: Longer sequences have more schedules than the references can execute.
_LONGEST = 6


def random_sequence_scenario(random: Random) -> Scenario:
    """Draw a program with externals that come in brackets."""
    names = ["a", "b", "c"][: random.choice((2, 3, 3, 3))]
    hops = random.choice((1, 1, 2, 2, 3))
    loss, duplication = random.choice(((0, 0), (0, 0), (0.5, 0), (0.5, 0), (0, 0.5), (0.5, 0.5)))
    timed, raising = random.choice((0.0, 0.0, 0.2)), random.choice((0.0, 0.0, 0.1))
    tables = {name: _table(random, names, timed, raising) for name in names}
    return Scenario(
        nodes={name: maker(tables[name], hops) for name in names},
        running=[name for name in names if random.random() < 0.9],
        before=_sequence(random, names, hops),
        after=random.choice(((), (WaitQuiescence(),), (WaitQuiescence(), Send(random.choice(names), Note(0, 0))))),
        invariants=random_invariants(random, names),
        network=random.choice((Network.FIFO, Network.FIFO, Network.REORDERING)),
        loss=loss,
        duplication=duplication,
        steps=200,
    )


def _table(random: Random, names: list[str], timed: float, raising: float) -> Table:
    """Draw what a node does: mostly it passes on what it gets, to one other node."""
    table: dict[tuple[int, int | str], Reaction] = {}
    for state in range(STATES):
        for what in (*range(LETTERS), "timer", "start"):
            number = (
                random.choice((0, 1, 1, 1, 1, 1, 2))
                if isinstance(what, int)
                else random.choice((0, 0, 0, 0, 0, 1))
            )
            sends = tuple((random.choice(names), random.randrange(LETTERS)) for _ in range(number))
            timer = random.choice((1, 1, -1)) if random.random() < timed else 0
            raises = what != "start" and random.random() < raising
            table[state, what] = Reaction(random.randrange(STATES), sends, timer, raises)
    return table


# -- what comes from outside -------------------------------------------------------------------------------------


def _sequence(random: Random, names: list[str], hops: int) -> list[External]:
    events: list[External] = [Send(random.choice(names), Note(random.randrange(LETTERS), hops))]
    for _ in range(random.choice((1, 1, 2))):
        events += _bracket(random, names, hops)
    if random.random() < 0.5:  # brackets that overlap, and what is sent in the midst of them
        place = random.randrange(len(events) - 1)
        events[place], events[place + 1] = events[place + 1], events[place]
    return events[:_LONGEST]


def _bracket(random: Random, names: list[str], hops: int) -> list[External]:
    """Draw something that is taken away, what happens meanwhile, and how it comes back."""
    opening, closing = _ends(random, names)
    inside: list[External] = []
    for _ in range(random.choice((0, 1, 1, 2))):
        if random.random() < 0.3:
            inside += _bracket(random, names, hops) if random.random() < 0.5 else [opening]
        else:
            inside.append(_anything(random, names, hops))
    return [opening, *inside, *([closing] if random.random() < 0.9 else [])]


def _ends(random: Random, names: list[str]) -> tuple[External, External]:
    node, other = random.sample(names, 2) if random.random() < 0.95 else [names[0]] * 2
    kind = random.randrange(10)
    if kind < 7:
        heal = random.choice((Heal(node, other), Heal(other, node), Heal()))
        return Partition(node, other, random.random() < 0.4), heal
    if kind < 9:
        return Stop(node), random.choice((Start(node), Restart(node)))
    return CodeBlock("block", _block(node, other)), random.choice((Heal(), CodeBlock("free", _free(node, other))))


def _anything(random: Random, names: list[str], hops: int) -> External:
    node, other = random.sample(names, 2)
    choices: list[Callable[[], External]] = [
        lambda: Send(node, Note(random.randrange(LETTERS), hops)),
        lambda: Partition(node, other, random.random() < 0.4),
        lambda: Heal(node, other),
        lambda: Heal(),
        lambda: Start(node),
        lambda: Stop(node),
        lambda: Restart(node),
        WaitQuiescence,
        lambda: WaitCondition("moved", moved(node, random.randrange(STATES))),
        lambda: WaitCondition("arriving", _is_arriving(node)),
        lambda: CodeBlock("poke", poke(node)),
        lambda: CodeBlock("tell", _tell(node)),
        lambda: CodeBlock("restart", _restart(node)),
        lambda: CodeBlock("block", _block(node, other)),
    ]
    weights = [3, 3, 2, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    (choice,) = random.choices(choices, weights)
    return choice()


def _block(node: str, other: str) -> Callable[[World], None]:
    return lambda world: world.pool.hold((node, other))


def _free(node: str, other: str) -> Callable[[World], None]:
    return lambda world: world.pool.release((node, other))


def _tell(node: str) -> Callable[[World], None]:
    return lambda world: world.send(OUTSIDE, node, Note(0, 1), 0)


def _restart(node: str) -> Callable[[World], None]:
    return lambda world: world.inject(Restart(node))


def _is_arriving(node: str) -> Callable[[World], bool]:
    return lambda world: any(envelope.target == node for envelope in world.pool.messages)
