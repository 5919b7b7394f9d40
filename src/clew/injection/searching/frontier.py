"""How far a search through every set of faults has come, and the same as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.files.json_document import Item
from clew.injection.bounds import InjectionBounds
from clew.injection.faults import CodeFault
from clew.injection.repeating import NOTHING_BEFORE
from clew.injection.searching.possible import BEGINNING, Moment
from clew.injection.searching.saving import MOST_RUNS
from clew.injection.written import write_flag
from clew.lineage.saved_circuits import KnownFaults

#: More events than any execution has.
_MOST_EVENTS = 2**53


class OrderedFaults(NamedTuple):
    """Faults in the order in which they strike, and when the last one does.

    ``before``: a digest of what happens until then; None if another process knew it.
    """

    faults: tuple[CodeFault, ...]
    last: Moment
    before: int | None = NOTHING_BEFORE


@dataclass
class Frontier:
    """The sets of this size from ``place`` on are still to be run, and then those that ``following`` collects.

    ``seen``: by the digest of a history, what led to it.  ``runs``, ``vacuous``, ``unfinished``: how many runs
    there were, in how many nothing was promised, and how many did not come to their end.  ``endless``: the first
    of these, or nothing.
    """

    level: list[OrderedFaults] = field(default_factory=lambda: [OrderedFaults((), BEGINNING)])
    place: int = 0
    following: list[OrderedFaults] = field(default_factory=list)
    seen: dict[bytes, list[OrderedFaults]] = field(default_factory=dict)
    runs: int = 0
    vacuous: int = 0
    unfinished: int = 0
    endless: list[OrderedFaults] = field(default_factory=list)

    def next(self) -> OrderedFaults | None:
        """Return the set that is to be run next; None if all were."""
        # Asked before a run and not after it: a checkpoint between two sizes has the next sets in ``following``.
        if self.place == len(self.level):
            self.level, self.place, self.following = self.following, 0, []
        return self.level[self.place] if self.level else None

    def to_json(self) -> dict[str, object]:
        numbers: dict[CodeFault, int] = {}

        def write(sets: Iterable[OrderedFaults]) -> list[object]:
            return [[[numbers.setdefault(f, len(numbers)) for f in s.faults], *s.last[:2]] for s in sets]

        lists = {
            # What was run of this size is not needed again: its histories are in ``seen``.
            "level": write(self.level[self.place :]),
            "following": write(self.following),
            "seen": [[digest.hex(), write(sets)] for digest, sets in self.seen.items()],
            "endless": write(self.endless),
        }
        counts = {"runs": self.runs, "vacuous": self.vacuous, "unfinished": self.unfinished}
        return {"faults": [write_flag(fault) for fault in numbers], **lists, **counts}


def read_frontier(saved: Item, bounds: InjectionBounds, read: Callable[[Item], CodeFault]) -> Frontier:
    """Read from a checkpoint how far a search had come."""
    faults, level, following, seen, endless, runs, vacuous, unfinished = saved.members(
        "faults", "level", "following", "seen", "endless", "runs", "vacuous", "unfinished"
    )
    known = KnownFaults(faults, read)

    def read_sets(item: Item) -> list[OrderedFaults]:
        return [_read_set(each, known, bounds) for each in item.items()]

    histories = {}
    for entry in seen.items():
        digest, sets = entry.parts("digest", "sets")
        # Digests are not checked: one that nothing has makes no run superfluous.
        histories[_read_digest(digest)] = read_sets(sets)
    return Frontier(
        read_sets(level),
        0,
        read_sets(following),
        histories,
        runs.number(0, MOST_RUNS),
        vacuous.number(0, MOST_RUNS),
        unfinished.number(0, MOST_RUNS),
        read_sets(endless)[:1],
    )


def _read_set(item: Item, known: KnownFaults[CodeFault], bounds: InjectionBounds) -> OrderedFaults:
    numbers, event, part = item.parts("faults", "event", "part")
    faults = known.several(numbers)
    # The empty set strikes before everything, and rests on no other run.
    if not faults:
        return OrderedFaults((), BEGINNING)
    if len(set(faults)) < len(faults) or not bounds.admits(faults):
        numbers.refuse("faults within the bounds, each once")
    return OrderedFaults(
        tuple(faults), (event.number(-1, _MOST_EVENTS), part.number(0, 1), faults[-1].order_key()), None
    )


def _read_digest(item: Item) -> bytes:
    try:
        return bytes.fromhex(item.text("a digest"))
    except ValueError:
        item.refuse("a digest")
