"""What a user waits for: a whole ``clew check`` from a cold start, beside merely importing the solver."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import EXAMPLES

_CHECK = (sys.executable, "-c", "from clew.cli.main import main; main()", "check", str(EXAMPLES / "kafka.ded"))
_IMPORT = (sys.executable, "-c", "import clingo")

#: What ``clew check`` returns when it has found a counterexample.
_FOUND = 1


@dataclass(frozen=True)
class ColdStart:
    """Medians in seconds."""

    check: float
    importing: float

    @property
    def ratio(self) -> float:
        return self.check / self.importing


def measure(times: int) -> ColdStart:
    """Interleaved, so that whatever else the machine does slows both down."""
    pairs = [(_wall(_CHECK, _FOUND), _wall(_IMPORT, 0)) for _ in range(times)]
    return ColdStart(median(check for check, _ in pairs), median(importing for _, importing in pairs))


def _wall(command: tuple[str, ...], expected: int) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != expected:
        raise RuntimeError(f"{command[3:] or command} returned {done.returncode}: {done.stderr}")
    return seconds
