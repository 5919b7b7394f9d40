"""``clew cover``, from a class and a command to a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from clew.bloom.tracing.recording import Task, file_of_class
from clew.bloom.tracing.rule_names import select_rules
from clew.coverage.collecting import add_up, collect_records, cover_collections, cover_rules
from clew.coverage.result import BloomCoverage
from clew.coverage.running import recorded
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
    opened = open_bloom(source)
    # Read now: a class without a program, and words that name no rule, are refused before the command runs.
    program = opened.program
    select_rules(program, traced)
    # Within the block: the folder is gone after it.
    with recorded(_task(opened, tuple(traced)), command, stdout, time_limit) as (ended, folder):
        total, records = add_up(folder), collect_records(folder)
    return BloomCoverage(
        source,
        program.name,
        tuple(command),
        ended.code,
        len(total.processes),
        total.nodes,
        total.steps,
        cover_rules(program, total, opened.names),
        cover_collections(program, total),
        tuple(total.notices),
        fail_under,
        fail_on_dead,
        tuple(records),
        time_limit if ended.is_late else None,
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
