"""From which collections the effects of a step came, so that lineage sees more than "the node did something".

A step evaluates all rules, and so reads all that its node has.  What it *did*, it did because of some of that: a
rule that derived nothing contributed nothing.  This follows the rules back from what a step changed and sent, over
those that can have derived it, to the tables and lattices that they combined with what arrived.  It may name too
many (a rule of which all sources have rows need not have found a pair), and never leaves out one that a row came
from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clew.bloom.ir.expressions import (
    AnyExpr,
    Extreme,
    Join,
    NotIn,
    Project,
    Ref,
    Rename,
    Take,
    Transform,
    WhenTrue,
    collections_in,
)
from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Kind

#: A collection, and by which operator something came into it.
Effect = tuple[str, Op]


class Contributions:
    """Follows the rules of a program backwards."""

    def __init__(self, program: BloomProgram) -> None:
        self._persists = {c.name for c in program.collections if c.kind.persists}
        self._rules: dict[Effect, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for rule in program.rules:
            entry = collections_in(rule.expr), tuple(_find_needed(rule.expr))
            self._rules.setdefault((rule.target, rule.op), []).append(entry)

    def find(self, effects: Iterable[Effect], has_rows: Callable[[str], bool]) -> set[str]:
        """Return the tables and lattices that these effects can have come from, as collections are now."""
        found: set[str] = set()
        work = list(effects)
        seen = set(work)
        while work:
            for reads, needed in self._rules.get(work.pop(), ()):
                # Where a source has no row, neither has the rule: it contributed nothing in this step.
                if not all(map(has_rows, needed)):
                    continue
                for name in reads:
                    if name in self._persists:
                        found.add(name)
                    elif (name, Op.NOW) not in seen:
                        seen.add((name, Op.NOW))
                        work.append((name, Op.NOW))
        return found


def sources_of_invariants(program: BloomProgram) -> tuple[str, ...]:
    """Return the collections of which it depends whether a rule of ``die`` derives a row, within a step."""
    deriving: dict[str, list[str]] = {}
    for rule in program.rules:
        if rule.op is Op.NOW:
            deriving.setdefault(rule.target, []).extend(collections_in(rule.expr))
    work = [c.name for c in program.collections if c.kind is Kind.DIE]
    seen = dict.fromkeys(work)
    while work:
        more = [name for name in deriving.get(work.pop(), ()) if name not in seen]
        seen.update(dict.fromkeys(more))
        work += more
    return tuple(c.name for c in program.collections if c.name in seen)


def _find_needed(expr: AnyExpr) -> Iterator[str]:
    """Yield collections without a row of which the expression has none, as far as that can be told."""
    match expr:
        case Ref(collection):
            yield collection
        case Join(sources, _, take):
            # An outer join has rows without any on its right.
            for source in sources[:1] if take is Take.OUTER else sources:
                yield from _find_needed(source)
        case NotIn(source) | WhenTrue(_, source):
            yield from _find_needed(source)
        case Transform() | Rename() | Project() | Extreme():
            yield from _find_needed(expr.source)
