"""Clew finds out whether a distributed system survives faults.

It follows the lineage of what went right (which messages, which state) back to the few faults that could
make it go wrong, tries exactly those, and answers with a counterexample, a certificate within stated
bounds, or an honest "incomplete".

    import clew
    verdict = clew.check("examples/kafka.ded")
    print(verdict.answer.value, verdict.counterexamples[0].faults)

Programs in Dedalus are checked; nodes written in Python are simulated (``clew.simulation``)::

    found = clew.fuzz("examples/raft/raft_bugs.py:raft66")
    print(clew.minimize(found.recording).size)

Programs in Bloom (``clew.bloom``) are classes that run on the network, are checked, and are analysed for order.

The rooms, each importing only from those before it::

    simulation (Python nodes) | exploration (every schedule) | minimization (small executions)
    program (checked IR) | dedalus (text to IR) | bloom (classes to IR, and a runtime) | consistency (order)
    | coordination | engine (executions) | proof (of certificates) | lineage (why) | search | explain | report
    | cli; and apart from all others, verify (which checks proofs)

Read ``clew.faults`` for the failure model, ``clew.engine.encode`` for what an execution is, and
``clew.search.lineage`` for the idea that the whole is built around.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.checker.api import Verdict, check, run
    from clew.dedalus.loader import parse_program
    from clew.engine.execution import Execution, Message
    from clew.errors import ClewError, Notice, ProgramError, UsageError
    from clew.exploration import Exploration, explore
    from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, Node
    from clew.minimization.minimizing import Minimized, minimize
    from clew.program.ir import Program
    from clew.report.writing import write_report
    from clew.search.verdict import Answer, Counterexample
    from clew.simulation.fuzzing.fuzz import Fuzzed, fuzz
    from clew.simulation.recordings.recording import Recording, write_recording
    from clew.simulation.recordings.replaying import Replayed, replay
    from clew.violation import Violation

__all__ = [
    "Answer",
    "ClewError",
    "Counterexample",
    "Crash",
    "Delay",
    "Execution",
    "Exploration",
    "FailureSpec",
    "Fault",
    "FaultSet",
    "Fuzzed",
    "Loss",
    "Message",
    "Minimized",
    "Node",
    "Notice",
    "Program",
    "ProgramError",
    "Recording",
    "Replayed",
    "UsageError",
    "Verdict",
    "Violation",
    "check",
    "explore",
    "fuzz",
    "minimize",
    "parse_program",
    "replay",
    "run",
    "write_recording",
    "write_report",
]

__version__ = "0.1.0"

#: Where the names above live.  They are brought in when they are used: a command should not wait for all of them.
_HOMES = {
    "clew.checker.api": ("Verdict", "check", "run"),
    "clew.dedalus.loader": ("parse_program",),
    "clew.engine.execution": ("Execution", "Message"),
    "clew.exploration": ("Exploration", "explore"),
    "clew.errors": ("ClewError", "Notice", "ProgramError", "UsageError"),
    "clew.faults": ("Crash", "Delay", "FailureSpec", "Fault", "FaultSet", "Loss", "Node"),
    "clew.minimization.minimizing": ("Minimized", "minimize"),
    "clew.program.ir": ("Program",),
    "clew.report.writing": ("write_report",),
    "clew.search.verdict": ("Answer", "Counterexample"),
    "clew.simulation.fuzzing.fuzz": ("Fuzzed", "fuzz"),
    "clew.simulation.recordings.recording": ("Recording", "write_recording"),
    "clew.simulation.recordings.replaying": ("Replayed", "replay"),
    "clew.violation": ("Violation",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
