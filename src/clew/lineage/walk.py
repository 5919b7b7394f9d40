"""Building gates depth first without recursion: lineage is as deep as the execution is long."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

N = TypeVar("N", bound=Hashable)
K = TypeVar("K", contravariant=True)


class Gates(Protocol[K]):
    """Gates that have been built, by what they stand for."""

    def __contains__(self, node: object, /) -> bool: ...

    def __getitem__(self, node: K, /) -> int: ...

    def __setitem__(self, node: K, gate: int, /) -> None: ...


def build(root: N, gates: Gates[N], plan: Callable[[N], tuple[Sequence[N], Callable[[], int]]]) -> int:
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
