"""The bars of Bloom: closure, steps with little news, messages, a key-value store that loses a replica."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import bloom_closure, bloom_kills, bloom_kvs, bloom_maintain, bloom_network, bloom_tracing
from benchmarks.bars import Bar
from benchmarks.effort import Effort, say

MESSAGES_PER_SECOND = 20_000


def of_bloom(effort: Effort) -> list[Bar]:
    kept, stored = bloom_maintain.bars(effort), _store(effort)
    return [*_closure(effort), *kept, *_messages(effort), *stored, _kills(effort), *_traces(effort)]


def _closure(effort: Effort) -> Iterator[Bar]:
    say("bloom: transitive closure")
    for nodes in bloom_closure.NODES:
        measured = bloom_closure.measure(nodes, repetitions=effort.repetitions)
        yield Bar(
            f"bloom: closure of {bloom_closure.EDGES} edges over {nodes} nodes, against dictionaries by hand",
            f"{measured.ratio:.1f} times ({measured.paths} paths, {measured.bloom:.2f} s)",
            f"{bloom_closure.BAR:g} times",
            measured.ratio <= bloom_closure.BAR,
        )


def _messages(effort: Effort) -> Iterator[Bar]:
    say("bloom: messages between two processes")
    pace, authenticated = bloom_network.compare(effort.deliveries // 5, effort.repetitions)
    yield Bar(
        "bloom: channel messages per second between two processes",
        f"{pace.per_second:.0f} ({pace.received} of {pace.sent} arrived)",
        f"{MESSAGES_PER_SECOND}",
        pace.per_second >= MESSAGES_PER_SECOND,
    )
    cost = 1 - authenticated.per_second / pace.per_second
    yield Bar(
        "bloom: what a secret costs of the messages per second",
        f"{cost:.0%} ({authenticated.per_second:.0f} a second)",
        f"{bloom_network.SECRET_BAR:.0%}",
        cost <= bloom_network.SECRET_BAR,
    )


def _kills(effort: Effort) -> Bar:
    kills = 1_000 if effort.repetitions > 1 else 50
    say(f"bloom: {kills} kills of a durable node under load")
    with tempfile.TemporaryDirectory() as folder:
        found = bloom_kills.measure(kills, Path(folder))
    return Bar(
        f"bloom: a durable node killed {kills} times under load",
        f"{found.lost} of {found.acknowledged} acknowledged puts lost",
        "0 lost",
        found.lost == 0 and found.acknowledged > 0,
    )


def _store(effort: Effort) -> Iterator[Bar]:
    puts = effort.deliveries // 100
    for window in (100, 400):
        for killed in (None, 0):
            told = "none killed" if killed is None else "one of them killed and restarted"
            say(f"bloom: {puts} puts to 3 replicas, {window} outstanding, {told}")
            with tempfile.TemporaryDirectory() as folder:
                run = bloom_kvs.measure(bloom_kvs.Plan(puts, window, killed), Path(folder))
            yield Bar(
                f"bloom: {puts} puts to 3 processes, {window} outstanding for each of 2 clients, {told}",
                f"{run.lost} of {run.acknowledged} acknowledged puts lost, {run.per_second:.0f} puts per second",
                "0 lost",
                run.lost == 0 and run.acknowledged == puts and run.exact,
            )


def _traces(effort: Effort) -> Iterator[Bar]:
    say("bloom: rules that are counted, and traced")
    for workload in bloom_tracing.WORKLOADS:
        found = bloom_tracing.measure(workload, repetitions=max(3, effort.repetitions))
        yield Bar(
            f"bloom: processor time and rows of {workload} when all rules are counted, or traced",
            f"{found.counted:.2f} times, {found.traced:.2f} times; {found.rows:.2f} times the rows",
            f"{bloom_tracing.BAR:g} times",
            max(found.counted, found.traced, found.rows) <= bloom_tracing.BAR,
        )
