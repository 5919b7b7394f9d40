"""``clew cover``, from a class and a command, or the process itself, to a result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from clew.bloom.tracing.recording import ENVIRONMENT, Task, file_of_class
from clew.bloom.tracing.rule_names import select_rules
from clew.coverage.collecting import add_up, collect_records, cover_collections, cover_rules
from clew.coverage.result import BloomCoverage
from clew.coverage.running import recorded, recorded_here
from clew.errors import UsageError
from clew.frontends.bloom import BloomSource, open_bloom


def cover(
    source: str,
    command: Sequence[str],
    *,
    fail_under: float | None = None,
    fail_on_dead: bool = False,
    traced: Sequence[str] = (),
    time_limit: float | None = None,
    stdout: IO[bytes] | int | None = None,
) -> BloomCoverage:
    """Run a command, and count what the rules of ``"FILE.py:Class"`` do in it and in all processes below it.

    - ``fail_under``: the least percentage of rules that have to fire; ``fail_on_dead``: all have to.
    - ``traced``: rules of which each row is recorded, by block, by what they derive, or by line.
    - ``time_limit``: seconds after which the command is ended.
    - ``stdout``: where the command prints to.
    """
    _require_command(command)
    opened = _open(source, traced)
    # Within the block: the folder is gone after it.
    with recorded(_task(opened, tuple(traced)), command, stdout, time_limit) as (ended, folder):
        limits = Limits(fail_under, fail_on_dead, time_limit if ended.is_late else None)
        return _summarize(opened, source, tuple(command), ended.code, folder, limits)


class Watch(NamedTuple):
    """What is recorded of a class in this process, and in those that it starts."""

    opened: BloomSource
    source: str
    folder: Path

    def result(
        self,
        command: Sequence[str],
        exit_code: int,
        *,
        fail_under: float | None = None,
        fail_on_dead: bool = False,
    ) -> BloomCoverage:
        """Return what was recorded until now; ``command`` is what this process was started for."""
        limits = Limits(fail_under, fail_on_dead)
        return _summarize(self.opened, self.source, tuple(command), exit_code, self.folder, limits)


@contextmanager
def watching(source: str, traced: Sequence[str] = ()) -> Iterator[Watch]:
    """Count what the rules of ``"FILE.py:Class"`` do in the block, in this process and in those that it starts."""
    if ENVIRONMENT in os.environ:
        raise UsageError(
            "what rules do is counted already, by a command around this one",
            remedy="leave out one of the two: clew cover, or --clew-cover of pytest",
        )
    opened = _open(source, traced)
    with recorded_here(_task(opened, tuple(traced))) as folder:
        yield Watch(opened, source, folder)


def _open(source: str, traced: Sequence[str]) -> BloomSource:
    opened = open_bloom(source)
    # Read now: a class without a program, and words that name no rule, are refused before anything runs.
    select_rules(opened.program, traced)
    return opened


class Limits(NamedTuple):
    """What is asked of coverage; ``late``: the seconds of a time limit that was reached."""

    fail_under: float | None
    fail_on_dead: bool
    late: float | None = None


def _summarize(
    opened: BloomSource, source: str, command: tuple[str, ...], exit_code: int, folder: Path, limits: Limits
) -> BloomCoverage:
    program = opened.program
    total, records = add_up(folder), collect_records(folder)
    return BloomCoverage(
        source,
        program.name,
        command,
        exit_code,
        len(total.processes),
        total.nodes,
        total.steps,
        cover_rules(program, total, opened.names),
        cover_collections(program, total),
        tuple(total.notices),
        limits.fail_under,
        limits.fail_on_dead,
        tuple(records),
        limits.late,
    )


def _task(opened: BloomSource, traced: tuple[str, ...]) -> Task:
    file = file_of_class(opened.cls)
    assert file is not None, "it was imported from a file"
    return Task("", file, opened.cls.__qualname__, traced)


def _require_command(command: Sequence[str]) -> None:
    # A text is a sequence of letters, of which the first would be the command.
    if isinstance(command, str):
        raise UsageError(f"the command is the text {command!r}", remedy=f"give its words: {command.split()}")
    if not command:
        raise UsageError("no command is given", remedy="give it after --: clew cover store.py:Store -- pytest")
