"""Whether replicas agreed, from what they wrote and what clients were told; knows nothing of rules or ballots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def find_problems(
    submitted: Mapping[tuple[str, int], int],
    acknowledged: Sequence[tuple[int, str, int, Any]],
    chosen: Sequence[tuple[int, str, int, Any]],
    traces: Sequence[tuple[int, str, int, Any]],
    votes: Sequence[tuple[int, str, int, Any, Any]],
    final: Mapping[str, Sequence[tuple[int, Any]]],
) -> list[str]:
    """Return what is wrong.

    ``submitted``: when each request (client, number) was first sent; its token is (client, number).
    ``acknowledged``: (when, client, number, place in the log).  ``chosen``: (when, node, instance, decree) that was
    ever written, ``traces`` the same of (place, token), ``votes`` of (instance, view, decree).  ``final``: what the
    log of each node is in the end.
    """
    return [
        *_disagreements("instance", chosen),
        *_disagreements("place", traces),
        *_disagreements("view", [(when, node, (i, view), decree) for when, node, i, view, decree in votes]),
        *_log_problems(final),
        *_acknowledgement_problems(submitted, acknowledged, final),
        *_order_problems(submitted, acknowledged),
    ]


def _disagreements(what: str, written: Sequence[tuple[int, str, Any, Any]]) -> Iterator[str]:
    first: dict[Any, tuple[str, Any]] = {}
    for when, node, key, value in written:
        known = first.setdefault(key, (node, value))
        if known[1] != value:
            yield f"{what} {key}: {known[0]} wrote {known[1]}, {node} wrote {value} at {when}"


def _log_problems(final: Mapping[str, Sequence[tuple[int, Any]]]) -> Iterator[str]:
    logs = {node: [token for _, token in sorted(rows)] for node, rows in final.items()}
    for node, rows in final.items():
        if sorted(place for place, _ in rows) != list(range(1, len(rows) + 1)):
            yield f"{node} has gaps: {sorted(rows)}"
        if len(set(logs[node])) != len(logs[node]):
            yield f"{node} has done something twice: {logs[node]}"
    if len({tuple(log) for log in logs.values()}) > 1:
        yield f"the logs have not converged: {logs}"


def _acknowledgement_problems(
    submitted: Mapping[tuple[str, int], int],
    acknowledged: Sequence[tuple[int, str, int, Any]],
    final: Mapping[str, Sequence[tuple[int, Any]]],
) -> Iterator[str]:
    places = [{token: place for place, token in rows} for rows in final.values()]
    for when, client, number, answer in acknowledged:
        for place in places:
            if place.get((client, number)) != answer:
                yield f"({client}, {number}) was told {answer} at {when}, and a log has it at {place.get((client, number))}"
    missing = set(submitted) - {(client, number) for _, client, number, _ in acknowledged}
    if missing:
        yield f"never acknowledged: {sorted(missing)}"
    unknown = {token for place in places for token in place} - set(submitted)
    if unknown:
        yield f"done and never submitted: {sorted(unknown)}"


def _order_problems(
    submitted: Mapping[tuple[str, int], int], acknowledged: Sequence[tuple[int, str, int, Any]]
) -> Iterator[str]:
    """Whoever was answered before another one asked comes before it in the log."""
    earliest: dict[tuple[str, int], tuple[int, Any]] = {}
    for when, client, number, answer in acknowledged:
        earliest.setdefault((client, number), (when, answer))
    for key, (when, place) in earliest.items():
        for other, (_, other_place) in earliest.items():
            if submitted[other] > when and other_place <= place:
                yield f"{other} was sent after {key} was answered, and is before it: {other_place} <= {place}"
