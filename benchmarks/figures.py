"""Figures 12 and 13: buggy programs and correct ones, each searched at random, by lineage and exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.cases import Case, example
from benchmarks.effort import Effort, say
from benchmarks.output import Table, several
from benchmarks.published import FIGURE_12, FIGURE_13, Published
from benchmarks.searches import Sample, Search, exact_search, lineage_search, random_searches, repeated
from clew.search.verdict import Answer

_COLUMNS = ("program", "rules", "EOT", "EFF", "crashes", "combinations")
_LINEAGE = ("lineage exe", "lineage s")
_RANDOM = ("random exe", "random s")
_EXACT = ("exact: search ms", "exact: grounding ms")


@dataclass(frozen=True)
class Row:
    """What was measured of a program, beside what was published."""

    published: Published
    rules: int
    eot: int
    eff: int
    crashes: int
    combinations: int
    expected: Answer
    loading: float
    exact: Search
    lineage: Search
    random: Sample | None

    @property
    def name(self) -> str:
        return self.published.program


def figure_12(effort: Effort) -> list[Row]:
    return [_measure(p, Answer.COUNTEREXAMPLE, effort) for p in FIGURE_12]


def figure_13(effort: Effort) -> list[Row]:
    return [_measure(p, Answer.CERTIFIED, effort) for p in FIGURE_13]


def _measure(published: Published, expected: Answer, effort: Effort) -> Row:
    case = example(published.program)
    spec = case.spec
    say(f"{case.name}: exact")
    exact = repeated(lambda: exact_search(case), effort.repetitions)
    say(f"{case.name}: lineage")
    lineage = repeated(lambda: lineage_search(case, effort.lineage_seconds), effort.repetitions)
    random = _sample(case, effort) if published.random_executions is not None else None
    return Row(
        published,
        case.rules,
        spec.eot,
        spec.eff,
        spec.crashes,
        spec.combinations(),
        expected,
        case.loading,
        exact,
        lineage,
        random,
    )


def _sample(case: Case, effort: Effort) -> Sample:
    say(f"{case.name}: random, {effort.seeds} seeds")
    return random_searches(case, effort.seeds, effort.random_runs)


def table_12(rows: Sequence[Row]) -> Table:
    columns = (*_COLUMNS, *_RANDOM, *_LINEAGE, *_EXACT)
    cells = [(*_bounds(r), *_random(r), *_lineage(r), *_exact(r)) for r in rows]
    return Table("Figure 12: buggy programs", columns, cells, [f"{_HOW_TO_READ}  {_OF_RANDOM}", *_remarks(rows)])


def table_13(rows: Sequence[Row]) -> Table:
    columns = (*_COLUMNS, *_LINEAGE, *_EXACT)
    cells = [(*_bounds(r), *_lineage(r), *_exact(r)) for r in rows]
    return Table("Figure 13: correct programs", columns, cells, [_HOW_TO_READ, *_remarks(rows)])


_HOW_TO_READ = "In brackets: as published.  exe: executions.  s: seconds of grounding and search."
_OF_RANDOM = "Random: means over the seeds, without grounding."


def _beside(ours: str, published: float | str | None) -> str:
    if published is None:
        return ours
    return f"{ours} ({published:.2f})" if isinstance(published, float) else f"{ours} ({published})"


def _bounds(row: Row) -> tuple[str, ...]:
    paper = row.published
    return (
        row.name,
        _beside(str(row.rules), paper.rules),
        _beside(str(row.eot), paper.eot),
        _beside(str(row.eff), paper.eff),
        str(row.crashes),
        _beside(several(row.combinations), several(paper.combinations)),
    )


def _random(row: Row) -> tuple[str, ...]:
    sample, paper = row.random, row.published
    if sample is None:
        return ("", "")
    least = "≥ " if sample.capped else ""
    return (
        _beside(f"{least}{sample.executions:.2f}", paper.random_executions),
        _beside(f"{least}{sample.seconds:.4f}", paper.random_wall),
    )


def _lineage(row: Row) -> tuple[str, ...]:
    found, paper = row.lineage, row.published
    more = "" if found.finished else "not finished after "
    return (
        _beside(f"{more}{found.executions}", paper.executions),
        _beside(f"{more}{found.seconds:.2f}", paper.wall),
    )


def _exact(row: Row) -> tuple[str, ...]:
    return (f"{1000 * row.exact.search:.1f}", f"{1000 * row.exact.grounding:.1f}")


def _remarks(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows:
        if row.random and row.random.capped:
            sample = row.random
            yield (
                f"{row.name}: {sample.capped} of {sample.seeds} random searches found nothing in {sample.cap} "
                "executions and count as that many."
            )
        for strategy, found in (("exact", row.exact), ("lineage", row.lineage)):
            if found.answer not in (row.expected, Answer.INCOMPLETE):
                yield f"{row.name}: {strategy} answered {found.answer.value}, not {row.expected.value}!"
