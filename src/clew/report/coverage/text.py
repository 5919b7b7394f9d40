"""The coverage of the rules of a class, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.coverage.result import BloomCoverage, CollectionCoverage, CoverAnswer, RuleCoverage
from clew.errors import Position
from clew.report.text.plain import columns, pluralize, shorten

#: How much of a rule is shown.
LONGEST_RULE = 80
#: Stands where a number would say nothing.
NONE = "-"

RULE_HEADINGS = ("rows", "steps", "messages", "bytes", "rule")
COLLECTION_HEADINGS = ("rows", "most", "collection")


def coverage_text(coverage: BloomCoverage) -> str:
    """Return what the terminal shows."""
    return "".join(f"{line}\n" for line in _lines(coverage))


def headline(coverage: BloomCoverage) -> str:
    """Return the answer in one line."""
    told = f": {coverage.reason}" if coverage.reason else ""
    return f"{coverage.answer.value.upper()}: {coverage.source}{told}."


def summary(coverage: BloomCoverage) -> str:
    """Return how much fired, and where."""
    fired = len(coverage.rules) - len(coverage.dead)
    share = f"{fired} of {pluralize(len(coverage.rules), 'rule')} fired ({coverage.percentage:.1f} %)"
    nodes = f"{pluralize(coverage.nodes, 'node')} in {pluralize(coverage.processes, 'process', 'processes')}"
    return f"{share}, in {pluralize(coverage.steps, 'step')} of {nodes}"


def _lines(coverage: BloomCoverage) -> Iterator[str]:
    yield headline(coverage)
    yield f"  {summary(coverage)}"
    if coverage.rules:
        yield ""
        yield from _table(RULE_HEADINGS, [rule_cells(rule) for rule in coverage.rules])
    # Where nothing ran, every rule would be listed, and the reason is another one.
    if coverage.dead and coverage.answer is not CoverAnswer.NOTHING_RAN:
        yield ""
        yield f"never fired ({len(coverage.dead)}):"
        yield from (f"  {describe(rule)}" for rule in coverage.dead)
    if coverage.invariants:
        broken = [rule for rule in coverage.invariants if rule.has_fired]
        yield ""
        yield f"invariants: {len(coverage.invariants)}, broken: {len(broken)}"
        yield from (f"  {describe(rule)}" for rule in broken)
    if coverage.collections:
        yield ""
        yield from _table(COLLECTION_HEADINGS, [collection_cells(each) for each in coverage.collections])
    if coverage.records:
        yield ""
        yield f"trace ({pluralize(len(coverage.records), 'row')}):"
        yield from (f"  {record}" for record in coverage.records)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table with numbers to the right, and a text as its last column."""
    every = [headings, *rows]
    widths = [max(columns(row[k]) for row in every) for k in range(len(headings) - 1)]
    for row in every:
        numbers = (" " * (width - columns(cell)) + cell for cell, width in zip(row[:-1], widths, strict=True))
        yield "  ".join((*numbers, row[-1]))


def rule_cells(rule: RuleCoverage) -> tuple[str, ...]:
    """Return the numbers of a rule, and what it is."""
    counts = rule.counts
    traffic = (str(counts.messages), str(counts.bytes)) if rule.is_sent else (NONE, NONE)
    return (str(counts.firings), str(counts.steps), *traffic, describe(rule))


def collection_cells(collection: CollectionCoverage) -> tuple[str, ...]:
    """Return the numbers of a collection, and what it is."""
    rows = str(collection.counts.rows) if collection.counts_rows else NONE
    return rows, str(collection.counts.most), f"{collection.name} ({collection.kind})"


def describe(rule: RuleCoverage) -> str:
    """Return where a rule stands, and its text."""
    return f"{place_of(rule.position)}{rule.place.partition(',')[0]}: {shorten(rule.text, LONGEST_RULE)}"


def place_of(position: Position | None) -> str:
    return "" if position is None else f"{position.file}:{position.line} "
