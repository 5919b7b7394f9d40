"""Table 3 of the second paper, repeated: raft-45 with nine members, without and with shrinking of contents.

The paper shrinks the bootstrap message first and then runs STSSched; here contents are shrunk after TFB, so what
is compared is the end of the whole pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.effort import say
from benchmarks.minimization import scenario
from benchmarks.output import Table
from benchmarks.published_sizes import TABLE_3_INITIAL, TABLE_3_WITH, TABLE_3_WITHOUT, PublishedShrinking
from clew.minimization.minimizing import minimize
from clew.simulation.events import Send
from clew.simulation.execution.steps import Act
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.recording import Recording

NINE_MEMBERS = "raft/raft_bugs.py:raft45_nine"

#: How long the recording is: about as long as the published one.
_LENGTH = range(TABLE_3_INITIAL.deliveries - 60, TABLE_3_INITIAL.deliveries + 61)
_SEEDS = range(20_000)


@dataclass(frozen=True)
class Shrunk:
    """Deliveries, how many of them are of bootstrap messages, and how many members these name."""

    title: str
    deliveries: int
    bootstraps: int
    members: int
    published: PublishedShrinking


def measure() -> list[Shrunk]:
    loaded = scenario(NINE_MEMBERS)
    say("raft-45 with nine members")
    recorded = record(loaded, _seed(loaded))
    return [
        _shrunk("recorded", recorded, TABLE_3_INITIAL),
        _shrunk("without shrinking", minimize(recorded, loaded, shrink=False).recording, TABLE_3_WITHOUT),
        _shrunk("with shrinking", minimize(recorded, loaded).recording, TABLE_3_WITH),
    ]


def _seed(loaded: LoadedScenario) -> int:
    """The first whose violation comes after about as many deliveries as the published one."""
    for seed in _SEEDS:
        run = random_run(loaded.scenario, seed)
        if run.broken is not None and run.deliveries in _LENGTH:
            return seed
    raise RuntimeError(f"{NINE_MEMBERS}: no violation after {_LENGTH.start} to {_LENGTH.stop - 1} deliveries")


def _shrunk(title: str, recording: Recording, published: PublishedShrinking) -> Shrunk:
    delivered = [step for step in recording.steps if isinstance(step, Act) and step.kind == "Bootstrap"]
    sent = [getattr(step.message, "members", ()) for step in recording.steps if isinstance(step, Send)]
    return Shrunk(title, recording.deliveries, len(delivered), max(map(len, sent), default=0), published)


def table_3(columns: Sequence[Shrunk]) -> Table:
    cells = [
        (
            column.title,
            f"{column.deliveries} ({column.published.deliveries})",
            f"{column.bootstraps} ({column.published.bootstraps})",
            str(column.members),
        )
        for column in columns
    ]
    remark = "In brackets: as published.  Members: how many the bootstrap messages name."
    titles = ("raft-45, nine members", "deliveries", "bootstraps", "members")
    return Table("Table 3: shrinking of contents", titles, cells, [remark])
