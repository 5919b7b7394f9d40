"""Clew finds out whether a distributed system survives faults.

It follows the lineage of what went right (which messages, which state) back to the few faults that could
make it go wrong, tries exactly those, and answers with a counterexample, a certificate within stated
bounds, or an honest "incomplete".

    import clew
    verdict = clew.check("examples/kafka.ded")
    print(verdict.answer.value, verdict.counterexamples[0].faults)

The stages, each a package, each importing only from those before it::

    dedalus (text) -> program (checked IR) -> engine (executions) -> lineage (why) -> search -> report -> cli

Read ``clew.faults`` for the failure model, ``clew.engine.encode`` for what an execution is, and
``clew.search.lineage`` for the idea that the whole is built around.
"""

from clew.api import Verdict, check, run
from clew.engine.execution import Execution, Message
from clew.errors import ClewError, Notice, ProgramError, UsageError
from clew.faults import Crash, Delay, FailureSpec, FaultSet, Loss
from clew.search.verdict import Answer, Counterexample
from clew.violation import Violation

__all__ = [
    "Answer",
    "ClewError",
    "Counterexample",
    "Crash",
    "Delay",
    "Execution",
    "FailureSpec",
    "FaultSet",
    "Loss",
    "Message",
    "Notice",
    "ProgramError",
    "UsageError",
    "Verdict",
    "Violation",
    "check",
    "run",
]

__version__ = "0.1.0"
