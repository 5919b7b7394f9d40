"""The dataflow of a Bloom program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from clew.analysis.calm.dataflow.bloom_readings import reading_of
from clew.analysis.calm.dataflow.bloom_rules import analyse_rule
from clew.analysis.calm.dataflow.graph import (
    Combination,
    Dataflow,
    Edge,
    Node,
    NodeKind,
    SafeCombination,
    Statement,
)
from clew.analysis.calm.refinements.complete_sets import collect_known
from clew.analysis.calm.refinements.monotone_columns import AnalysableRule, analyse_rules
from clew.analysis.calm.refinements.projections import trace_copy
from clew.analysis.calm.refinements.run_invariants import Refinements, refine_over_runs
from clew.bloom.ir.expressions import collections_in
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.purity.impurity import impurity_of
from clew.errors import Notice, Position
from clew.files.reading import read_source

_KINDS = {
    Kind.TABLE: NodeKind.TABLE,
    Kind.LATTICE: NodeKind.LATTICE,
    Kind.SCRATCH: NodeKind.SCRATCH,
    Kind.TEMP: NodeKind.SCRATCH,
    Kind.CHANNEL: NodeKind.CHANNEL,
    Kind.LOOPBACK: NodeKind.CHANNEL,
    Kind.STDIO: NodeKind.CHANNEL,
    Kind.PERIODIC: NodeKind.PERIODIC,
    Kind.INPUT: NodeKind.INPUT,
    Kind.OUTPUT: NodeKind.OUTPUT,
    Kind.DIE: NodeKind.INVARIANT,
}


def bloom_dataflow(program: BloomProgram, files: Mapping[str, str] | None = None) -> Dataflow:
    """Return the graph.  ``files`` says what to call the files of the program instead of their full names."""
    # Users know a file by the path that they typed, not by the one it was loaded from.
    places = _Places(files or {})
    read = {name for rule in program.rules for name in collections_in(rule.expr)}
    known = collect_known(program)
    found = analyse_rules(
        [
            AnalysableRule(rule.target, rule.op is Op.NOW, partial(analyse_rule, rule, known=known))
            for rule in program.rules
        ],
        frozenset(c.name for c in program.collections if c.kind in (Kind.SCRATCH, Kind.TEMP) and c.name in read),
    )
    # Laws about whole runs speak of several rules at once, so that no rule could find them by itself.
    refined = refine_over_runs(program)
    return Dataflow(
        program.name,
        tuple(Node(c.name, _KINDS[c.kind], position=places.locate(c.position)) for c in program.collections),
        tuple(_statement(rule, number, program, refined, places) for number, rule in enumerate(program.rules)),
        tuple(
            Edge(
                read.collection,
                rule.target,
                number,
                sends=rule.op is Op.SEND,
                temporal=rule.op in (Op.NEXT, Op.DELETE),
                reason="" if (number, read.collection) in refined.reasons else read.reason,
                refined=refined.reasons.get((number, read.collection), read.refined),
            )
            for number, (rule, one) in enumerate(zip(program.rules, found, strict=True))
            for read in one.reads
        ),
        tuple(Notice(n.message, places.locate(n.position), n.remedy) for n in program.notices),
    )


def _statement(rule: Rule, number: int, program: BloomProgram, refined: Refinements, places: _Places) -> Statement:
    reading = reading_of(rule.expr, program)
    # The row waits in the buffer for its own answer: the two meet, whatever else comes when.
    if number in refined.answered and isinstance(reading, Combination):
        reading = SafeCombination(reading.sides)
    return Statement(
        rule.target,
        places.text(rule),
        rule.block,
        reading,
        rule.op is Op.SEND,
        places.locate(rule.position),
        passing=number in refined.passing,
        later=rule.op is Op.NEXT,
        keeps=_keeps(rule),
        deletes=rule.op is Op.DELETE,
        harmless=number in refined.harmless,
        impure=impurity_of(rule.expr),
    )


def _keeps(rule: Rule) -> bool:
    """Return whether the rule is ``p <+ p``: what a table is, written with a scratch (idiom of section 2.2)."""
    kept = trace_copy(rule.expr) if rule.op is Op.NEXT else None
    return kept is not None and kept.collections == (rule.target,) and kept.always and kept.is_all_of(0)


class _Places:
    """Positions as the user knows them, and the text that stands there."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._texts: dict[str, dict[int, str]] = {}

    def locate(self, position: Position | None) -> Position | None:
        if position is None or position.file not in self._files:
            return position
        return replace(position, file=self._files[position.file])

    def text(self, rule: Rule) -> str:
        """Return the rule as it is written, in one line; where its file cannot be read, a short form of it."""
        if rule.position is None:
            return str(rule)
        # Each file is parsed once: programs have hundreds of rules in a few files.
        if rule.position.file not in self._texts:
            self._texts[rule.position.file] = dict(_statements(rule.position.file))
        return self._texts[rule.position.file].get(rule.position.line, str(rule))


def _statements(file: str) -> Iterator[tuple[int, str]]:
    """Yield the expressions that are statements, by their first line."""
    try:
        source = read_source(file).decode("utf-8-sig")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError):
        return
    # ``ast.get_source_segment`` takes the whole file apart for every statement.  Columns count bytes.
    lines = [line.encode() for line in source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and node.end_lineno is not None:
            written = lines[node.lineno - 1 : node.end_lineno]
            written[-1] = written[-1][: node.end_col_offset]
            written[0] = written[0][node.col_offset :]
            yield node.lineno, " ".join(b" ".join(written).decode().split())
