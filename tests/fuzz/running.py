"""Many command lines, one after the other, in forked processes that are watched: did they keep what is promised?

A command must end by itself within its time limit and five seconds, with an exit code from 0 to 3.  4 would mean
that an input made Clew fail.  Whoever watches here does what the command's own supervisor does: it ends what does
not see its time limit, and that is no finding, but their numbers are told.  It counts seconds of the processor,
not those on the wall: on a machine with much to do, a command that needs half a second takes two.
"""

from __future__ import annotations

import io
import mmap
import os
import pkgutil
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import clew
from clew.budgets.whereabouts import Whereabouts, die_with, set_whereabouts
from clew.cli.process.main import main
from clew.cli.process.state import CommandState
from fuzz.inputs import LIMIT, Input
from fuzz.readers import Reader, input_of, prepare_folder

#: Inputs for one process: what user code leaves behind, or memory, goes with it.
_BATCH = 100
#: What inputs may take in addition to what the process has: a run of pytest that has imported pandas has more than
#: two gigabytes of addresses, and a thread that gets no stack never begins.
_MEMORY = 2 << 30
#: Seconds of the processor after which an input is a finding, whatever it told about its time limit.
_LONGEST = LIMIT + 5 + 10
#: Seconds on the wall after which one is that waits for something, and uses no processor.
_LONGEST_WAIT = 120
_CODES = range(4)
_AT_ITS_LIMIT = "it was ended at its limit"


@dataclass(frozen=True)
class Finding:
    """An input that broke a promise, and how."""

    reader: str
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.reader}/{self.number}: {self.what}"


@dataclass
class Tally:
    """How many inputs ended with which exit code; ``ended``: numbers of those that were ended at their limit."""

    inputs: int
    codes: dict[int, int]
    findings: list[Finding]
    ended: list[int]


def fuzz_reader(reader: Reader, numbers: range) -> Tally:
    """Give a reader the inputs with these numbers."""
    tally = Tally(0, {}, [], [])
    _import_all()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare_folder(folder)
        for number, outcome in _outcomes(reader, numbers, folder):
            tally.inputs += 1
            if isinstance(outcome, int):
                tally.codes[outcome] = tally.codes.get(outcome, 0) + 1
            elif outcome == _AT_ITS_LIMIT:
                tally.ended.append(number)
            else:
                tally.findings.append(Finding(reader.name, number, outcome))
    return tally


@cache
def _import_all() -> None:
    """Import what commands import only when they need it: each forked process would do that again."""
    for found in pkgutil.walk_packages(clew.__path__, "clew."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # what is for libraries that are not installed
                import_module(found.name)


def _outcomes(reader: Reader, numbers: range, folder: Path) -> Iterator[tuple[int, int | str]]:
    """Yield each number with the exit code of its command, or what it did wrong."""
    at = numbers.start
    while at < numbers.stop:
        for number, outcome in _Batch(reader, range(at, min(at + _BATCH, numbers.stop)), folder).run():
            yield number, outcome
            at = number + 1


def _addresses() -> int:
    """Return how many bytes of addresses this process has."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


class _Batch:
    """A process that performs one command after the other, and one that watches it."""

    def __init__(self, reader: Reader, numbers: range, folder: Path) -> None:
        self._reader, self._numbers, self._folder = reader, numbers, folder
        self._page = Whereabouts()
        # Since when the input has its turn: on the wall, and in seconds of the processor.
        self._turn = mmap.mmap(-1, 16)

    def run(self) -> list[tuple[int, int | str]]:
        """Return what became of the inputs; of the last one perhaps that it ended the process."""
        with tempfile.TemporaryFile() as told:
            parent, child = os.getpid(), os.fork()
            if not child:
                die_with(parent)
                self._be_child(told.fileno())
            ended = self._watch(child)
            told.seek(0)
            lines = told.read().decode("utf-8", "replace").split("\0")[:-1]
        found = [_parsed(line) for line in lines]
        if ended is not None and len(found) < len(self._numbers):
            found.append((self._numbers[len(found)], ended))
        return found

    def _watch(self, child: int) -> int | str | None:
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            turn = self._turn[:]
            self._page.read()
            if done:
                if self._page.code is not None:  # it has left work behind that nobody could stop
                    return self._page.code
                code = os.waitstatus_to_exitcode(status)
                return None if code == 0 else f"the process ended with {code}"
            late = self._late(child, *struct.unpack("=dd", turn))
            # What was read is of one input, and not in part of the next.
            if late is not None and self._turn[:] == turn:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return late
            time.sleep(0.02)

    def _late(self, child: int, begun: float, used_before: float) -> str | None:
        """Say that a command is not over when it should be, if that is so."""
        waited = time.monotonic() - begun
        if not begun or waited < LIMIT:
            return None
        used = _processor_seconds(child, waited + used_before) - used_before
        if used > _LONGEST or waited > _LONGEST_WAIT:
            return f"it was not over after {waited:.0f} s, {used:.0f} of them of the processor"
        left = self._page.time_left()
        return _AT_ITS_LIMIT if left is not None and used > waited + left else None

    def _be_child(self, told: int) -> None:
        code = 1
        try:
            most = _MEMORY + _addresses()
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            set_whereabouts(self._page)
            os.chdir(self._folder)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            for number in self._numbers:
                outcome = self._perform(number)
                os.write(told, f"{number} {outcome}\0".encode("utf-8", "replace"))
            code = 0
        except BaseException:
            traceback.print_exc()  # a mistake of the fuzzer
        finally:
            os._exit(code)

    def _perform(self, number: int) -> str:
        self._page.clear()
        given = input_of(self._reader, number)
        for name, content in given.files.items():
            (self._folder / name).write_bytes(content)
        struct.pack_into("=dd", self._turn, 0, time.monotonic(), time.process_time())
        code, errors = perform_here(given)
        struct.pack_into("=dd", self._turn, 0, 0.0, 0.0)
        if code in _CODES and "Traceback" not in errors:
            return str(code)
        return f"! exit code {code}: {errors[-3000:]}"


def _processor_seconds(process: int, otherwise: float) -> float:
    """Return how long a process has used a processor, where the system tells."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return otherwise
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _parsed(line: str) -> tuple[int, int | str]:
    number, _, outcome = line.partition(" ")
    return int(number), outcome.removeprefix("! ") if outcome.startswith("!") else int(outcome)


def perform_here(given: Input) -> tuple[int, str]:
    """Perform a command in this process; return its exit code and what it says on standard error."""
    out, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "replace")
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, errors
    code: object = None
    try:
        main(["--traceback", *given.arguments], prog_name="clew", obj=CommandState())
    except SystemExit as end:
        code = end.code
    except BaseException as failure:
        code, _ = 5, errors.write(f"Traceback: {failure!r}")
    finally:
        sys.stdout, sys.stderr = before
        with suppress(ValueError, OSError):
            errors.flush()
    assert isinstance(errors.buffer, io.BytesIO)
    return code if isinstance(code, int) else 6, errors.buffer.getvalue().decode("utf-8", "replace")


def distinct(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return findings by their last line of text, which is where they come from."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        lines = [line for line in finding.what.splitlines() if line.startswith("clew failed")] or [finding.what]
        found.setdefault(lines[-1][:200], []).append(finding)
    return found
