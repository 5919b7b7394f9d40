"""A replica of a durable log that is killed and restarted again and again under load: is anything lost?

``python -m benchmarks.multipaxos_kills [KILLS]``.  Three processes keep registers; one of them, drawn anew each time,
often the leader, is killed (SIGKILL) at a random moment and started again with its file.  In the end the files are
read with SQLite and msgpack directly, by nothing that wrote them:

- all three have read equally far, have the same registers and the same sessions, and agree on all decrees they keep;
- every request that was answered is done, with the answer that was given.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]

from benchmarks.multipaxos_cluster import Clients, Cluster, Journal

#: How long a replica is up at the most before the next one is killed, and down, in seconds.
_LONGEST_LIFE, _LONGEST_OUTAGE = 1.0, 0.5
_PATIENCE = 60.0


@dataclass(frozen=True)
class Kills:
    """``problems``: what is wrong with the files in the end."""

    kills: int
    acknowledged: int
    decrees: int
    problems: tuple[str, ...]
    seconds: float


def measure(kills: int, folder: Path, seed: int = 0, *, clients: int = 4, window: int = 8) -> Kills:
    chance = random.Random(seed)
    started = time.perf_counter()
    with Cluster(folder, Journal) as cluster:
        load = Clients(cluster, clients, window, keys=50)
        with load.node:
            load.begin()
            _await_answers(load, chance, cluster)
            for _ in range(kills):
                number = chance.randrange(cluster.size)
                cluster.kill(number)
                _go_on(load, chance, cluster, chance.random() * _LONGEST_OUTAGE)
                cluster.start(number)
                _go_on(load, chance, cluster, chance.random() * _LONGEST_LIFE)
                _await_answers(load, chance, cluster)
            load.end()
            _await_all(load, chance, cluster)
            _await_convergence(cluster)
    found = [_read(folder / f"{number}.sqlite") for number in range(3)]
    problems = (*_compare(found), *_find_missing(load, found))
    return Kills(kills, len(load.acknowledged), found[0].position[0] - 1, problems, time.perf_counter() - started)


# -- the load ----------------------------------------------------------------------------------------------------


def _go_on(load: Clients, chance: random.Random, cluster: Cluster, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        time.sleep(0.05)
        load.repeat(0.5, chance.choice([m.address for m in cluster.members.values()]))


def _await_answers(load: Clients, chance: random.Random, cluster: Cluster) -> None:
    """Wait until something more is answered: so every kill hits replicas that are at work."""
    before, limit = len(load.acknowledged), time.monotonic() + _PATIENCE
    while len(load.acknowledged) <= before + 5:
        if time.monotonic() > limit:
            raise RuntimeError(f"nothing is answered any more after {before} answers")
        _go_on(load, chance, cluster, 0.1)


def _await_all(load: Clients, chance: random.Random, cluster: Cluster) -> None:
    limit = time.monotonic() + _PATIENCE
    while load.outstanding:
        if time.monotonic() > limit:
            raise RuntimeError(f"{load.outstanding} requests are never answered")
        _go_on(load, chance, cluster, 0.1)


def _await_convergence(cluster: Cluster) -> None:
    limit = time.monotonic() + _PATIENCE
    while len({str(position) for position in cluster.positions()}) > 1:
        if time.monotonic() > limit:
            raise RuntimeError(f"the replicas stay at {cluster.positions()}")
        time.sleep(0.2)


# -- the files ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    position: tuple[int, int]
    chosen: dict[int, Any]
    registers: dict[str, Any]
    done: dict[tuple[str, int], Any]
    journal: dict[tuple[str, int], tuple[int, int]]


def _read(data: Path) -> Kept:
    """Return what is in a file, without the code that wrote it."""
    with closing(sqlite3.connect(data)) as connection:
        rows = connection.execute("SELECT name, row FROM kept").fetchall()
    tables: dict[str, list[Any]] = {}
    for name, row in rows:
        tables.setdefault(name, []).append(msgpack.unpackb(row, use_list=False, strict_map_key=False))
    return Kept(
        max((tuple(row) for row in tables.get("reached", [])), default=(1, 0)),
        {row[0]: row[1] for row in tables.get("chosen", [])},
        dict(tables.get("registers", [])),
        {(row[0], row[1]): row[2] for row in tables.get("done", [])},
        {(row[0], row[1]): (row[2], row[3]) for row in tables.get("journal", [])},
    )


def _compare(found: list[Kept]) -> list[str]:
    """Return where replicas differ."""
    first = found[0]
    problems = []
    for number, other in enumerate(found[1:], 1):
        for name in ("position", "registers", "journal"):
            if getattr(first, name) != getattr(other, name):
                problems.append(f"0 and {number} have different {name}s")
        for instance in first.chosen.keys() & other.chosen.keys():
            if first.chosen[instance] != other.chosen[instance]:
                problems.append(f"0 and {number} disagree on instance {instance}")
    return problems


def _find_missing(load: Clients, found: list[Kept]) -> list[str]:
    """Return what was answered and is not done, or answered with something else than what was written."""
    problems = []
    for (client, number), answer in load.acknowledged.items():
        if answer != f"{client}, {number}":
            problems.append(f"{client}, {number} was answered {answer!r}")
        for replica, kept in enumerate(found):
            if (client, number) not in kept.journal:
                problems.append(f"{client}, {number} was answered and is not in the journal of {replica}")
    for replica, kept in enumerate(found):
        if len(set(kept.journal.values())) != len(kept.journal):
            problems.append(f"{replica} has two requests at one place of the log")
    return problems


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        found = measure(kills, Path(folder))
    print(
        f"{found.kills} kills in {found.seconds:.0f} s: {found.acknowledged} requests answered, {found.decrees} decrees, "
        f"{len(found.problems)} problems{': ' if found.problems else ''}{'; '.join(found.problems[:5])}"
    )


if __name__ == "__main__":
    main()
