"""Twelve nodes, certified in a process of its own so that its peak memory can be told.

``python -m benchmarks.large ack-deliv`` prints one JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.cases import broadcast_text, from_text
from benchmarks.searches import exact_search
from clew.faults import FailureSpec

NODES = tuple(f"n{i}" for i in range(1, 13))
SPEC = FailureSpec(NODES, eot=15, eff=13, crashes=3)


@dataclass(frozen=True)
class Certified:
    answer: str
    parsing: float
    grounding: float
    search: float
    peak_megabytes: float

    @property
    def seconds(self) -> float:
        return self.parsing + self.grounding + self.search


def certify_in_new_process(name: str) -> Certified:
    command = [sys.executable, "-m", "benchmarks.large", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    return Certified(**json.loads(done.stdout))


def _certify(name: str) -> Certified:
    text = broadcast_text(name, NODES)
    case = from_text(name, text, SPEC)
    found = exact_search(case)
    return Certified(found.answer.value, case.loading, found.grounding, found.search, _peak_megabytes())


def _peak_megabytes() -> float:
    """The peak resident size of this process."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would not do: on Linux its peak can be that of the process this one was started from.
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # in bytes on macOS


if __name__ == "__main__":
    print(json.dumps(asdict(_certify(sys.argv[1]))))
