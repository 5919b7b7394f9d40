"""What ``check`` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.engine.ground import SolverFigures
from clew.errors import Notice
from clew.faults import FailureSpec
from clew.program.ir import Program
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.search.protocol import Run
from clew.search.verdict import Answer, Counterexample, Setting

if TYPE_CHECKING:
    from clew.checker.answers import PromiseAnswer
    from clew.checker.survey.survey import Survey

_EXIT_CODES = {Answer.CERTIFIED: HOLDS, Answer.COUNTEREXAMPLE: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}


@dataclass(frozen=True)
class Verdict(Result):
    """The answer to ``check``.

    ``answer``: counterexample, certified (none exists within ``spec``) or incomplete (``reason`` says why; of a
    sweep that certified, why it went no further).  ``counterexamples``: confirmed ones, fewest faults first.
    ``runs``: concrete executions performed.  ``combinations``: the bound on the number of failure combinations
    within ``spec``.  ``vacuous``: the failure-free run has no row in ``pre``, so the answer may mean little.
    ``swept``: the settings tried by a sweep, empty without one; ``certified``: the largest one certified.
    ``candidates``: what fails at the end of ``spec``, of an incomplete sweep that does not know whether it would
    recover.  ``executions``: what was executed, in order (of a long search the beginning, of a sweep those of the
    last setting).  ``solver``: what an exact search cost.  ``survey``: which promises apply and which rules fire;
    None with a counterexample, unless it was asked for.  ``ruled_out``: no counterexample exists within ``spec``,
    also where that says too little to certify it.  ``kept``: of several promises, those that no faults break
    although others are broken.  ``cautions``: what makes the absence of one mean little, ``remarks``: what is
    worth knowing.  ``program``: what was checked, with its abbreviations written out.  ``files``: those of the
    program as they were given, none for one made in Python.
    ``lasting``: only violations that last for ever were looked for; ``horizon``: a certificate then covers what
    fails, is given or is chosen up to this time.
    """

    answer: Answer
    spec: FailureSpec
    strategy: str
    counterexamples: tuple[Counterexample, ...]
    runs: int
    seconds: float
    reason: str | None
    vacuous: bool
    notices: tuple[Notice, ...]
    swept: tuple[Setting, ...] = ()
    certified: Setting | None = None
    candidates: tuple[Counterexample, ...] = ()
    executions: tuple[Run, ...] = field(default=(), repr=False)
    solver: SolverFigures | None = None
    survey: Survey | None = field(default=None, repr=False)
    ruled_out: bool = False
    kept: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    program: Program | None = field(default=None, repr=False, compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)
    lasting: bool = False
    horizon: int | None = None

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]

    @property
    def found(self) -> tuple[Counterexample, ...]:
        """Return the counterexamples; without any, the candidates."""
        return self.counterexamples or self.candidates

    @property
    def promises(self) -> tuple[PromiseAnswer, ...]:
        """Return an answer for each promise, of a program that states more than ``pre`` and ``post``."""
        from clew.checker.answers import answer_promises  # most programs have one promise, and need none of it

        return answer_promises(self)

    @property
    def combinations(self) -> int:
        return self.spec.combinations()
