"""``python -m benchmarks.best_known``: search for executions smaller than the smallest known ones.

    python -m benchmarks.best_known                             # all ten bugs, ten recordings each: an hour or so
    python -m benchmarks.best_known raft-42 --recordings 30 --patience 1000

For each bug, recordings of different lengths are minimized, with more patience than usual; what comes out is
minimized again for as long as it becomes smaller.  Printed are the sizes that a usual minimization comes to, those
of this search, and the smallest execution found if it is smaller than the one in ``smallest``.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.minimization import scenario
from benchmarks.output import Table
from benchmarks.published_sizes import BUGS, PublishedBug
from benchmarks.smallest import SMALLEST, size_of
from clew.minimization import pipeline
from clew.minimization.minimizing import Minimized, minimize
from clew.simulation.execution.steps import Size, describe
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import LoadedScenario


@dataclass(frozen=True)
class Searched:
    """``usual``: the sizes that minimization comes to, one for each recording; ``best``: the smallest of all."""

    name: str
    known: Size
    usual: tuple[Size, ...]
    best: Minimized


def searched(bug: PublishedBug, recordings: int, patience: int, least: int) -> Searched:
    loaded = scenario(bug.scenario)
    usual: list[Size] = []
    best: Minimized | None = None
    for seed in itertools.islice(_violating(loaded, least), recordings):
        found = minimize(record(loaded, seed), loaded)
        usual.append(found.size)
        print(f"{bug.name}, seed {seed}: {_size(found.size)}", file=sys.stderr, flush=True)
        found = _patiently(found, loaded, patience)
        if best is None or _total(found.size) < _total(best.size):
            best = found
    assert best is not None, "there is at least one recording"
    return Searched(bug.name, size_of(SMALLEST[loaded.name], loaded), tuple(usual), best)


def _violating(loaded: LoadedScenario, least: int) -> Iterator[int]:
    """The seeds whose executions end in a violation after so many deliveries or more."""
    for seed in itertools.count():
        run = random_run(loaded.scenario, seed)
        if run.broken is not None and run.deliveries >= least:
            yield seed


def _patiently(found: Minimized, loaded: LoadedScenario, patience: int) -> Minimized:
    usual = pipeline._PATIENCE, pipeline._LEAST_PATIENCE
    # Both: what is small already has cost little, and would be given up soon.
    pipeline._PATIENCE = pipeline._LEAST_PATIENCE = patience
    try:
        while True:
            again = minimize(found.recording, loaded)
            if _total(again.size) >= _total(found.size):
                return found
            found = again
    finally:
        pipeline._PATIENCE, pipeline._LEAST_PATIENCE = usual


def _total(size: Size) -> int:
    return size.deliveries + size.externals


def _size(size: Size) -> str:
    return f"{size.deliveries} E:{size.externals}"


def table(results: Sequence[Searched]) -> Table:
    cells = [
        (
            result.name,
            _size(result.known),
            _size(result.best.size),
            " ".join(str(size.deliveries) for size in sorted(result.usual, key=_total)),
        )
        for result in results
    ]
    columns = ("bug", "smallest known", "smallest of this search", "usual sizes, one for each recording")
    return Table("Smallest executions", columns, cells, ["Deliveries, and E: events from outside."])


def main() -> int:
    names = [bug.name for bug in BUGS]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.best_known",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bugs", nargs="*", metavar="BUG", help=f"some of {', '.join(names)} (default: all)")
    parser.add_argument("--recordings", type=int, default=10, help="of each bug (default 10)")
    parser.add_argument("--patience", type=int, default=500, help="walks in a row that may fail (default 500)")
    parser.add_argument("--least", type=int, default=300, help="deliveries of a recording (default 300)")
    given = parser.parse_args()
    unknown = [name for name in given.bugs if name not in names]
    if unknown or given.recordings < 1 or given.patience < 1:
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "give numbers from 1 on")
    chosen = [bug for bug in BUGS if not given.bugs or bug.name in given.bugs]
    results = [searched(bug, given.recordings, given.patience, given.least) for bug in chosen]
    print(table(results).markdown())
    for result in results:
        if _total(result.best.size) < _total(result.known):
            print(f"\n{result.name}, smaller than known:")
            print(*(f"  {describe(step)}" for step in result.best.recording.steps), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
