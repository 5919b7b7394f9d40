"""What a user waits for: a whole ``clew check`` from a cold start, beside merely importing the solver."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import EXAMPLES

CLEW = (sys.executable, "-c", "from clew.cli.process.main import main; main()")
_IMPORT = (sys.executable, "-c", "import clingo")

#: What ``clew check`` returns when it has found a counterexample.
FOUND = 1


@dataclass(frozen=True)
class ColdStart:
    """Medians in seconds of processor time."""

    kafka: float
    simple: float
    help: float
    version: float
    importing: float


def measure(times: int) -> ColdStart:
    """Interleaved, so that whatever else the machine does slows all down."""
    commands = {
        "kafka": ((*CLEW, "check", str(EXAMPLES / "kafka.ded")), FOUND),
        "simple": ((*CLEW, "check", str(EXAMPLES / "simple-deliv.ded")), FOUND),
        "help": ((*CLEW, "--help"), 0),
        "version": ((*CLEW, "--version"), 0),
        "importing": (_IMPORT, 0),
    }
    for command, expected in commands.values():
        processor_seconds(command, expected)  # writes the bytecode
    rounds = [{name: processor_seconds(*command) for name, command in commands.items()} for _ in range(times)]
    return ColdStart(**{name: median(r[name] for r in rounds) for name in commands})


def processor_seconds(command: tuple[str, ...], expected: int) -> float:
    """The processor time of a process; users have their bytecode, so it is used here, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != expected:
        raise RuntimeError(f"{command[3:] or command} returned {done.returncode}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
