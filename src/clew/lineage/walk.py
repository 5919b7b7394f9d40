"""Building gates depth first without recursion: lineage is as deep as the execution is long."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def build(root: N, gates: dict[N, int], plan: Callable[[N], tuple[Sequence[N], Callable[[], int]]]) -> int:
    """The gate of ``root``; ``plan`` says what a node needs first and how its gate follows from that."""
    work = [root]
    finish: dict[N, Callable[[], int]] = {}
    while work:
        node = work[-1]
        if node in gates:
            work.pop()
        elif node in finish:
            gates[node] = finish[node]()
            work.pop()
        else:
            needed, finish[node] = plan(node)
            work.extend(n for n in needed if n not in gates)
    return gates[root]
