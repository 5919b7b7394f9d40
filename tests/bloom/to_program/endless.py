"""Which programs end, according to a runtime that gives up after some rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bloom.lockstep import Inserted, lockstep
from clew.bloom.language.module import Module
from clew.bloom.runtime.evaluation import Evaluation

#: More than any of the generated programs needs to its fixpoint: numbers and sets are small.
MOST_ROUNDS = 60
LARGEST_SET = 300


class EndlessError(Exception):
    """A step takes more rounds than any that ends, or makes larger sets."""


@contextmanager
def limited_rounds() -> Iterator[None]:
    """A runtime that gives up on steps that do not end."""
    merged, once, rounds = Evaluation._merge_round, Evaluation._run_once, [0]
    run = Evaluation._run_rounds

    def refuse_large_sets(evaluation: Any) -> None:
        sets = [cell.value.held for cell in evaluation._cells.values() if isinstance(cell.value.held, frozenset)]
        if any(len(held) > LARGEST_SET for held in sets):
            raise EndlessError

    def counting(self: Any, derived: Any) -> bool:
        rounds[0] += 1
        if rounds[0] > MOST_ROUNDS:
            raise EndlessError
        changed = merged(self, derived)
        refuse_large_sets(self)
        return changed

    def running(self: Any, stratum: Any, tasks: Any, first: bool) -> None:
        rounds[0] = 0
        run(self, stratum, tasks, first)

    def running_once(self: Any, tasks: Any, first: bool) -> None:
        once(self, tasks, first)
        refuse_large_sets(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluation, "_merge_round", counting)
        patch.setattr(Evaluation, "_run_rounds", running)
        patch.setattr(Evaluation, "_run_once", running_once)
        yield


def ends(program: type[Module], inserted: Inserted, steps: int) -> bool:
    """Whether a node comes to the end of so many steps."""
    try:
        with limited_rounds():
            lockstep(program, inserted, steps)
    except EndlessError:
        return False
    return True
