"""How a failure is told: cause, command and diagram, in so few lines that a terminal shows all of them.

A result tells itself (``str``).  What is too long loses lines in the middle of its longest part, which is nearly
always the diagram: how it begins and how it ends matters most.  The command that shows all of it is above.
"""

from __future__ import annotations

import os
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
from clew.report.text.shell import shell_words
from clew.results import Result
from clew.simulation.execution.trace import Execution
from clew.simulation.fuzzing.fuzz import Fuzzed
from clew.simulation.recordings.recording import Recording

#: With what pytest itself prints about a test that fails, a whole run stays within 60 lines.
MOST_LINES = 44
#: So many lines of a part stay at its beginning: names of nodes, and what the part is about.
_KEPT_AT_BEGINNING = 4
_REPLAY = "  replay: "


def test_command(test: RunningTest) -> str:
    """Return the command that replays what is stored of a test, where pytest was started."""
    config = test.item.config
    inside = test.item.nodeid.partition("::")[2]
    path = os.path.relpath(test.item.path, config.invocation_params.dir)
    words = ["pytest", f"{path}::{inside}" if inside else path, "--clew-replay", "only"]
    folder = config.getoption("clew_artifacts")
    return shell_words([*words, *(["--clew-artifacts", folder] if folder is not None else [])])


def stored_command(document: Path, recording: Recording | None) -> str:
    """Return the command of Clew that replays a stored failure, or "" where that takes more than files."""
    file = str(document)
    if is_below_here(file):
        file = os.path.relpath(file)
    if recording is not None:
        return replay_line(file, recording.scenario) if recording.scenario else ""
    return ""


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


def fit(lines: Sequence[str], most: int = MOST_LINES) -> list[str]:
    """Leave lines out until so many are left, and say how many."""
    parts = list(_split(lines))
    while (excess := sum(map(len, parts)) - most) > 0:
        longest = max(range(len(parts)), key=lambda n: len(parts[n]))
        part = parts[longest]
        # One more, for the line that says so; what is still too much is taken from the part that is longest then.
        others = sorted(map(len, parts))[-2] if len(parts) > 1 else 0
        room = max(len(part) - excess - 1, others - 2, _KEPT_AT_BEGINNING + 2)
        if room >= len(part) - 1:
            break
        head = part[:_KEPT_AT_BEGINNING]
        left_out = len(part) - room
        tail = part[len(head) + left_out :]
        parts[longest] = [*head, f"  ... {pluralize(left_out, 'line')} left out ...", *tail]
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
