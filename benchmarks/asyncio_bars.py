"""The bars of unmodified asyncio programs, each as measured, its limit, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import asyncio_programs as programs
from benchmarks.bars import Bar
from benchmarks.effort import Effort, say
from clew.search.verdict import Answer

STORE_EXECUTIONS = 20
STORE_EVENTS, TABLE_EVENTS = 15_000, 10_000
TABLE_DELIVERIES, TABLE_SECONDS = 6, 30
#: How many deliveries the run has that is minimized, at least.
LONG = 300
#: Seeds of random searches, whatever the effort.
SEEDS = 10


def of_asyncio(effort: Effort) -> list[Bar]:
    return [*_store(effort), *_table(), *_pace(effort), *_beside_simloom(effort)]


def _store(effort: Effort) -> Iterator[Bar]:
    for name, described in (("read_one", ""), ("busy", ", ten times the messages")):
        say(f"asyncio: the store by lineage and at random{described}")
        found = programs.store_by_lineage(name)
        yield Bar(
            f"asyncio: executions until the three faults of the store{described}",
            f"{found.runs} ({found.counterexample.faults if found.counterexample else 'nothing found'})",
            str(STORE_EXECUTIONS),
            found.answer is Answer.COUNTEREXAMPLE and found.runs <= STORE_EXECUTIONS,
        )
        drawn = programs.store_at_random(name, min(SEEDS, effort.seeds))
        yield Bar(f"asyncio: the same at random{described}", str(drawn), "shown", True)


def _table() -> Iterator[Bar]:
    say("asyncio: kademlia, found and minimized")
    table = programs.minimize_table(LONG)
    yield Bar(
        f"asyncio: kademlia, deliveries of the minimized failure ({table.what})",
        f"{table.after} (of {table.before}, found in run {table.runs})",
        str(TABLE_DELIVERIES),
        table.after <= TABLE_DELIVERIES,
    )
    yield Bar(
        "asyncio: kademlia, seconds of the processor to find and minimize it",
        f"{table.finding + table.minimizing:.1f} ({table.finding:.1f} + {table.minimizing:.1f})",
        str(TABLE_SECONDS),
        table.finding + table.minimizing <= TABLE_SECONDS,
    )


def _pace(effort: Effort) -> Iterator[Bar]:
    measured = (
        ("the store", f"{programs.STORE}:busy", STORE_EVENTS),
        ("kademlia", f"{programs.TABLE}:put", TABLE_EVENTS),
    )
    for name, target, least in measured:
        say(f"asyncio: events per second of {name}")
        pace = programs.measure_pace(target, 20, effort.repetitions)
        yield Bar(
            f"asyncio: events of {name}, per second",
            f"{pace.events:.0f} ({pace.executions:.0f} executions a second)",
            str(least),
            pace.events >= least,
        )


def _beside_simloom(effort: Effort) -> Iterator[Bar]:
    python = programs.prepare_simloom()
    if python is None:
        say("asyncio: no Python 3.12, or no simloom for it: not compared")
        return
    say("asyncio: the same programs under simloom")
    seeds = min(SEEDS, effort.seeds)
    nodes = ("client", "a", "b", "c")
    for name, shown in (
        ("the store", programs.store_by_simloom(python, "read_one", seeds, nodes)),
        (
            "the store, ten times the messages",
            programs.store_by_simloom(python, "busy", seeds, (*nodes, "monitor")),
        ),
    ):
        yield Bar(f"asyncio: executions of simloom until the bug of {name}", str(shown), "shown", True)
