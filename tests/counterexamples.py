"""Which examples have counterexamples, and how to list those of any program."""

from __future__ import annotations

from pathlib import Path

from clew import Verdict, check
from clew.faults import KINDS, FailureSpec
from clew.program.ir import Program

EXAMPLES = Path(__file__).parents[1] / "examples"

#: Examples with counterexamples; ``tests/quality`` says which.
BROKEN = [
    "2pc",
    "2pc-ctp",
    "2pc-timeout",
    "3pc",
    "bully-le-lossy",
    "classic-deliv",
    "flux-eager-ack",
    "kafka",
    "paxos-forgetful",
    "redun-deliv-late",
    "retry-deliv",
    "saga",
    "simple-deliv",
]


def minimal_counterexamples(program: Program, spec: FailureSpec, *, find_all: bool = True) -> Verdict:
    """Every subset-minimal counterexample within some bounds, or a smallest one."""
    room = {kind.name: next(iter(kind.possible(spec)), None) is not None for kind in KINDS}
    return check(
        program,
        nodes=spec.nodes,
        eot=spec.eot,
        eff=min(spec.eff, spec.eot),
        crashes=spec.crashes,
        delays=spec.delays,
        # Bounds that leave no room for what they allow are refused.
        duplicates=spec.duplicates if room["duplicate"] else 0,
        restarts=spec.restarts if room["restart"] else 0,
        pauses=spec.pauses if room["pause"] else 0,
        partitions=spec.partitions if room["partition"] else 0,
        stops=spec.stops,
        inputs=spec.inputs if program.inputs else None,
        find_all=find_all,
    )
