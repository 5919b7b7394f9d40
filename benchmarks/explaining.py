"""What an explanation costs: a whole ``clew check`` beside one that only prints JSON, which explains nothing.

The latter is start-up, search and nothing else.  Processor time is compared: the clock would count what else the
machine does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.cases import EXAMPLES
from benchmarks.coldstart import CLEW, FOUND, processor_seconds
from clew.dedalus.loader import load
from clew.dedalus.printer import print_program
from clew.program.ir import Fact, Program

#: Small and large ones, with losses, crashes and both.
PROGRAMS = ("kafka", "paxos-forgetful", "bully-le-lossy", "flux-eager-ack")
_AGENTS = 10
LARGE = f"3pc, {_AGENTS + 1} nodes"


@dataclass(frozen=True)
class Explained:
    """Medians in seconds of processor time."""

    name: str
    check: float
    search: float

    @property
    def ratio(self) -> float:
        return self.check / self.search


def measure(times: int) -> Iterator[Explained]:
    with _large_program() as large:
        files = {LARGE: large} | {name: EXAMPLES / f"{name}.ded" for name in PROGRAMS}
        for name, file in files.items():
            yield _compare(name, file, times)


def _compare(name: str, file: Path, times: int) -> Explained:
    """In turn, so that whatever else the machine does slows both down."""
    check = (*CLEW, "check", str(file))
    search = (*check, "--json", "-")
    pairs = [(processor_seconds(check, FOUND), processor_seconds(search, FOUND)) for _ in range(times + 1)]
    counted = pairs[1:]  # the first ones write the bytecode
    return Explained(name, median(whole for whole, _ in counted), median(found for _, found in counted))


@contextmanager
def _large_program() -> Iterator[Path]:
    """The rules of three-phase commit with facts for more agents, within the bounds of the example."""
    agents = [f"n{number}" for number in range(1, _AGENTS + 1)]
    facts = [Fact("begin", ("C", "t1")), *(Fact("agent", ("C", agent)) for agent in agents)]
    program = Program((*facts, *load([EXAMPLES / "3pc.ded"]).program.rules))
    with TemporaryDirectory() as folder:
        file = Path(folder, "3pc.ded")
        bounds = f"//! nodes=C,{','.join(agents)} eot=9 eff=7 crashes=1\n"
        file.write_text(bounds + print_program(program), encoding="utf-8")
        yield file
