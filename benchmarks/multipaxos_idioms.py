"""Table 2.1 of the thesis: rules and idioms of Paxos, as published and in our two versions, counted.

``python -m benchmarks.multipaxos_idioms`` reads the rules of the programs as the runtime has them, and prints the
table.  A rule is counted once, by what its shape says, in this order:

- *messages*: it sends (``<~``).  *Multicast*: to all members of a relation that lists nodes.
- *timer*: it reads a timer.
- *aggregation*: it groups.  *Barrier*: it counts.  *Choice*: it takes the row that is first or last (``argmin``,
  ``argmax``).  *Other*: a least or greatest value, or a set of what there is.
- *state update*: it changes a relation that is kept.  *Sequence*: what comes next depends on what is there in the
  relation itself.  *GC*: it deletes, and no rule of its block puts something else there.  *Other*: the rest.
- *joins and selections*: the rest.  Overlog has these in the bodies of other rules; Bloom gives them a name.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.effort import say
from clew.bloom.ir.expressions import Extreme, Group, Join, collections_in, subexpressions
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import program_of
from clew.multipaxos import Multipaxos

_EXAMPLES = Path(__file__).parent.parent / "examples" / "bloom"

PHASES = ("prepare", "propose", "election")
ALL = "all"
MULTICAST, OTHER_MESSAGES = "multicast", "other messages"
SEQUENCE, GC, OTHER_STATE = "sequence", "garbage collection", "other updates of state"
BARRIER, CHOICE, OTHER_AGGREGATION = "barrier", "choice", "other aggregation"
TIMEOUT, DERIVATION = "timeout", "joins and selections"
IDIOMS = (
    *(MULTICAST, OTHER_MESSAGES, SEQUENCE, GC, OTHER_STATE),
    *(BARRIER, CHOICE, OTHER_AGGREGATION, TIMEOUT, DERIVATION),
)
#: Table 2.1, by idiom: prepare, propose, election.
PUBLISHED: dict[str, tuple[int, int, int]] = {
    ALL: (13, 13, 19),
    MULTICAST: (1, 2, 2),
    OTHER_MESSAGES: (1, 1, 0),
    SEQUENCE: (2, 2, 3),
    GC: (1, 3, 2),
    OTHER_STATE: (0, 1, 6),
    BARRIER: (1, 1, 1),
    CHOICE: (2, 1, 0),
    OTHER_AGGREGATION: (5, 2, 3),
    TIMEOUT: (0, 0, 2),
    DERIVATION: (0, 0, 0),
}
#: Relations that list nodes: whoever joins with one of them to send, sends to all.
_MEMBERS = frozenset({"member", "others", "parliament", "peers"})
_KEPT = frozenset({Kind.TABLE, Kind.LATTICE})


def count_durable() -> dict[str, tuple[int, ...]]:
    """Count what ``clew.multipaxos`` has for the same three parts; the rest of it has no counterpart there."""
    phases = {"Views": "prepare", "Votes": "propose", "Election": "election"}
    return _count(program_of(Multipaxos), phases)


def count_volatile() -> dict[str, tuple[int, ...]]:
    """Count ``examples/bloom/paxos.py``, which has nothing on disk, as the original had not."""
    sys.path.insert(0, str(_EXAMPLES))
    try:
        from paxos import ElectedMultipaxos  # the folder of the examples is no package
    finally:
        sys.path.remove(str(_EXAMPLES))
    phases = {
        "Views": "prepare",
        "Multipaxos.give_promise": "prepare",
        "Multipaxos.hear_promise": "prepare",
        "Multipaxos": "propose",
        "Queue": "propose",
        "ElectedMultipaxos": "election",
        "LeaderElection": "election",
        "Heartbeat": "election",
    }
    return _count(program_of(ElectedMultipaxos), phases)


def count_rest() -> dict[str, int]:
    """Count the rules of ``clew.multipaxos`` that the original has nothing for, by class."""
    owners = Counter(_owner(rule) for rule in program_of(Multipaxos).rules)
    return {name: owners[name] for name in sorted(owners) if name not in {"Views", "Votes", "Election"}}


def _count(program: BloomProgram, phases: dict[str, str]) -> dict[str, tuple[int, ...]]:
    found: Counter[tuple[str, str]] = Counter()
    for rule in program.rules:
        phase = phases.get(rule.block) or phases.get(_owner(rule))
        if phase is not None:
            found[phase, _idiom(rule, program)] += 1
            found[phase, ALL] += 1
    return {idiom: tuple(found[phase, idiom] for phase in PHASES) for idiom in (ALL, *IDIOMS)}


def _owner(rule: Rule) -> str:
    return rule.block.partition(".")[0]


def _idiom(rule: Rule, program: BloomProgram) -> str:
    parts: list[Any] = list(subexpressions(rule.expr))
    kinds = {program.by_name[name].kind for name in collections_in(rule.expr)}
    if rule.op is Op.SEND:
        joined = {name for part in parts if isinstance(part, Join) for name in collections_in(part)}
        return MULTICAST if joined & _MEMBERS else OTHER_MESSAGES
    if Kind.PERIODIC in kinds:
        return TIMEOUT
    if any(isinstance(part, Group) for part in parts):
        counts = any(a.function == "count" for part in parts if isinstance(part, Group) for a in part.aggregates)
        return BARRIER if counts else OTHER_AGGREGATION
    if any(isinstance(part, Extreme) for part in parts):
        return CHOICE
    if program.by_name[rule.target].kind in _KEPT:
        return _state_idiom(rule, program)
    return DERIVATION


def _state_idiom(rule: Rule, program: BloomProgram) -> str:
    block = [other for other in program.rules if other.block == rule.block and other.target == rule.target]
    if rule.op is Op.DELETE:
        return SEQUENCE if any(other.op is Op.NEXT for other in block) else GC
    if rule.op is Op.NEXT and rule.target in _read_in_step(rule, program):
        return SEQUENCE
    return OTHER_STATE


def _read_in_step(rule: Rule, program: BloomProgram) -> frozenset[str]:
    """Return what the rows of a rule depend on in its step."""
    found: set[str] = set()
    waiting = list(collections_in(rule.expr))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            if program.by_name[name].kind not in _KEPT:
                waiting += [r for rule in _rules_for(name, program) for r in collections_in(rule.expr)]
    return frozenset(found)


def _rules_for(name: str, program: BloomProgram) -> Iterator[Rule]:
    return (rule for rule in program.rules if rule.target == name and rule.op is Op.NOW)


def table_of_idioms() -> str:
    """Return the table: published / volatile / durable, for each of the three parts."""
    volatile, durable = count_volatile(), count_durable()
    rows: list[Sequence[str]] = [("idiom", *PHASES)]
    for idiom in (ALL, *IDIOMS):
        cells = zip(PUBLISHED[idiom], volatile[idiom], durable[idiom], strict=True)
        rows.append((idiom, *(" / ".join(str(number) for number in cell) for cell in cells)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    say("Table 2.1: published / examples/bloom/paxos.py / clew.multipaxos")
    say(table_of_idioms())
    rest = count_rest()
    listed = ", ".join(f"{name} {count}" for name, count in rest.items())
    say(f"beyond these, clew.multipaxos has {sum(rest.values())} rules: {listed}")


if __name__ == "__main__":
    main()
