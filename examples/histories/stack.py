"""A sequential model of one's own: a stack, for histories of ``push`` and ``pop``.

clew history examples/histories/stack.jsonl --model examples/histories/stack.py:Stack
"""

from __future__ import annotations

from typing import Any

from clew.histories import Operation


class Stack:
    """``push`` takes a value, ``pop`` returns the one that was pushed last."""

    initial: tuple[Any, ...] = ()
    functions = ("push", "pop")

    def step(self, state: tuple[Any, ...], op: Operation) -> list[tuple[Any, ...]] | None:
        """Return the states that may follow; None if the operation cannot have ended like this."""
        if op.function == "push":
            return [(*state, op.argument)]
        return [state[:-1]] if state and state[-1] == op.result else None
