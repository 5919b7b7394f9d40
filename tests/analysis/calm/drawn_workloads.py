"""Rows for drawn programs, with few values, so that they meet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from analysis.calm.drawn_programs import NODES, Declared, Drawn, Given, target


def workloads(program: Drawn, seed: int) -> list[Drawn]:
    """Return the program with few rows at one node, with more at both, and with one for each key."""
    chance = random.Random(seed)
    return [replace(program, given=tuple(given(program, chance))) for given in (_few, _many, _one_for_each_key)]


def _few(program: Drawn, chance: random.Random) -> Iterator[Given]:
    for one in _open(program):
        nodes = chance.choice((("a",), ("a",), NODES))
        rows = [(chance.choice((1, 1, 2)), chance.choice((1, 2, 2, 3))) for _ in range(chance.randint(1, 3))]
        yield from _given(one, nodes, rows, chance)


def _many(program: Drawn, chance: random.Random) -> Iterator[Given]:
    rows = [(k, v) for k in (1, 2) for v in (1, 2, 3)]
    for one in _open(program):
        yield from _given(one, NODES, chance.sample(rows, chance.randint(2, 4)), chance)


def _one_for_each_key(program: Drawn, chance: random.Random) -> Iterator[Given]:
    value = {k: chance.choice((1, 2, 3)) for k in (1, 2, 3)}
    for one in _open(program):
        keys = chance.sample((1, 2, 3), chance.randint(1, 3))
        yield from _given(one, chance.choice((("a",), NODES)), [(k, value[k]) for k in keys], chance)


def _open(program: Drawn) -> list[Declared]:
    """Return the collections that no rule fills; one may delete from them."""
    derived = {target(rule) for rule in program.rules if " <- " not in rule}
    return [d for d in program.declared if d.kind in "icefp" and d.name not in derived]


def _given(
    one: Declared, nodes: Sequence[str], rows: Sequence[tuple[int, int]], chance: random.Random
) -> Iterator[Given]:
    if one.kind == "p":
        yield from (Given(node, one.name, (peer,)) for node in NODES for peer in NODES)
        return
    for k, v in rows:
        for node in nodes:
            senders = NODES if "src" in one.columns and chance.random() < 0.3 else (chance.choice(NODES),)
            for sender in senders:
                values: dict[str, Any] = {"k": k, "v": v, "dst": node, "src": sender}
                step = 0 if one.kind == "f" else chance.choice((0, 0, 1, 2, 4))
                yield Given(node, one.name, tuple(values[c] for c in one.columns), step)
