"""What ``clew cover`` starts in each process below it: counting, or writing down, what the rules of a class do.

The command says in an environment variable which class is meant and where its folder is; every process that
imports ``clew.bloom`` looks there once.  Nothing is asked of the process itself: not that it ends well, nor that
it is the first or the only one.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from clew.bloom.ir.program import BloomProgram, Op
from clew.bloom.ir.schema import Kind
from clew.bloom.network.wire import NotSentError, encode
from clew.bloom.runtime.tap import Listener, Observed, Observer, observe
from clew.bloom.tracing.counters import CountsFile, Layout
from clew.bloom.tracing.record_lines import append_line, open_lines
from clew.bloom.tracing.rule_names import name_rules, resolve_file
from clew.bloom.tracing.traces import NodeTrace, TraceRecord
from clew.bloom.values import Row
from clew.errors import UsageError

_log = logging.getLogger("clew.bloom")

#: Where processes find what is recorded.
ENVIRONMENT = "CLEW_COVER"


@dataclass(frozen=True)
class Task:
    """The class that is recorded, by its file and its name in there, and the folder for what is found.

    ``traced``: words for the rules of which each row is written down (``select_rules``).
    """

    folder: str
    file: str
    name: str
    traced: tuple[str, ...] = ()

    def to_text(self) -> str:
        return json.dumps(asdict(self))


def read_task(text: str) -> Task | None:
    """Read what another process was told; None if it is nothing that this version writes."""
    try:
        fields = json.loads(text)
        traced = tuple(map(str, fields["traced"]))
        return Task(str(fields["folder"]), str(fields["file"]), str(fields["name"]), traced)
    except (ValueError, TypeError, KeyError):
        return None


def begin_recording() -> None:
    """Record nodes of this process from now on, if it was told to."""
    task = read_task(os.environ.get(ENVIRONMENT, ""))
    if task is None:
        return
    for observer in observers_of(task):
        observe(observer)


def observers_of(task: Task) -> Sequence[Observer]:
    """Return what has to observe the machines of a process."""
    recorder = Recorder(task)
    return [recorder, TraceWriter(recorder, task.traced)] if task.traced else [recorder]


class Recorder:
    """Listens to the nodes of one class, and of those that derive from it, with files of this process alone."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._folder = Path(task.folder)
        self._begin_anew()
        # A fork has the memory of its parent, and must not write to its files.
        os.register_at_fork(after_in_child=self._begin_anew)

    def _begin_anew(self) -> None:
        # The lock, too: another thread of the parent may have held it.
        self.lock = threading.Lock()
        #: Which process this is: what a listener keeps of another one is that of its parent.
        self.process = os.getpid()
        self._counts: dict[Layout, CountsFile | None] = {}
        self._lines: BinaryIO | None = None
        self._is_full = False

    def records(self, node: Any) -> bool:
        """Tell whether a node is one of the class."""
        wanted = self._task.file, self._task.name
        return any((file_of_class(cls), cls.__qualname__) == wanted for cls in type(node).__mro__)

    def listen(self, node: Any, program: BloomProgram, address: str) -> Listener | None:
        """Return what counts what a node does, if it is one of the class."""
        return NodeCounts(program, address, self) if self.records(node) else None

    def counts_for(self, layout: Layout) -> CountsFile | None:
        """Return the file of this process for programs of this layout; None if there cannot be one."""
        if layout not in self._counts:
            try:
                self._counts[layout] = CountsFile(self._folder, layout)
            except OSError as error:
                # The command that wanted it is over, or there is no room: the node goes on.
                _log.warning("what rules do is not counted: %s", error)
                self._counts[layout] = None
        return self._counts[layout]

    def write(self, record: TraceRecord) -> None:
        """Write a record of a trace down."""
        with self.lock:
            if self._is_full:
                return
            try:
                self._lines = self._lines or open_lines(self._folder)
                append_line(self._lines, record)
            except OSError as error:
                _log.warning("what rules derive is not written down: %s", error)
                self._is_full = True


class TraceWriter:
    """Writes down what chosen rules of the nodes derive that ``recorder`` records."""

    def __init__(self, recorder: Recorder, traced: tuple[str, ...]) -> None:
        self._recorder = recorder
        self._traced = traced

    def listen(self, node: Any, program: BloomProgram, address: str) -> Listener | None:
        """Return what writes down what a node does, if it is one of the class."""
        if not self._recorder.records(node):
            return None
        try:
            return NodeTrace(program, address, self._traced, time.time, self._recorder.write)
        except UsageError:
            return None  # a class that derives from the one that is traced need not have all of its rules


class NodeCounts:
    """Counts what one node does."""

    def __init__(self, program: BloomProgram, address: str, recorder: Recorder) -> None:
        self.rules = frozenset(range(len(program.rules)))
        self._program = program
        self._address = address
        self._recorder = recorder
        self._process = 0
        self._file: CountsFile | None = None
        self._layout = Layout(name_rules(program), tuple(c.name for c in program.collections))
        self._numbers = {c.name: number for number, c in enumerate(program.collections)}
        self._channels = {
            number: rule.target
            for number, rule in enumerate(program.rules)
            if rule.op is Op.SEND and program.by_name[rule.target].kind is Kind.CHANNEL
        }

    def hear(self, step: Observed) -> None:
        """Count a step."""
        fired = [(number, rows, self._measure(number, rows)) for number, rows in step.firings]
        recorder = self._recorder
        with recorder.lock:
            if self._process != recorder.process:
                self._process, self._file = recorder.process, recorder.counts_for(self._layout)
            file = self._file
            if file is None:
                return
            file.count_step(is_first=step.number == 1)
            for number, rows, (messages, size) in fired:
                file.count_rule(number, len(rows), messages, size)
            for held in step.held():
                if held.size or held.rows:
                    file.count_collection(self._numbers[held.collection], held.rows, held.size)

    def _measure(self, number: int, rows: Collection[Row]) -> tuple[int, int]:
        """Return how many rows of a rule go over the network, and their bytes, as they are packed."""
        if number not in self._channels:
            return 0, 0
        channel = self._channels[number]
        messages = size = 0
        for row in rows:
            if self._program.destination(channel, row) != self._address:
                try:
                    size += len(encode(channel, row))
                except NotSentError:
                    continue  # the node says so when it tries
                messages += 1
        return messages, size


def file_of_class(cls: type) -> str | None:
    """Return the file that a class is written in, whatever its module is called in this process."""
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return None if path is None else resolve_file(path)
