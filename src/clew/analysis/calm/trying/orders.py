"""Verdicts against behaviour: the same inputs in many random orders of events, and do they end alike?

What varies is what the label makes a promise about.  M and A: when messages arrive, in which steps rows are
given and so which come together, and how many empty steps there are.  N: when messages arrive, while every node
has the same steps with the same rows given in them; then its contents must be the same in every step that two
runs both have.

Where two orders end differently, the difference is made small: the prompt order on one side, and on the other one
with as few late events, and as few inputs, as are needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from clew.analysis.calm.analysis import Analysis, Label, Output
from clew.analysis.calm.trying.runs import (
    MOST_ROUNDS,
    End,
    EndlessError,
    Event,
    Firing,
    Given,
    Message,
    Order,
    Run,
    Step,
    run,
)
from clew.analysis.calm.trying.workloads import Input, Workload
from clew.bloom.runtime.endless import EndlessStepError
from clew.bloom.values import Row, sort_rows
from clew.errors import UsageError

_T = TypeVar("_T")
#: When so many times more orders than wanted had to be left out, there are no others.
_MOST_LEFT_OUT = 5
#: By how much events are late at most; each random order takes one of these, so that some are nearly prompt.
SPREADS = (1, 3, 8, 24)


@dataclass(frozen=True)
class Difference:
    """The first collection in which two runs differ, and the rows that only one of them has.

    ``step``: of the node, where the contents of single steps are compared.
    """

    node: str
    collection: str
    only_first: tuple[Row, ...]
    only_second: tuple[Row, ...]
    step: int | None = None


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


@dataclass(frozen=True)
class Trial:
    """Outputs that were tried together.  ``steps_given``: each node had the same steps in all orders."""

    outputs: tuple[Output, ...]
    steps_given: bool
    tried: Tried

    @property
    def contradicts(self) -> bool:
        """Tell whether a promise of a label is broken."""
        promises = (Label.NONMONOTONE,) if self.steps_given else (Label.MONOTONE, Label.ASYNCHRONOUS)
        return self.tried.pair is not None and any(output.label in promises for output in self.outputs)


def try_orders(
    workload: Workload,
    collections: Iterable[str],
    *,
    orders: int = 200,
    seed: int = 0,
    steps_given: bool = False,
) -> Tried:
    """Compare what the prompt order and random ones show of the collections.

    ``steps_given``: the rows that are given come in their steps, and contents are compared step by step.
    """
    # The prompt order is the one to compare with: a user can follow it, and it is half of the pair that is shown.
    watched = tuple(dict.fromkeys(collections))
    prompt = run(workload, _prompt, watched)
    _refuse_refusals(prompt)
    compared = left_out = 0
    while compared < orders and left_out <= _MOST_LEFT_OUT * orders:
        number = seed + compared + left_out
        drawn = _Drawn(number, steps_given=steps_given)
        other = run(workload, drawn.late, watched)
        # The labels take for granted that keys hold; an order that breaks one says nothing about them.
        if other.refused:
            left_out += 1
            continue
        compared += 1
        difference = _difference(prompt, other, steps_given=steps_given)
        if difference is not None:
            found = Pair(workload, drawn.drawn, prompt, other, difference, number)
            return Tried(compared, _shorten(found, watched, steps_given=steps_given), left_out)
    return Tried(compared, None, left_out)


def try_analysis(analysis: Analysis, workload: Workload, *, orders: int = 200, seed: int = 0) -> tuple[Trial, ...]:
    """Try the consistent outputs together, with the tables that they depend on, and the others one by one.

    An output with N is tried twice: with given steps, for what its label promises, and with others.
    """
    trials = []
    consistent = tuple(output for output in analysis.outputs if output.label.consistent)
    if consistent:
        tried = try_orders(workload, consistent_state(analysis), orders=orders, seed=seed)
        trials.append(Trial(consistent, False, tried))
    for output in analysis.outputs:
        if output.label is Label.NONMONOTONE:
            tried = try_orders(workload, [output.name], orders=orders, seed=seed, steps_given=True)
            trials.append(Trial((output,), True, tried))
        if output.label in (Label.NONMONOTONE, Label.DIVERGES):
            trials.append(Trial((output,), False, try_orders(workload, [output.name], orders=orders, seed=seed)))
    return tuple(trials)


def consistent_state(analysis: Analysis) -> tuple[str, ...]:
    """Return the outputs that are labelled consistent, and what is stored for good on the way to them."""
    names = [output.name for output in analysis.outputs if output.label.consistent]
    # What is stored on the way shows a difference that the output may hide by luck.
    before = analysis.flow.leading_to(names)
    # What is deleted is there or not depending on when one looks, and no label says otherwise.
    losing = {statement.target for statement in analysis.flow.statements if statement.deletes}
    stored = [n.name for n in analysis.flow.nodes if n.kind.stored and n.name in before and n.name not in losing]
    return tuple(dict.fromkeys([*names, *stored]))


def _refuse_refusals(prompt: Run) -> None:
    if prompt.refused:
        raise UsageError(
            f"a row is refused when every message arrives at once: {prompt.refused[0]}",
            remedy="give rows that do not share a key with others, or at another step, and that functions take",
        )


def _prompt(_: Event) -> int:
    return 0


class _Drawn:
    """A random order; ``drawn`` is what was late so far."""

    def __init__(self, seed: int, *, steps_given: bool = False) -> None:
        self._chance = random.Random(seed)
        # Spreads are drawn per order: with one for all, either nearly nothing or nearly everything is late.
        self._messages = self._chance.choice(SPREADS)
        self._timers = self._chance.choice(SPREADS)
        # In half of the orders, all nodes step at the same speed.
        self._steps = self._chance.choice((0, 0, 1, 3))
        # In some, rows are given in the steps that they are meant for; in others, they come together or later.
        self._inputs = 0 if steps_given else self._chance.choice((0, 1, 3, 8))
        self._ends = 0 if steps_given else self._chance.choice((0, 0, 1, 2))
        self.drawn: dict[Event, int] = {}

    def late(self, event: Event) -> int:
        match event:
            case Message():
                most = self._messages
            case Firing():
                most = self._timers
            case Step():
                most = self._steps
            case Given():
                most = self._inputs
            case End():
                most = self._ends
        by = self._chance.randint(0, most)
        if by:
            self.drawn[event] = by
        return by


# -- short pairs -------------------------------------------------------------------------------------------------

#: A simpler order may take this many rounds more.
_MORE_ROUNDS = 20


def _shorten(found: Pair, watched: tuple[str, ...], *, steps_given: bool) -> Pair:
    again = _pair(found.workload, found.late, watched, found.seed, MOST_ROUNDS, steps_given=steps_given)
    if again is None:
        return found  # chance decides, and not the order: nothing can be left out for certain
    shrinking = _Shrinking(again, watched, steps_given=steps_given)
    while shrinking.sweep():
        pass
    return shrinking.pair


class _Shrinking:
    """Leaves out what need not be late and what need not be given, as long as the two orders end differently."""

    def __init__(self, pair: Pair, watched: tuple[str, ...], *, steps_given: bool) -> None:
        self.pair = pair
        self._watched = watched
        self._steps_given = steps_given

    def sweep(self) -> bool:
        """Leave out or speed up what can be; tell whether something could."""
        before = self.pair
        _leave_out(lambda: tuple(self.pair.late), self._with_late_events)
        _leave_out(lambda: self.pair.workload.inputs, self._with_inputs)
        # Events that must come together are less late together.
        while any(by > 1 for by in self.pair.late.values()) and self._with_late(
            {event: by - 1 for event, by in self.pair.late.items() if by > 1}
        ):
            pass
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
        # A candidate that runs much longer is not simpler, and one that never ends must not hold up the search.
        most = max(self.pair.prompt_run.rounds, self.pair.late_run.rounds) + _MORE_ROUNDS
        found = _pair(
            workload, late, self._watched, self.pair.seed, most, steps_given=self._steps_given, prompt=prompt
        )
        self.pair = found or self.pair
        return found is not None


def _less(late: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(by for by in (1, late // 2, late - 1) if 0 < by < late))


def _leave_out(things: Callable[[], tuple[_T, ...]], works: Callable[[tuple[_T, ...]], bool]) -> None:
    """Large parts first, then smaller ones, then single things."""
    # Halving, as delta debugging does: most of what is drawn is not needed, and goes in a few runs.
    size = len(things())
    while size:
        start = 0
        while start < len(things()):
            if not works(things()[:start] + things()[start + size :]):
                start += size
        size //= 2


def _pair(
    workload: Workload,
    late: Order,
    watched: tuple[str, ...],
    seed: int,
    most: int,
    *,
    steps_given: bool,
    prompt: Run | None = None,
) -> Pair | None:
    """Return None if the two orders end alike, or do not end."""
    drawn = dict(late)
    try:
        other = run(workload, lambda event: drawn.get(event, 0), watched, most_rounds=most)
        prompt = prompt or run(workload, _prompt, watched, most_rounds=most)
    except (EndlessError, EndlessStepError):
        return None
    difference = None
    if not (prompt.refused or other.refused):
        difference = _difference(prompt, other, steps_given=steps_given)
    return None if difference is None else Pair(workload, drawn, prompt, other, difference, seed)


def _difference(first: Run, second: Run, *, steps_given: bool) -> Difference | None:
    if steps_given:
        return _difference_in_steps(first, second)
    for one, other in zip(first.shown, second.shown, strict=True):
        if one != other:
            return Difference(one.node, one.collection, *_only(one.rows, other.rows))
    return None


def _difference_in_steps(first: Run, second: Run) -> Difference | None:
    for shown, one, other in zip(first.shown, first.by_step, second.by_step, strict=True):
        for step, (rows, others) in enumerate(zip(one, other, strict=False), 1):
            if rows != others:
                return Difference(shown.node, shown.collection, *_only(rows, others), step)
    return None


def _only(rows: tuple[Row, ...], others: tuple[Row, ...]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    return (
        tuple(sort_rows(row for row in rows if row not in others)),
        tuple(sort_rows(row for row in others if row not in rows)),
    )
