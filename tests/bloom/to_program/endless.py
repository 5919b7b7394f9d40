"""Which programs end, according to a runtime that gives up after some rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from typing import Any

import pytest

from bloom.lockstep import Inserted, lockstep
from clew.bloom.language.module import Module
from clew.bloom.runtime.storage import Cell
from clew.bloom.runtime.strata.once import LatticeTarget
from clew.bloom.runtime.strata.recursion import KeptRounds
from clew.bloom.runtime.strata.rounds import Rounds

#: More than any of the generated programs needs to its fixpoint: numbers and sets are small.
MOST_ROUNDS = 60
LARGEST_SET = 300


class EndlessError(Exception):
    """A step takes more rounds than any that ends, or makes larger sets."""


@contextmanager
def limited_rounds() -> Iterator[None]:
    """A runtime that gives up on steps that do not end."""
    merged, once, ended = Rounds._merge_round, LatticeTarget.run, KeptRounds._end_round
    rounds, run = [0], Rounds.run

    def refuse_large_sets(cells: Iterable[Any]) -> None:
        values = [cell.value.held for cell in cells if isinstance(cell, Cell)]
        if any(isinstance(held, Set) and len(held) > LARGEST_SET for held in values):
            raise EndlessError

    def count_round() -> None:
        rounds[0] += 1
        if rounds[0] > MOST_ROUNDS:
            raise EndlessError

    def counting(self: Any, derived: Any) -> bool:
        count_round()
        changed = merged(self, derived)
        refuse_large_sets(self._members.values())
        return changed

    def counting_kept(self: Any, *given: Any) -> Any:
        count_round()
        return ended(self, *given)

    def running(self: Any, *, first: bool) -> None:
        rounds[0] = 0
        run(self, first=first)

    def running_once(self: Any, *, first: bool) -> None:
        once(self, first=first)
        refuse_large_sets([self._cell])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rounds, "_merge_round", counting)
        patch.setattr(KeptRounds, "_end_round", counting_kept)
        patch.setattr(Rounds, "run", running)
        patch.setattr(LatticeTarget, "run", running_once)
        yield


def ends(program: type[Module], inserted: Inserted, steps: int) -> bool:
    """Whether a node comes to the end of so many steps."""
    try:
        with limited_rounds():
            lockstep(program, inserted, steps)
    except EndlessError:
        return False
    return True
