"""What a sweep costs: how far each example gets with the usual effort, and how long a unit of it takes.

``python -m benchmarks.sweeps [STRATEGY]``.  The prices in ``clew.budgets.effort`` were chosen by it: microseconds
a unit should differ little between programs and strategies, and no example should take much longer than ten
seconds.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from benchmarks.cases import EXAMPLES, example
from clew.budgets.deadline import Deadline
from clew.budgets.effort import Effort
from clew.checker.checking import DEFAULT_SWEEP_EFFORT
from clew.checker.strategies import STRATEGIES, Options
from clew.checker.sweeping import ProgramSweep
from clew.faults import FailureSpec
from clew.search.sweep import Swept, sweep
from clew.search.verdict import Ledger


@dataclass(frozen=True)
class Cost:
    """``seconds`` are of the processor: they depend less on what else the machine does."""

    swept: Swept
    units: int
    seconds: float

    def line(self, name: str) -> str:
        spec = self.swept.spec
        reached = f"{self.swept.findings.answer.value} at {spec.eot}/{spec.eff}"
        price = self.seconds / max(1, self.units) * 1e6
        return f"{name:18} {reached:24} {self.units:9} units {self.seconds:6.2f} s {price:5.1f} us/unit"


def measure(name: str, strategy: str) -> Cost:
    case = example(name)
    effort = Effort(DEFAULT_SWEEP_EFFORT)
    deadline = Deadline(None, effort)
    base = FailureSpec(case.spec.nodes, 1, 0, case.spec.crashes, case.spec.delays)
    started = time.process_time()
    system = ProgramSweep(case.program, base, STRATEGIES[strategy], Options(), deadline)
    swept = sweep(system, base, None, Ledger(deadline))
    return Cost(swept, effort.spent, time.process_time() - started)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "exact"
    for path in sorted(EXAMPLES.glob("*.ded")):
        print(measure(path.stem, chosen).line(path.stem), flush=True)
