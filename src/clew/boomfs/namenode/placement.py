"""Where replicas go: functions of what a NameNode knows of its DataNodes, which give the same each time.

A node is described by its address, the address of its bytes, what is free on its disk, and how many chunks it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any


def take_first(items: Iterable[Any], most: int) -> list[Any]:
    """Return the smallest items, at most so many."""
    return sorted(items)[:most]


def _mix(number: int, address: str) -> str:
    """Return what decides between DataNodes with as many chunks: another one for each chunk."""
    return sha256(f"{number} {address}".encode()).hexdigest()


def _by_load(number: int, nodes: Iterable[Any]) -> list[Any]:
    return sorted(nodes, key=lambda node: (node[3], _mix(number, node[0]), node[0]))


def choose_places(
    number: int, nodes: Iterable[Any] | None, excluded: Iterable[str], factor: int, least_free: int
) -> tuple[str, ...]:
    """Choose where the replicas of a new chunk go: the DataNodes with the fewest chunks that have room."""
    not_here = set(excluded)
    fit = [node for node in nodes or () if node[1] not in not_here and node[2] >= least_free]
    return tuple(node[1] for node in _by_load(number, fit)[:factor])


def choose_copy(
    chunk: int, length: int, holders: Iterable[str], nodes: Iterable[Any], least_free: int
) -> Iterator[tuple[str, int, int, str]]:
    """Choose who copies a chunk, and to whom; nothing if there is nobody else with room."""
    holding = set(holders)
    sources = [node for node in nodes if node[0] in holding]
    targets = [node for node in nodes if node[0] not in holding and node[2] >= max(least_free, length)]
    if sources and targets:
        # Not always the same source: after a failure, all that have something to copy do so at once.
        source = min(sources, key=lambda node: _mix(chunk, node[0]))
        yield source[0], chunk, length, _by_load(chunk, targets)[0][1]


def choose_drop(chunk: int, holders: Iterable[str], nodes: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Choose which of too many replicas goes: that at the DataNode with the most chunks."""
    holding = set(holders)
    there = _by_load(chunk, [node for node in nodes if node[0] in holding])
    if len(there) > 1:
        yield there[-1][0], chunk
