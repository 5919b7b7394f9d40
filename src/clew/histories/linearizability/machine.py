"""A model as a machine of numbers: states and operations are numbered, and each transition is computed once.

Searching compares states millions of times, and asks for the same transition again and again: of a register with
five values there are five states and a few dozen transitions, however long the history is.
"""

from __future__ import annotations

from typing import Any

from clew.budgets.deadline import exhaustion_of
from clew.errors import ClewError, UsageError, describe_exception
from clew.histories.models.base import Model
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Value, show_value


class Machine:
    """Numbers the states and the operations of one model; both compare by what they are."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.states: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._actions: dict[tuple[Value, ...], int] = {}
        self._operations: list[Operation] = []
        #: By state, the states that follow each action, as far as they were asked for.
        self.moves: list[dict[int, tuple[int, ...]]] = []
        self.initial = self._number(model.initial)

    def action(self, op: Operation) -> int:
        """Return the number of what an operation does; the same for all that cannot be told apart by the model."""
        process = op.process if self.model.by_process else None
        # The types, too: to Python, 1 and True are the same key, and a model may tell them apart.
        kinds = (type(op.argument), type(op.result))
        known = (process, op.function, op.argument, op.result, op.outcome is Outcome.UNKNOWN, *kinds)
        # The first operation stands for all of its kind: a model sees nothing else of them.
        number = self._actions.get(known)
        if number is None:
            number = self._actions[known] = len(self._operations)
            self._operations.append(op)
        return number

    def after(self, state: int, action: int) -> tuple[int, ...]:
        """Return the states that an action leads to; none if it is impossible."""
        known = self.moves[state].get(action)
        if known is None:
            known = self.moves[state][action] = self._step(state, self._operations[action])
        return known

    def _step(self, state: int, op: Operation) -> tuple[int, ...]:
        follow = self._ask(state, op)
        if follow is not None and not isinstance(follow, list):
            raise UsageError(
                f"step of the model {self.model.name} returned {type(follow).__name__} for {op.function}",
                remedy="return a list of the states that may follow, or None",
            )
        numbers = tuple(dict.fromkeys(map(self._number, follow or ())))
        # What reads are is taken on trust by the search, which performs them as early as it can.
        if op.function in self.model.reads and any(number != state for number in numbers):
            raise UsageError(
                f"the model {self.model.name} calls {op.function} a read, and it changes"
                f" {show_value(self.states[state])}",
                remedy="leave it out of 'reads'",
            )
        return numbers

    def _ask(self, state: int, op: Operation) -> list[Any] | None:
        try:
            return self.model.step(self.states[state], op)
        except ClewError:
            raise
        except (MemoryError, RecursionError) as error:
            asked = f"for {op.function} in {show_value(self.states[state])}"
            raise exhaustion_of(error, f"in step of the model {self.model.name}, {asked}") from None
        except Exception as error:  # of the user's code, which may raise anything
            raise UsageError(
                f"step of the model {self.model.name} raised {describe_exception(error)}, for {op.function} in"
                f" {show_value(self.states[state])}",
                remedy="it must cope with every state and operation; None says that it cannot happen",
            ) from error

    def _number(self, state: Any) -> int:
        try:
            # Equal states are one: this is where a search is kept from going the same way again.
            number = self._numbers.setdefault(state, len(self.states))
        except TypeError:
            raise UsageError(
                f"a state of the model {self.model.name} is a {type(state).__name__}, which cannot be hashed",
                remedy="use tuples and frozensets for states",
            ) from None
        if number == len(self.states):
            self.states.append(state)
            self.moves.append({})
        return number
