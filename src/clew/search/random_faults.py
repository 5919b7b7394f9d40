"""Random fault injection: the paper's baseline (section 5.2).

Each message is lost or not with equal chance; the number of crashes, who crashes and when are drawn
uniformly.  It never certifies anything.
"""

from __future__ import annotations

from random import Random

from clew.faults import Crash, Delay, Fault, FaultSet, Loss
from clew.search.protocol import System
from clew.search.verdict import Ledger


def search(system: System, ledger: Ledger, *, seed: int, max_runs: int) -> str | None:
    """Draw and run until something breaks or the runs are used up."""
    random = Random(seed)
    losses = [f for f in system.faults if isinstance(f, Loss)]
    delays: dict[tuple[object, ...], list[Delay]] = {}
    for fault in system.faults:
        if isinstance(fault, Delay):
            delays.setdefault((fault.source, fault.target, fault.time), []).append(fault)
    for _ in range(max_runs):
        faults: list[Fault] = [loss for loss in losses if random.random() < 0.5]
        lost = {(f.source, f.target, f.time) for f in faults if isinstance(f, Loss)}
        for message, options in delays.items():
            lag = random.randrange(len(options) + 1)
            if lag and message not in lost:
                faults.append(options[lag - 1])
        crashing = random.sample(system.spec.nodes, random.randint(0, system.spec.crashes))
        faults += [Crash(node, random.randrange(1, system.spec.eot)) for node in crashing]
        ledger.before_run("drawing at random")
        run = system.run(FaultSet.of(faults))
        if run.violations:
            ledger.record(run)
            return None
    return f"{max_runs} random runs showed no violation, which proves nothing"
