"""How a failure is told: cause, command and diagram, in so few lines that a terminal shows all of them.

A result tells itself (``str``).  What is too long loses lines in the middle of its longest part, which is nearly
always the diagram: how it begins, how it ends and the faults matter most.  The command that shows all is above.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from clew.exploration.result import Exploration
from clew.files.json_document import is_below_here
from clew.minimization.minimizing import Minimized
from clew.names import harmless
from clew.pytest_plugin.running import RunningTest
from clew.pytest_plugin.searching import Plan
from clew.report.simulated.text import run_text
from clew.report.simulated.violations import replay_line
from clew.report.text.plain import pluralize
from clew.report.text.shell import file_words, shell_words
from clew.results import Result
from clew.simulation.execution.trace import Execution
from clew.simulation.fuzzing.fuzz import Fuzzed
from clew.simulation.recordings.recording import Recording

#: With the 14 lines or so that pytest prints about a test that fails, a whole run stays within 60.
MOST_LINES = 46
#: So many lines of a part stay at its beginning (names of nodes, what the part is about), and at its end.
_KEPT_AT_BEGINNING, _KEPT_AT_END = 3, 4
#: What stands beside the lines of a diagram that tell of faults.
_FAULT = re.compile("LOST|CRASHED|STOP|START|PAUSED|CUT|VIOLATED")
_REPLAY = "  replay: "


def test_command(test: RunningTest) -> str:
    """Return the command that replays what is stored of a test, where pytest was started."""
    config = test.item.config
    inside = test.item.nodeid.partition("::")[2]
    # Ids are seen from the root directory, which need not be where pytest was started.
    path = os.path.relpath(test.item.path, config.invocation_params.dir)
    words = ["pytest", f"{path}::{inside}" if inside else path, "--clew-replay", "only"]
    folder = config.getoption("clew_artifacts")
    return shell_words([*words, *(["--clew-artifacts", folder] if folder is not None else [])])


def stored_commands(plan: Plan, document: Path, recording: Recording | None) -> list[str]:
    """Return the command of Clew that replays a stored failure; none for what was made in Python."""
    file = os.path.relpath(document) if is_below_here(str(document)) else str(document)
    if not plan.target.files:
        return []
    if recording is None:
        return [f"clew replay {file_words([file, *plan.target.files])}"]
    return [replay_line(file, recording.scenario)] if recording.scenario else []


def insert_commands(lines: Sequence[str], commands: Sequence[str]) -> list[str]:
    """Put commands below the one that a text has, or below its first lines."""
    place = next((n + 1 for n, line in enumerate(lines) if line.startswith(_REPLAY)), None)
    if place is None:
        place = next((n for n, line in enumerate(lines) if not line.strip()), len(lines))
        told = [f"{_REPLAY if number == 0 else '          '}{command}" for number, command in enumerate(commands)]
    else:
        told = [f"          {command}" for command in commands]
    return [*lines[:place], *told, *lines[place:]]


def text_of_result(result: Result) -> list[str]:
    """Return what a result tells of itself."""
    return str(result).splitlines()


def text_of_execution(plan: Plan, execution: Execution, first: str) -> list[str]:
    """Tell one execution: ``first``, what broke, and the diagram."""
    lines = run_text(plan.target.name, execution, brief=True).splitlines()
    broken = execution.broken
    return [first, *([f"  breaks {broken}"] if broken is not None else []), "", *lines]


def text_of_simulation(plan: Plan, found: Fuzzed | Exploration, small: Minimized | None) -> list[str]:
    """Tell what fuzzing or exploring found: the smallest execution, or what the result itself tells."""
    if small is None:
        return text_of_result(found)
    headline = str(found).splitlines()[0]
    recorded = found.recording
    assert recorded is not None, "it was minimized"
    size = f"  minimized: {pluralize(recorded.deliveries, 'delivery', 'deliveries')} to {small.size.deliveries}"
    if small.reason is not None:
        size += f" (the best so far: {small.reason})"
    first, *rest = text_of_execution(plan, small.execution, headline)
    return [first, rest[0], size, *rest[1:]] if rest[0] else [first, size, *rest]


# -- few lines ---------------------------------------------------------------------------------------------------


class _Part:
    """Lines up to an empty one, of which some may be left out."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._left_out: set[int] = set()
        inner = range(_KEPT_AT_BEGINNING, len(lines) - _KEPT_AT_END)
        # What tells of a fault goes last.
        self._next = sorted(inner, key=lambda n: bool(_FAULT.search(lines[n])))[::-1]

    @property
    def height(self) -> int:
        gaps = sum(n - 1 not in self._left_out for n in self._left_out)
        return len(self._lines) - len(self._left_out) + gaps

    def shorten(self) -> bool:
        """Leave one more line out; tell whether that was possible."""
        if self._next:
            self._left_out.add(self._next.pop())
        return bool(self._next)

    def __iter__(self) -> Iterator[str]:
        gap = 0
        for number, line in enumerate(self._lines):
            if number in self._left_out:
                gap += 1
                continue
            if gap:
                yield f"  ... {pluralize(gap, 'line')} left out ..."
            gap = 0
            yield line


def fit(lines: Sequence[str], most: int = MOST_LINES) -> list[str]:
    """Leave lines out, of whichever part is the longest, until so many are left; say where, and how many."""
    shortening = parts = [_Part(part) for part in _split(lines)]
    while shortening and sum(part.height for part in parts) > most:
        longest = max(shortening, key=lambda part: part.height)
        if not longest.shorten():
            shortening = [part for part in shortening if part is not longest]
    return [harmless(line.rstrip()) for part in parts for line in part]


def _split(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the parts of a text, each with the empty line that ends it."""
    part: list[str] = []
    for line in lines:
        part.append(line)
        if not line.strip():
            yield part
            part = []
    if part:
        yield part
