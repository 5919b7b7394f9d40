"""Shortcuts: contradictions that are found in a sweep, where each value is written once.

A register whose values are all different (Gibbons and Korach, *Testing shared memories*, 1997).  A value and those
who read it are a cluster; it has a *zone* between the first answer and the last call in it.  If that answer is
first (a forward zone), the register must have had the value all the time between.  The history is linearizable if
and only if no value is read that was not there yet, no two forward zones overlap, and no cluster lies wholly
within the forward zone of another.

A queue whose values are all different, never seen empty, without unknown dequeues (Henzinger, Sezgin and
Vafeiadis, *Aspect-oriented linearizability proofs*, 2013): no value comes out that is not in, none comes out
twice, and of two that were enqueued one after the other the second does not come out before the first.

Both take time n log n where the search may take exponential time.  ``contradiction`` returns the few operations
that cannot go together, whatever the others did; the search, which shares no code with this, is asked about them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from clew.histories.models import Model, Queue, Register
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Value

#: The operations that contradict each other; none if the history is linearizable.
Contradiction = tuple[Operation, ...]


def find_contradiction(operations: Sequence[Operation], model: Model) -> Contradiction | None:
    """Return what contradicts itself, or nothing; None where no shortcut applies."""
    # Of these classes exactly: one that derives from them may mean something else.
    shortcut = _SHORTCUTS.get(type(model))
    return shortcut(operations, model) if shortcut else None


# -- registers ---------------------------------------------------------------------------------------------------


class _Cluster(NamedTuple):
    """A value: who wrote it (nobody, if it is the initial one), and who read it."""

    write: Operation | None
    reads: list[Operation]

    @property
    def first_answer(self) -> float:
        if self.write is None:
            return -inf  # what is there from the beginning has been there before every call
        return min(map(_end, self.operations))

    @property
    def last_call(self) -> float:
        return max((op.start for op in self.operations), default=-inf)

    @property
    def operations(self) -> list[Operation]:
        return [*([self.write] if self.write else []), *self.reads]

    @property
    def outermost(self) -> list[Operation]:
        """Return the operations that make its zone, with the write: without it, reads would be from nowhere."""
        last = max(self.operations, key=lambda op: op.start)
        return [*([self.write] if self.write else []), min(self.operations, key=_end), last]


def _end(op: Operation) -> float:
    return inf if op.end is None else op.end


def _contradiction_of_register(operations: Sequence[Operation], model: Model) -> Contradiction | None:
    clusters: dict[Value, _Cluster] = {model.initial: _Cluster(None, [])}
    for op in operations:
        if op.function == "write":
            if op.argument in clusters:
                return None  # written twice
            clusters[op.argument] = _Cluster(op, [])
        elif op.function != "read":
            return None
    # All writes are known now: reads may stand before them in the order of calls.
    for op in operations:
        if op.function == "read" and op.outcome is Outcome.OK:
            cluster = clusters.get(op.result)
            if cluster is None:
                return (op,)
            if cluster.write is not None and _end(op) < cluster.write.start:
                return _in_order(cluster.write, op)
            cluster.reads.append(op)
    return _clash_of_zones([cluster for cluster in clusters.values() if cluster.operations])


def _clash_of_zones(clusters: Sequence[_Cluster]) -> Contradiction:
    zones = [(cluster.first_answer, cluster.last_call, cluster) for cluster in clusters]
    forward = sorted((zone for zone in zones if zone[0] < zone[1]), key=lambda zone: zone[0])
    for one, other in pairwise(forward):
        # Neighbours suffice: if none of them overlap, the zones are in order.
        if other[0] < one[1]:
            return _in_order(*one[2].outermost, *other[2].outermost)
    begins = [zone[0] for zone in forward]
    # Forward zones are in order now, so only the last one that begins before a cluster can contain it.
    for last, first, cluster in zones:
        # A backward zone: all its calls come before its first answer, so it could be a single moment.
        if last >= first:
            before = bisect_left(begins, first) - 1
            if before >= 0 and last < forward[before][1]:
                return _in_order(*cluster.outermost, *forward[before][2].outermost)
    return ()


# -- queues ------------------------------------------------------------------------------------------------------


def _contradiction_of_queue(operations: Sequence[Operation], model: Model) -> Contradiction | None:
    enqueued: dict[Value, Operation] = {}
    dequeued: dict[Value, Operation] = {}
    twice: list[Contradiction] = []
    for op in operations:
        if op.function == "enqueue":
            if op.argument in enqueued:
                return None
            enqueued[op.argument] = op
        elif op.outcome is not Outcome.OK or op.result is None:
            return None
        elif op.result in dequeued:
            twice.append((dequeued[op.result], op))
        else:
            dequeued[op.result] = op
    # After all enqueues are known: the first line of a history may well be a dequeue.
    for first, second in twice:
        enqueue = enqueued.get(first.result)
        return _in_order(*([enqueue] if enqueue else []), first, second)
    for value, op in dequeued.items():
        if value not in enqueued:
            return (op,)
        if _end(op) < enqueued[value].start:
            return _in_order(enqueued[value], op)
    return _overtaking(enqueued, dequeued)


def _overtaking(enqueued: dict[Value, Operation], dequeued: dict[Value, Operation]) -> Contradiction:
    """Return two values of which the second came in after the first, and out before it, if it came out at all."""

    def comes_out(value: Value) -> float:
        return dequeued[value].start if value in dequeued else inf

    # A sweep in the order of calls; what was enqueued before the current call has its latest exit in ``latest``.
    by_call = sorted((value for value in enqueued if value in dequeued), key=lambda value: enqueued[value].start)
    by_answer = sorted(enqueued, key=lambda value: _end(enqueued[value]))
    latest: Value = None
    done = 0
    for value in by_call:
        while done < len(by_answer) and _end(enqueued[by_answer[done]]) < enqueued[value].start:
            if not done or comes_out(by_answer[done]) > comes_out(latest):
                latest = by_answer[done]
            done += 1
        if done and comes_out(latest) > _end(dequeued[value]):
            last = [dequeued[latest]] if latest in dequeued else []
            return _in_order(enqueued[latest], enqueued[value], dequeued[value], *last)
    return ()


def _in_order(*operations: Operation) -> Contradiction:
    """Return each operation once, in the order in which they began."""
    return tuple(sorted(Counter(operations), key=lambda op: op.start))


_SHORTCUTS: dict[type, Callable[[Sequence[Operation], Model], Contradiction | None]] = {
    Register: _contradiction_of_register,
    Queue: _contradiction_of_queue,
}
