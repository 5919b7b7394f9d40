"""From the files of all processes to what a class did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.language.capture import statement_at
from clew.bloom.tracing import counters, record_lines
from clew.bloom.tracing.counters import BadCountsError, CollectionCounts, RuleCounts, read_counts
from clew.bloom.tracing.record_lines import RecordLine, read_lines
from clew.bloom.tracing.rule_names import RuleName, name_rules
from clew.coverage.result import CollectionCoverage, RuleCoverage
from clew.errors import Notice
from clew.files.python_names import FileNames


@dataclass
class Sum:
    """The counts of several processes together."""

    processes: set[str] = field(default_factory=set)
    nodes: int = 0
    steps: int = 0
    rules: dict[RuleName, RuleCounts] = field(default_factory=dict)
    collections: dict[str, CollectionCounts] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)


def add_up(folder: Path) -> Sum:
    """Add up what all processes counted."""
    total = Sum()
    for path in sorted(folder.glob(f"*{counters.ENDING}")):
        try:
            found = read_counts(path)
        except (OSError, BadCountsError) as error:
            # One process that was killed while it began must not cost the others their counts.
            reason = error.strerror if isinstance(error, OSError) else error
            total.notices.append(Notice(f"the counts of a process cannot be read: {reason}"))
            continue
        # A process has a file for each layout, as subclasses have other rules.
        total.processes.add(path.name.partition("-")[0])
        total.nodes += found.nodes
        total.steps += found.steps
        for name, counts in found.rules.items():
            total.rules[name] = total.rules.get(name, RuleCounts()).plus(counts)
        for collection, held in found.collections.items():
            total.collections[collection] = total.collections.get(collection, CollectionCounts()).plus(held)
    return total


def cover_rules(program: BloomProgram, total: Sum, names: FileNames) -> tuple[RuleCoverage, ...]:
    """Return what each rule of a program did; rules that only classes derived from it have are left out."""
    return tuple(
        _cover_rule(rule, name, program.by_name[rule.target], total.rules.get(name, RuleCounts()), names)
        for rule, name in zip(program.rules, name_rules(program), strict=True)
    )


def _cover_rule(
    rule: Rule, name: RuleName, target: Collection, counts: RuleCounts, names: FileNames
) -> RuleCoverage:
    return RuleCoverage(
        name.place,
        names.of_position(rule.position),
        statement_at(rule.position) or str(rule),
        rule.target,
        rule.op.value,
        target.kind is Kind.DIE,
        # A terminal and the loopback are no network.
        rule.op is Op.SEND and target.kind is Kind.CHANNEL,
        counts,
    )


def cover_collections(program: BloomProgram, total: Sum) -> tuple[CollectionCoverage, ...]:
    """Return what each collection of a program had, but those of invariants, which are rules."""
    return tuple(
        CollectionCoverage(
            c.name, c.kind.value, c.kind is not Kind.LATTICE, total.collections.get(c.name, CollectionCounts())
        )
        for c in program.collections
        if c.kind is not Kind.DIE
    )


def collect_records(folder: Path) -> Sequence[RecordLine]:
    """Return the records of all processes by time; those of one node stay in their order."""
    found: list[RecordLine] = []
    for path in _trace_files(folder):
        with suppress(OSError):  # code that is traced can put anything there, which is no record
            found += read_lines(path)
    # A stable order: records of the same moment stay as they were written.
    return sorted(found, key=lambda record: record.time)


def _trace_files(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob(f"*{record_lines.ENDING}"))
