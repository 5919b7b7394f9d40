"""What a check of simulated code comes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.errors import Notice
from clew.faults import FaultsOf
from clew.injection.bounds import InjectionBounds
from clew.injection.explaining import Explanation
from clew.injection.faults import CodeFault
from clew.results import HOLDS, INCOMPLETE, VIOLATED, Result
from clew.search.verdict import Answer
from clew.simulation.execution.trace import Execution
from clew.simulation.recordings.recording import Recording
from clew.simulation.scenario import Broken

_EXIT_CODES = {Answer.CERTIFIED: HOLDS, Answer.COUNTEREXAMPLE: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}


@dataclass(frozen=True)
class CodeCounterexample:
    """Faults that break something, each of them necessary.

    ``struck``: for each fault the time at which it struck.  ``found_with``: how many faults the search had found
    it with.  ``recording``: the execution, to be replayed and minimized; ``execution`` is what happens in it,
    ``passing`` what happens without faults.
    """

    faults: FaultsOf[CodeFault]
    broken: Broken
    struck: tuple[int | None, ...]
    found_with: int
    explanation: Explanation | None = None
    recording: Recording | None = field(default=None, repr=False)
    execution: Execution | None = field(default=None, repr=False)
    passing: Execution | None = field(default=None, repr=False)


@dataclass(frozen=True)
class CodeVerdict(Result):
    """The answer to ``check`` of a scenario.

    ``answer``: counterexample; certified (by exhaustion: no faults within ``bounds`` break it on this schedule);
    or incomplete (``reason`` says why).  ``runs``: executions of the search, ``shrinking``: those after it, to
    leave out faults; ``vacuous``: in so many of them nothing was promised.  ``cautions``: what makes the answer
    mean less than it seems.  ``until``: when executions end, in seconds, if not as the scenario says.
    ``lineage``: what events were taken to rest on, where that can be chosen ("tasks" or "hosts").
    """

    answer: Answer
    scenario: str
    bounds: InjectionBounds
    strategy: str
    seed: int
    counterexample: CodeCounterexample | None
    runs: int
    shrinking: int
    vacuous: int
    seconds: float
    reason: str | None
    notices: tuple[Notice, ...] = ()
    cautions: tuple[str, ...] = ()
    until: float | None = None
    promises: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()
    lineage: str | None = None

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.answer]
