"""Executions of which only matters whether something was violated: for exhaustive and random search."""

from __future__ import annotations

from collections.abc import Sequence

from clew.faults import FailureSpec, Fault, FaultSet
from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.files.json_document import Item
from clew.search.protocol import Run, System

#: A machine executes some ten thousand a second: this is thousands of years, and a defect of the file.
_MOST_RUNS = 10**15


class RememberedRuns:
    """A system that remembers how many executions there were, and which of them violated something.

    Those are few, and are executed again: a counterexample never rests on a file.
    """

    def __init__(self, system: System, checkpoint: Checkpoint) -> None:
        self._system = system
        self._checkpoint = checkpoint
        self._done = 0
        self._known, self._violating = (0, set[int]()) if checkpoint.saved is None else _read(checkpoint.saved)
        checkpoint.state = self.to_json
        if checkpoint.saved is not None:
            checkpoint.tell_continued(self._known, "run")

    @property
    def spec(self) -> FailureSpec:
        return self._system.spec

    @property
    def faults(self) -> Sequence[Fault]:
        return self._system.faults

    def run(self, faults: FaultSet) -> Run:
        number = self._done
        # By number alone: to save the faults of millions of runs would cost more than to run them.
        if number < self._known and number not in self._violating:
            self._done += 1
            return Run(faults, ())
        run = self._system.run(faults)
        if number < self._known:
            if not run.violations:
                raise ForeignCheckpointError(f"what the faults {faults} do")
        elif run.violations:
            self._violating.add(number)
        self._done += 1
        self._checkpoint.offer()
        return run

    def to_json(self) -> dict[str, object]:
        # A search that was stopped before it had caught up has lost nothing.
        done = max(self._done, self._known)
        return {"runs": done, "violating": sorted(number for number in self._violating if number < done)}


def _read(saved: Item) -> tuple[int, set[int]]:
    runs, violating = saved.members("runs", "violating")
    known = runs.number(0, _MOST_RUNS)
    numbers = [item.number(0, known - 1) for item in violating.items()]
    if sorted(set(numbers)) != numbers:
        violating.refuse("numbers of runs, in their order")
    return known, set(numbers)
