"""What was tried before the process was killed: the outcomes of the searches of a minimization, in their order.

A minimization is determined by which candidate of each family was the first to reproduce the violation.  So it is
saved as numbers: for each family, how many candidates failed (and how many schedules each took), and whether one
succeeded then.  To go on, the same families are made again; those that failed are skipped, and the one that
succeeded is executed once more, which confirms it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.files.json_document import Item
from clew.minimization.searching.search import Candidate, Family, S, Search, Success, T, Witness

#: Bounds of what is read: of one candidate, and of all that are alike.
_MOST_EXECUTED = 1_000_000
_MOST_ALIKE = 10**12


@dataclass
class _FamilyOutcome:
    """What one family came to.

    ``failed`` is run-length encoded: a number of schedules, and how many candidates in a row executed that many
    and failed.  ``succeeded``: how many the candidate after those executed; None if none succeeded so far.
    """

    failed: list[list[int]] = field(default_factory=list)
    succeeded: int | None = None

    def fail(self, executed: int) -> None:
        if self.failed and self.failed[-1][0] == executed:
            self.failed[-1][1] += 1
        else:
            self.failed.append([executed, 1])

    @property
    def candidates(self) -> int:
        return sum(count for _, count in self.failed)

    @property
    def schedules(self) -> int:
        return sum(executed * count for executed, count in self.failed) + (self.succeeded or 0)


class Memory:
    """The families of one minimization, those of a checkpoint first."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        # In the order in which they were asked for, which is determined by their outcomes: no family needs a name.
        self._families = [] if checkpoint.saved is None else _read(checkpoint.saved)
        self._next = 0
        checkpoint.state = self.to_json

    @property
    def schedules(self) -> int:
        """Count the schedules that were executed for what is known."""
        return sum(tried.schedules for tried in self._families)

    def next_family(self) -> _FamilyOutcome:
        """Return what is known of the next family, to be filled in."""
        if self._next == len(self._families):
            self._families.append(_FamilyOutcome())
        self._next += 1
        return self._families[self._next - 1]

    def offer(self) -> None:
        self._checkpoint.offer()

    def to_json(self) -> dict[str, object]:
        return {"families": [[tried.failed, tried.succeeded] for tried in self._families]}


def _read(saved: Item) -> list[_FamilyOutcome]:
    (families,) = saved.members("families")
    read = []
    for item in families.items():
        failed, succeeded = item.parts("failed", "succeeded")
        pairs = [pair.parts("schedules", "candidates") for pair in failed.items()]
        read.append(
            _FamilyOutcome(
                [[each.number(0, _MOST_EXECUTED), count.number(1, _MOST_ALIKE)] for each, count in pairs],
                None if succeeded.value is None else succeeded.number(1, _MOST_EXECUTED),
            )
        )
    return read


class _FamilyTail(NamedTuple, Generic[T, S]):
    """The candidates of a family from a place on."""

    family: Family[T, S]
    start: int

    def __len__(self) -> int:
        return len(self.family) - self.start

    def at(self, place: int) -> Candidate[T, S]:
        return self.family.at(self.start + place)


class RememberedSearch(Generic[T, S]):
    """A search whose outcomes are remembered; what is known already is not tried again.

    ``make`` is given the witness to report every candidate to, and returns the search for those not known yet.
    """

    def __init__(
        self, memory: Memory, target: T, witness: Witness[S], make: Callable[[Witness[S]], Search[T, S]]
    ) -> None:
        self._memory = memory
        self._target = target
        self._witness = witness
        self._search = make(self._note)
        self._tried = _FamilyOutcome()
        #: Schedules that the search need not execute, because their outcome was known.
        self.known = 0

    def first(self, family: Family[T, S]) -> Success[S] | None:
        self._tried = tried = self._memory.next_family()
        start = tried.candidates
        # Whatever wrote the checkpoint had another family here: other code, or another version.
        if start + (tried.succeeded is not None) > len(family):
            raise ForeignCheckpointError(f"that {len(family)} schedules are tried next")
        for executed, count in tried.failed:
            for _ in range(count):
                self.known += executed
                self._witness(executed, None)
        if tried.succeeded is not None:
            return self._again(family, start, tried.succeeded)
        if start == len(family):
            return None
        success = self._search.first(_FamilyTail(family, start) if start else family)
        return success and Success(start + success.place, success.schedule)

    def _note(self, executed: int, schedule: S | None) -> None:
        """Remember what a candidate came to, then tell of it."""
        if schedule is None:
            self._tried.fail(executed)
        else:
            self._tried.succeeded = executed
        self._witness(executed, schedule)
        self._memory.offer()

    def _again(self, family: Family[T, S], place: int, before: int) -> Success[S]:
        """Execute a candidate that succeeded before, and check that it takes as many schedules as then."""
        # Executed and not read from the file: a checkpoint says where to look, never what is true.
        schedule, executed = family.at(place).evaluate(self._target)
        if schedule is None or executed != before:
            raise ForeignCheckpointError("what a schedule comes to")
        self.known += executed
        self._witness(executed, schedule)
        return Success(place, schedule)
