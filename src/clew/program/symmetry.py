"""Renamings of nodes that change nothing: the program's text and its facts stay the same.

Nodes that a rule names can never be renamed; the others are tried class by class of equal facts.  A search that
knows these renamings tries one fault set of each class (``--symmetry``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod

from clew.faults import NodeName, node_key
from clew.program.ir import BinOp, Program, Value, rule_constants

#: More renamings than this are not worth their bookkeeping; a part of them is still correct to use.
MOST_RENAMINGS = 720


def automorphisms(program: Program, nodes: Sequence[NodeName]) -> list[Mapping[NodeName, NodeName]]:
    """Return every such renaming but the identity; if there are too many, those of the first few nodes."""
    # Which rows may be given, and which is taken where nothing is picked, goes by names.
    if _compares_names(program) or program.open_rows:
        return []
    named = set(rule_constants(program))  # a rule that says "a" treats a differently from every other node
    facts = {(f.relation, f.args, f.time) for f in program.facts}
    classes: dict[object, list[NodeName]] = {}
    for node in sorted(nodes, key=node_key):
        # A number may also be a time (crash(_, _, T), p(..)@N), and times keep their places.
        if node not in named and not isinstance(node, int):
            classes.setdefault(_profile(node, program), []).append(node)
    groups = _within_limit([group for group in classes.values() if len(group) > 1])
    found: list[Mapping[NodeName, NodeName]] = []
    for choice in product(*(permutations(group) for group in groups)):
        renaming: dict[NodeName, NodeName] = {
            old: new
            for group, image in zip(groups, choice, strict=True)
            for old, new in zip(group, image, strict=True)
            if old != new
        }
        if renaming and _preserves(facts, renaming):
            found.append(renaming)
    return found


def _within_limit(groups: list[list[NodeName]]) -> list[list[NodeName]]:
    while prod(factorial(len(g)) for g in groups) > MOST_RENAMINGS:
        # Fewer nodes of the largest group: a part of the symmetries saves less, and is just as sound.
        largest = max(range(len(groups)), key=lambda k: len(groups[k]))
        groups[largest] = groups[largest][:-1]
    return groups


def _preserves(facts: set[tuple[str, tuple[Value, ...], int]], renaming: Mapping[NodeName, NodeName]) -> bool:
    # Into is enough: a renaming is one-to-one, and there are finitely many facts, so it is onto, too.
    return all((r, tuple(rename_value(v, renaming) for v in args), t) in facts for r, args, t in facts)


def rename_value(value: Value, renaming: Mapping[NodeName, NodeName]) -> Value:
    """Return the value with other names for nodes, also inside tuples."""
    if isinstance(value, tuple):
        return tuple(rename_value(item, renaming) for item in value)
    return renaming.get(value, value) if isinstance(value, str | int) else value


def _profile(node: NodeName, program: Program) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    """Return where a node stands in the facts; nodes with different profiles cannot trade places."""
    distinct = dict.fromkeys((f.relation, f.time, f.args) for f in program.facts if node in f.args)
    return tuple(sorted((r, t, tuple(k for k, v in enumerate(args) if v == node)) for r, t, args in distinct))


def _compares_names(program: Program) -> bool:
    """Tell whether a rule looks into values (order, arithmetic, aggregates, functions): renaming may change it."""
    return any(
        rule.aggregates
        or rule.calls
        or any(isinstance(a, BinOp) for a in rule.args)
        or any(c.op not in ("==", "!=") or BinOp in (type(c.left), type(c.right)) for c in rule.comparisons)
        for rule in program.rules
    )
