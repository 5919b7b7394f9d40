"""What a grid costs beside the searches in it: nothing is started, read or checked again for each setting.

Processor time of one process.  A search is what remains when the program, its nodes and bounds are known:
grounding, the question to the solver, and looking up what a certificate rests on.  Both are measured in the same
run, on the same settings, one after the other, so that a busy machine slows both.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.bars import Bar
from benchmarks.cases import EXAMPLES
from benchmarks.effort import Effort, say
from clew.checker.checking import Check
from clew.checker.grid.api import check_grid
from clew.checker.grid.result import GridResult, GridRow
from clew.checker.model import Model
from clew.checker.preparing import prepare
from clew.checker.strategies import STRATEGIES, Options
from clew.checker.survey.judging import Demands
from clew.dedalus.loader import read_template
from clew.program.checks import CheckedProgram
from clew.search import exact
from clew.search.verdict import Ledger, conduct

MOST_RATIO = 1.5
SETTINGS = 100

#: A hundred settings each: of bounds alone, and of params, which make another program of each.
GRIDS: dict[str, Mapping[str, Sequence[int]]] = {
    "paxos-synod": {"eot": range(6, 11), "eff": range(2, 7), "crashes": (0, 1), "delays": (0, 1)},
    "paxos-synod-quorums": {"acceptors": range(3, 8), "quorum": range(1, 6), "eff": (5, 6), "crashes": (0, 1)},
}


class Measured(NamedTuple):
    """Seconds of the processor: of the whole grid, of its searches, and of these without what is looked up."""

    grid: float
    searches: float
    bare: float


def measure(effort: Effort) -> Iterator[Bar]:
    """The bar of each grid."""
    for name, axes in GRIDS.items():
        say(f"grid: {name}")
        found = min((_measure(name, axes) for _ in range(min(3, effort.repetitions))), key=_ratio)
        ratio = _ratio(found)
        shown = (
            f"{ratio:.2f} times ({found.grid:.2f} s / {found.searches:.2f} s; bare {found.grid / found.bare:.2f})"
        )
        yield Bar(
            f"grid: {SETTINGS} settings of {name}, beside their searches",
            shown,
            f"{MOST_RATIO:g} times",
            ratio <= MOST_RATIO,
        )


def _ratio(measured: Measured) -> float:
    return measured.grid / measured.searches


def _measure(name: str, axes: Mapping[str, Sequence[int]]) -> Measured:
    file = EXAMPLES / f"{name}.ded"
    started = time.process_time()
    result = check_grid(file, axes)
    grid = time.process_time() - started
    assert len(result.rows) == SETTINGS, f"{len(result.rows)} settings"
    searches, bare = _search_each(result)
    return Measured(grid, searches, bare)


def _search_each(result: GridResult) -> tuple[float, float]:
    """The sum of the searches, with and without what is looked up of certificates."""
    template = read_template(result.files)
    params = {axis.name for axis in result.axes if axis.is_param}
    searches = bare = 0.0
    for row in result.rows:
        loaded = template.instantiate({name: value for name, value in row.setting if name in params})
        prepared = prepare(loaded)
        searches += _seconds_of_search(prepared, row)
        bare += _seconds_of_question(prepared, row)
    return searches, bare


def _seconds_of_search(prepared: CheckedProgram, row: GridRow) -> float:
    assert row.verdict is not None, row.why
    started = time.process_time()
    check = Check(prepared, STRATEGIES["exact"], Options(), Demands(), time.monotonic())
    found = check.examine(row.verdict.spec, Ledger())
    seconds = time.process_time() - started
    assert found.answer is row.verdict.answer, row.words
    return seconds


def _seconds_of_question(prepared: CheckedProgram, row: GridRow) -> float:
    assert row.verdict is not None, row.why
    started = time.process_time()
    model = Model(prepared.program, row.verdict.spec)
    conduct(lambda ledger: exact.search(model, ledger), Ledger())
    return time.process_time() - started
