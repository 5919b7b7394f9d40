"""Clew finds out whether a distributed system survives faults.

It follows the lineage of what went right (which messages, which state) back to the few faults that could
make it go wrong, tries exactly those, and answers with a counterexample, a certificate within stated
bounds, or an honest "incomplete".

    import clew
    verdict = clew.check("examples/kafka.ded")
    print(verdict.answer.value, verdict.counterexamples[0].faults)

The rooms, each importing only from those before it::

    program (checked IR) | dedalus (text to IR) | engine (executions) | lineage (why) | search | report | cli

Read ``clew.faults`` for the failure model, ``clew.engine.encode`` for what an execution is, and
``clew.search.lineage`` for the idea that the whole is built around.
"""

from clew.api import Verdict, check, run
from clew.dedalus.loader import parse_program
from clew.engine.execution import Execution, Message
from clew.errors import ClewError, Notice, ProgramError, UsageError
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, Node
from clew.program.ir import Program
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
    "Fault",
    "FaultSet",
    "Loss",
    "Message",
    "Node",
    "Notice",
    "Program",
    "ProgramError",
    "UsageError",
    "Verdict",
    "Violation",
    "check",
    "parse_program",
    "run",
]

__version__ = "0.1.0"
