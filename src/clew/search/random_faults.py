"""Random fault injection: the paper's baseline (section 5.2).

Each message is lost or not with equal chance; the number of crashes, who crashes and when are drawn
uniformly.  It never certifies anything; it is there to be compared with.
"""

from __future__ import annotations

from random import Random
from typing import assert_never

from clew.faults import Crash, Delay, Fault, FaultSet, Loss, SentMessage, by_message
from clew.search.protocol import System
from clew.search.verdict import Ledger


def search(system: System, ledger: Ledger, *, seed: int, max_runs: int) -> str | None:
    """Draw and run until something breaks or the runs are used up."""
    random = Random(seed)
    losses: list[Loss] = []
    delays: dict[SentMessage, list[Delay]] = {}
    for fault in system.faults:
        match fault:
            case Loss():
                losses.append(fault)
            case Delay():
                delays.setdefault(fault.message, []).append(fault)
            case Crash():
                pass  # drawn from the nodes: the paper's baseline chooses who crashes before it chooses when
            case _:
                assert_never(fault)
    # Within a single step nobody has the time to crash.
    most_crashes = system.spec.crashes if system.spec.eot > 1 else 0
    for _ in range(max_runs):
        faults: list[Fault] = [loss for loss in losses if random.random() < 0.5]
        lost = by_message(faults)
        for message, options in delays.items():
            lag = random.randrange(len(options) + 1)
            if lag and message not in lost:
                faults.append(options[lag - 1])
        crashing = random.sample(system.spec.nodes, random.randint(0, most_crashes))
        faults += [Crash(node, random.randrange(1, system.spec.eot)) for node in crashing]
        ledger.before_run("drawing at random")
        run = system.run(FaultSet.of(faults))
        ledger.after_run(run)
        if run.violations:
            ledger.record(run)
            return None
    return f"{max_runs} random runs showed no violation, which proves nothing"
