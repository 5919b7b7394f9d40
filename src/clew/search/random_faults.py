"""Random fault injection: the paper's baseline (section 5.2).

Each message is lost or not with equal chance; the number of crashes, who crashes and when are drawn uniformly, and
likewise the faults of further kinds that are limited in number; whatever may be given is given or not with equal
chance.  It never certifies anything; it is there to be
compared with.
"""

from __future__ import annotations

from random import Random
from typing import assert_never

from clew.faults import (
    Crash,
    Delay,
    Duplicate,
    Fault,
    FaultSet,
    Input,
    Loss,
    Partition,
    Pause,
    Pick,
    Restart,
    SentMessage,
    Stop,
    by_message,
    exclusive_pairs,
)
from clew.search.protocol import System
from clew.search.verdict import Ledger


def search(system: System, ledger: Ledger, *, seed: int, max_runs: int) -> str | None:
    """Draw and run until something breaks or the runs are used up."""
    random = Random(seed)
    losses: list[Loss] = []
    delays: dict[SentMessage, list[Delay]] = {}
    passing: dict[type[Fault], list[Fault]] = {}
    given: dict[type[Fault], list[Fault]] = {}
    for fault in system.faults:
        match fault:
            case Loss():
                losses.append(fault)
            case Delay():
                delays.setdefault(fault.message, []).append(fault)
            case Crash():
                pass  # drawn from the nodes: the paper's baseline chooses who crashes before it chooses when
            case Duplicate() | Restart() | Pause() | Partition() | Stop():
                passing.setdefault(type(fault), []).append(fault)
            case Input() | Pick():
                given.setdefault(type(fault), []).append(fault)
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
        for kind, some in passing.items():
            faults = _add_at_random(faults, some, random.randint(0, kind.most(system.spec) or 0), random)
        for kind, some in given.items():
            most = kind.most(system.spec)
            chosen = [fault for fault in some if random.random() < 0.5]
            faults += chosen if most is None else random.sample(chosen, min(most, len(chosen)))
        ledger.before_run("drawing at random")
        run = system.run(FaultSet.of(faults))
        ledger.after_run(run)
        if run.violations:
            ledger.record(run)
            return None
    return f"{max_runs} random runs showed no violation, which proves nothing"


def _add_at_random(faults: list[Fault], options: list[Fault], number: int, random: Random) -> list[Fault]:
    """Return the faults with so many of the options, or fewer where one does not go with what was drawn before."""
    for fault in random.sample(options, min(number, len(options))):
        # Of two that exclude each other, the one that is limited in number stays: losses are many.
        excluded = {other for pair in exclusive_pairs([fault, *faults]) if fault in pair for other in pair}
        lasting = {f for f in excluded if f.message is None}
        if lasting <= {fault}:
            faults = [f for f in faults if f not in excluded] + [fault]
    return faults
