"""What a user names becomes a program that has been checked, with what is odd in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.checker.named_nodes import notice_idle_nodes
from clew.dedalus.loader import Loaded
from clew.dedalus.params import Settings
from clew.faults import NodeName
from clew.frontends.registry import Source, open_program
from clew.program.checks import CheckedProgram, check_program
from clew.program.notices import (
    notice_forgotten_records,
    notice_impossible_constants,
    notice_unread_relations,
)


def load_source(source: Source, params: Settings | None = None) -> Loaded:
    """Return the program that is meant, with these values of its params, and what it says about its checking."""
    return open_program(source, to_check=True, params=params).load()


@dataclass(frozen=True)
class Prepared:
    """A program that was loaded and found to be one, with what it says about its own checking."""

    loaded: Loaded
    checked: CheckedProgram


def prepare_source(source: Source | Prepared, params: Settings | None = None) -> Prepared:
    """Load and check a program, unless that was done: a grid does it once for many settings."""
    if isinstance(source, Prepared):
        return source
    loaded = load_source(source, params)
    return Prepared(loaded, prepare(loaded))


def files_of(source: object) -> tuple[str, ...]:
    """Return the files of a program as they were given; a program or a class made in Python has none."""
    if isinstance(source, str | Path):
        return (str(source),)
    return tuple(map(str, source)) if isinstance(source, Sequence) else ()


def prepare(loaded: Loaded) -> CheckedProgram:
    """Refuse what is no program, and note what is odd in one."""
    prepared = check_program(loaded.program)
    odd = (*notice_unread_relations(prepared.program), *notice_impossible_constants(prepared.program))
    return replace(prepared, notices=(*loaded.notices, *prepared.notices, *odd))


def note_forgotten_records(prepared: CheckedProgram, restarts: int) -> CheckedProgram:
    """Note what assertions look at and a restart takes away, if nodes can restart."""
    forgotten = tuple(notice_forgotten_records(prepared.program)) if restarts else ()
    return replace(prepared, notices=(*prepared.notices, *forgotten))


def note_idle_nodes(prepared: CheckedProgram, nodes: Sequence[NodeName]) -> CheckedProgram:
    """Note the nodes that take part in nothing, once they are known."""
    return replace(prepared, notices=(*prepared.notices, *notice_idle_nodes(prepared.program, nodes)))
