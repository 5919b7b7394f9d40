"""Verdicts against behaviour: the same inputs in many random orders of events, and do they end alike?

Where two orders end differently, the difference is made small: the prompt order on one side, and on the other one
with as few late events, and as few inputs, as are needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from clew.bloom.values import Row, in_order
from clew.consistency.calm import Analysis, Label, Output
from clew.consistency.runs import MOST_ROUNDS, EndlessError, Event, Firing, Message, Order, Run, Step, run
from clew.consistency.workloads import Input, Workload
from clew.errors import UsageError

_T = TypeVar("_T")
#: When so many times more orders than wanted had to be left out, there are no others.
_MOST_LEFT_OUT = 5
#: By how much events are late at most; each random order takes one of these, so that some are nearly prompt.
SPREADS = (1, 3, 8, 24)


@dataclass(frozen=True)
class Difference:
    """The first collection in which two runs differ, and the rows that only one of them has."""

    node: str
    collection: str
    only_first: tuple[Row, ...]
    only_second: tuple[Row, ...]


@dataclass(frozen=True)
class Pair:
    """Two orders of the same inputs that end differently: the prompt one, and one with ``late`` events.

    ``seed`` is the one with which it was found.
    """

    workload: Workload
    late: Order
    prompt_run: Run
    late_run: Run
    difference: Difference
    seed: int


@dataclass(frozen=True)
class Tried:
    """``orders`` random orders were compared; ``pair`` is None if all of them end alike.

    ``left_out``: orders in which two rows with one key met, and one was refused.  Keys are taken to hold.
    """

    orders: int
    pair: Pair | None
    left_out: int = 0


def try_orders(workload: Workload, collections: Iterable[str], *, orders: int = 200, seed: int = 0) -> Tried:
    """Runs in the prompt order and in random ones; what they show of the collections is compared."""
    watched = tuple(dict.fromkeys(collections))
    prompt = run(workload, _prompt, watched)
    _refuse_refusals(prompt)
    compared = left_out = 0
    while compared < orders and left_out <= _MOST_LEFT_OUT * orders:
        number = seed + compared + left_out
        drawn = _Drawn(number)
        other = run(workload, drawn.late, watched)
        if other.refused:
            left_out += 1
            continue
        compared += 1
        if other.shown != prompt.shown:
            return Tried(compared, _shortened(workload, drawn.drawn, watched, number), left_out)
    return Tried(compared, None, left_out)


def try_analysis(
    analysis: Analysis, workload: Workload, *, orders: int = 200, seed: int = 0
) -> dict[tuple[Output, ...], Tried]:
    """The consistent outputs together, with the tables that they depend on; the others one by one."""
    tried = {}
    consistent = tuple(output for output in analysis.outputs if output.label.consistent)
    if consistent:
        tried[consistent] = try_orders(workload, consistent_state(analysis), orders=orders, seed=seed)
    for output in analysis.outputs:
        if output.label is Label.DIVERGES:
            tried[output,] = try_orders(workload, [output.name], orders=orders, seed=seed)
    return tried


def consistent_state(analysis: Analysis) -> tuple[str, ...]:
    """The outputs that are labelled consistent, and what is stored on the way to them."""
    names = [output.name for output in analysis.outputs if output.label.consistent]
    before = analysis.flow.reaching(names)
    stored = [node.name for node in analysis.flow.nodes if node.kind.stored and node.name in before]
    return tuple(dict.fromkeys([*names, *stored]))


def _refuse_refusals(prompt: Run) -> None:
    if prompt.refused:
        raise UsageError(
            f"a row is refused when every message arrives at once: {prompt.refused[0]}",
            remedy="give rows that do not share a key with others, or at another step",
        )


def _prompt(_: Event) -> int:
    return 0


class _Drawn:
    """A random order; ``drawn`` is what was late so far."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._messages = self._chance.choice(SPREADS)
        self._timers = self._chance.choice(SPREADS)
        # In half of the orders, all nodes step at the same speed.
        self._steps = self._chance.choice((0, 0, 1, 3))
        self.drawn: dict[Event, int] = {}

    def late(self, event: Event) -> int:
        match event:
            case Message():
                most = self._messages
            case Firing():
                most = self._timers
            case Step():
                most = self._steps
        by = self._chance.randint(0, most)
        if by:
            self.drawn[event] = by
        return by


# -- short pairs -------------------------------------------------------------------------------------------------

#: A simpler order may take this many rounds more.
_MORE_ROUNDS = 20


def _shortened(workload: Workload, late: Order, watched: tuple[str, ...], seed: int) -> Pair:
    found = _pair(workload, late, watched, seed, MOST_ROUNDS)
    assert found is not None
    shrinking = _Shrinking(found, watched)
    while shrinking.sweep():
        pass
    return shrinking.pair


class _Shrinking:
    """Leaves out what need not be late and what need not be given, as long as the two orders end differently."""

    def __init__(self, pair: Pair, watched: tuple[str, ...]) -> None:
        self.pair = pair
        self._watched = watched

    def sweep(self) -> bool:
        """Whether something could be left out, or be less late."""
        before = self.pair
        _leave_out(lambda: tuple(self.pair.late), self._with_late_events)
        _leave_out(lambda: self.pair.workload.inputs, self._with_inputs)
        for event in tuple(self.pair.late):
            while any(self._with_late({**self.pair.late, event: by}) for by in _less(self.pair.late[event])):
                pass
        return self.pair is not before

    def _with_late_events(self, events: tuple[Event, ...]) -> bool:
        return self._with_late({event: self.pair.late[event] for event in events})

    def _with_late(self, late: Order) -> bool:
        return self._try(self.pair.workload, late, self.pair.prompt_run)

    def _with_inputs(self, inputs: tuple[Input, ...]) -> bool:
        return self._try(replace(self.pair.workload, inputs=inputs), self.pair.late, None)

    def _try(self, workload: Workload, late: Order, prompt: Run | None) -> bool:
        most = max(self.pair.prompt_run.rounds, self.pair.late_run.rounds) + _MORE_ROUNDS
        found = _pair(workload, late, self._watched, self.pair.seed, most, prompt=prompt)
        self.pair = found or self.pair
        return found is not None


def _less(late: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(by for by in (1, late // 2, late - 1) if 0 < by < late))


def _leave_out(things: Callable[[], tuple[_T, ...]], works: Callable[[tuple[_T, ...]], bool]) -> None:
    """Large parts first, then smaller ones, then single things."""
    size = len(things())
    while size:
        start = 0
        while start < len(things()):
            if not works(things()[:start] + things()[start + size :]):
                start += size
        size //= 2


def _pair(
    workload: Workload, late: Order, watched: tuple[str, ...], seed: int, most: int, *, prompt: Run | None = None
) -> Pair | None:
    """None if the two orders end alike, or do not end."""
    drawn = dict(late)
    try:
        other = run(workload, lambda event: drawn.get(event, 0), watched, most_rounds=most)
        prompt = prompt or run(workload, _prompt, watched, most_rounds=most)
    except EndlessError:
        return None
    difference = None if prompt.refused or other.refused else _difference(prompt, other)
    return None if difference is None else Pair(workload, drawn, prompt, other, difference, seed)


def _difference(first: Run, second: Run) -> Difference | None:
    for one, other in zip(first.shown, second.shown, strict=True):
        if one != other:
            return Difference(
                one.node,
                one.collection,
                tuple(in_order(row for row in one.rows if row not in other.rows)),
                tuple(in_order(row for row in other.rows if row not in one.rows)),
            )
    return None
