"""Where rows come from, across the network: what it says about another node that a row is here.

If ``call`` is sent to all ``members``, whoever gets it sends ``here`` to who called, and that is stored in
``present``, then each row of ``present`` comes from a row of ``members`` at the same node.  For this, rows are
followed backwards through rules that copy columns; all rules that derive a collection must lead to the same base.

``bounded_counts`` needs it for ``idioms.Barrier``, ``run_invariants`` for ``broadcast.Acknowledged``.  The law:
rows come into a derived collection by its rules only, so all that is in it has a derivation, and each begins at
the base.
"""

from __future__ import annotations

from dataclasses import dataclass

from clew.analysis.calm.refinements.projections import columns_in, substitute, trace_copy
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column, Here, Scalar

#: What is not known; columns of the base are of part 0.
UNKNOWN = Column(1, 0)
_FOLLOWED = (Kind.TABLE, Kind.SCRATCH, Kind.TEMP, Kind.CHANNEL)


@dataclass(frozen=True)
class Provenance:
    """A row, and the node it is at, in terms of the row of the base that it comes from.

    ``Here`` is the node of that one; of a channel, that is the column that says where it goes.
    """

    row: tuple[Scalar, ...]
    node: Scalar


def trace_provenance(program: BloomProgram, name: str, base: str) -> tuple[Provenance, ...]:
    """Return the ways from the base to the collection; none if some row may come from elsewhere."""
    return _trace(program, name, base, frozenset())


def _trace(program: BloomProgram, name: str, base: str, below: frozenset[str]) -> tuple[Provenance, ...]:
    collection = program.by_name[name]
    if name == base:
        row = tuple(Column(0, index) for index in range(len(collection.schema.columns)))
        return (Provenance(row, _place(row, program, name) or Here()),)
    writers = [r for r in program.rules if r.target == name and r.op is not Op.DELETE]
    # Recursion is given up rather than solved: no listing that needs the law is recursive.
    if collection.kind not in _FOLLOWED or name in below:
        return ()
    found = [_through(program, rule, base, below | {name}) for rule in writers]
    # All rules must lead to the base: one that does not may bring rows from anywhere.
    return tuple(way for ways in found for way in ways) if all(found) else ()


def _through(program: BloomProgram, rule: Rule, base: str, below: frozenset[str]) -> tuple[Provenance, ...]:
    rows = trace_copy(rule.expr)
    for part, source in enumerate(rows.collections if rows else ()):
        assert rows is not None
        ways = _trace(program, source, base, below)
        if ways:
            return tuple(_after(way, rows.row, part, rule, program) for way in ways)
    return ()


def _after(way: Provenance, row: tuple[Scalar, ...], part: int, rule: Rule, program: BloomProgram) -> Provenance:
    # Columns of the other sides of a join are unknown, also where they are equal to ours: no listing needs more.
    inner: dict[Column, Scalar] = {c: way.row[c.index] if c.part == part else UNKNOWN for c in columns_in(row)}
    made = tuple(substitute(column, inner, here=way.node) for column in row)
    # A row that is sent is at the node that its address names, in terms of the row of the base.
    sent_to = _place(made, program, rule.target) if rule.op is Op.SEND else None
    return Provenance(made, sent_to or way.node)


def _place(row: tuple[Scalar, ...], program: BloomProgram, name: str) -> Scalar | None:
    """Return where a row of a channel is; None for other collections."""
    schema = program.by_name[name].schema
    return None if schema.location is None else row[schema.index(schema.location)]
