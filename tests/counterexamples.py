"""Which examples have counterexamples, and how to list those of any program."""

from __future__ import annotations

from pathlib import Path

from clew import Verdict, check
from clew.faults import FailureSpec
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


def minimal_counterexamples(program: Program, spec: FailureSpec) -> Verdict:
    """Every subset-minimal counterexample within some bounds."""
    return check(
        program,
        nodes=spec.nodes,
        eot=spec.eot,
        eff=min(spec.eff, spec.eot),
        crashes=spec.crashes,
        delays=spec.delays,
        find_all=True,
    )
