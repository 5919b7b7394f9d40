"""Strongly connected components, iteratively (ground programs are deep) and in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(nodes: Iterable[N], successors: Callable[[N], Iterable[N]]) -> list[tuple[N, ...]]:
    """Find the components by Tarjan's algorithm, in reverse topological order (successors come first)."""
    index: dict[N, int] = {}
    lowest: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    found: list[tuple[N, ...]] = []

    def enter(node: N) -> tuple[N, Iterator[N]]:
        index[node] = lowest[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        return node, iter(successors(node))

    for root in nodes:
        if root in index:
            continue
        work = [enter(root)]  # an explicit stack: ground programs are deeper than Python's
        while work:
            node, remaining = work[-1]
            for successor in remaining:
                if successor not in index:
                    work.append(enter(successor))
                    break
                if successor in on_stack:  # otherwise its component is complete, and this node is not in it
                    lowest[node] = min(lowest[node], index[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == index[node]:
                    start = _last_index(stack, node)
                    component = tuple(stack[start:])
                    del stack[start:]
                    on_stack.difference_update(component)
                    found.append(component)
    return found


def _last_index(stack: list[N], node: N) -> int:
    # From the end: components are small, and list.index would walk over all that is open.
    position = len(stack) - 1
    while stack[position] != node:
        position -= 1
    return position
