"""The search for a linearization: Wing and Gong's, with Lowe's memory of configurations, and as late as possible.

A *configuration* is where the search is: the next answer, the state, and which operations under way have taken
effect already.  Operations take effect only when an answer demands it: if that operation has not happened yet,
others that are under way may happen before it, in any order, and then it does (Lowe, *Testing for
linearizability*, 2017, calls this just-in-time).  A configuration that was seen is not tried again.

Three reductions, all exact:

- A read that fits the state takes effect at once: it changes nothing, so it can stand in nobody's way.
- Of optional operations that do the same, the one that began first is taken.
- A configuration in which fewer optional operations have been used can do all that the other can.

The search is depth-first, since most histories are linearizable and nearly every first guess is right.  What it
costs is counted in configurations, not in seconds, so that the answer does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.budgets.deadline import Deadline
from clew.errors import EffortExhaustedError
from clew.histories.linearizability.machine import Machine
from clew.histories.linearizability.plan import Plan

#: How many configurations are looked at when nothing else is said: a few seconds' work, some 200 MB of memory.
DEFAULT_BUDGET = 1_000_000
#: The clock is asked every so often.
_TICK = 4096

#: The order so far, as a list that branches: the rest, and the last operation.
Order = tuple["Order | None", int]


class Configuration(NamedTuple):
    """Where a search is: ``done`` are the slots, ``used`` the optional operations, that have taken effect."""

    position: int
    state: int
    done: int
    used: int
    order: Order | None = None


@dataclass
class Budget:
    """How many configurations may still be looked at, and until when."""

    left: int = DEFAULT_BUDGET
    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    most: int = field(init=False)

    def __post_init__(self) -> None:
        self.most = self.left

    def spend(self) -> None:
        """Note one configuration; raise when there are none left."""
        # Counted before it is looked at, so that a budget of n means n configurations, never one more.
        self.left -= 1
        if self.left < 0:
            raise EffortExhaustedError(f"the budget of {self.most} states is used up")
        if not self.left % _TICK:
            self.deadline.check()


class Found(NamedTuple):
    """What a search came to: an order, or None; and the farthest answer that could not be reached with any."""

    order: tuple[int, ...] | None
    deepest: int


class Search:
    """Goes through the configurations of a plan, each once."""

    def __init__(self, plan: Plan, machine: Machine, budget: Budget) -> None:
        self._plan = plan
        self._machine = machine
        self._budget = budget
        self._seen: set[tuple[int, int, int]] = set()
        self._used: dict[tuple[int, int, int], list[int]] = {}

    def run(self, starts: Iterable[Configuration]) -> Found:
        """Return an order of all operations that the model allows, if there is one."""
        end, deepest = len(self._plan.answers), 0
        for arrived in self._explore(starts, end):
            if arrived.position == end:
                return Found(unroll(arrived.order), end)
            deepest = max(deepest, arrived.position)
        return Found(None, deepest)

    def reach(self, starts: Iterable[Configuration], until: int) -> list[Configuration]:
        """Return every configuration with which an answer can be reached."""
        return [arrived for arrived in self._explore(starts, until) if arrived.position == until]

    def _explore(self, starts: Iterable[Configuration], until: int) -> Iterator[Configuration]:
        """Yield each new configuration in which there is a choice, or which is at the end."""
        # A list of its own, not recursion: histories are longer than Python's stack is deep.
        stack = list(starts)
        settle, is_new, spend = self._settle, self._is_new, self._budget.spend
        while stack:
            here = settle(stack.pop(), until)
            # Only where there is a choice: what follows without one is found again from the same configuration.
            if is_new(here):
                spend()
                yield here
                if here.position < until:
                    stack.extend(self._choices(here))

    def _settle(self, given: Configuration, until: int) -> Configuration:
        """Go on as long as there is nothing to choose: reads that fit, and answers of what has happened."""
        position, state, done, used, order = given
        answers, after = self._plan.answers, self._machine.after
        moves = self._machine.moves[state]
        while position < until:
            answer = answers[position]
            for bit, action, number in answer.reads:
                if not done & bit:
                    fits = moves.get(action)
                    # Asked for in line, not through ``after``: this is where most of the time goes.
                    if fits is None:
                        fits = after(state, action)
                    if fits:
                        done |= bit
                        order = (order, number)
            if not done & answer.bit:
                break
            # The slot is free again; whoever gets it next has not begun yet.
            done ^= answer.bit
            position += 1
        return Configuration(position, state, done, used, order)

    def _choices(self, here: Configuration) -> Iterator[Configuration]:
        """Yield what can happen next, the most promising last: the operation whose answer comes."""
        position, state, done, used, order = here
        after = self._machine.after
        answer = self._plan.answers[position]
        # Last to be tried, so first on the stack: most operations of unknown outcome are not needed.
        for action, bits in self._plan.optional:
            free = bits & answer.begun & ~used
            if free:
                first = free & -free
                number = self._plan.optional_numbers[first.bit_length() - 1]
                for state_after in after(state, action):
                    yield Configuration(position, state_after, done, used | first, (order, number))
        for bit, action, number in reversed(answer.writes):
            if not done & bit:
                for state_after in after(state, action):
                    yield Configuration(position, state_after, done | bit, used, (order, number))

    def _is_new(self, here: Configuration) -> bool:
        position, state, done, used, _ = here
        place = (position, state, done)
        if not self._plan.optional:
            if place in self._seen:
                return False
            self._seen.add(place)
            return True
        # What has been used less can do all that this can, and what has been used more need not be remembered.
        fewest = self._used.setdefault(place, [])
        if any(known & used == known for known in fewest):
            return False
        fewest[:] = [known for known in fewest if used & known != used]
        fewest.append(used)
        return True


def start_of(machine: Machine) -> list[Configuration]:
    """Return where every search begins: nothing has happened."""
    return [Configuration(0, machine.initial, 0, 0)]


def unroll(order: Order | None) -> tuple[int, ...]:
    """Return the numbers of operations in the order in which they took effect."""
    numbers = []
    while order is not None:
        order, number = order
        numbers.append(number)
    return tuple(reversed(numbers))
