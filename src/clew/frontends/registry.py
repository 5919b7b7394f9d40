"""The front ends, and which of them takes what a user names: by the suffix of a file, or by class.

A front end gives a ``ProgramSource``: the program as it was written, which is then compiled (to check it) or
turned into a dataflow (to analyse it).  To add one, write such a class, and an entry in ``_FRONT_ENDS``.

Modules that read Bloom are imported when a class is named: most programs are text, and a cold start should not
pay for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Union

from clew.bounds import Bounds
from clew.dedalus.loader import Loaded, Template, load, read_template
from clew.dedalus.params import Settings
from clew.errors import Notice, UsageError
from clew.files.python_names import is_python
from clew.program.ir import Program

if TYPE_CHECKING:
    from clew.analysis.calm.dataflow.graph import Dataflow
    from clew.bloom.language.module import Module

#: Files, a program of the IR, or a Bloom class (or object) with a ``setting``.
Source = Union[str, Path, Program, Sequence[str | Path], "type[Module]", "Module"]


class ProgramSource(Protocol):
    """A program as its user wrote it."""

    def load(self) -> Loaded:
        """Compile it to a program of the IR, with the bounds that it states for itself."""

    def dataflow(self) -> Dataflow:
        """Return the dataflow that CALM analyses."""


class FrontEnd(NamedTuple):
    """One way to write programs: what it ``takes``, and how that is opened.

    Files come as a list of their names.  ``to_check``: the program is to be loaded, not analysed.
    """

    takes: Callable[[Any], bool]
    open: Callable[[Any, bool], ProgramSource]


def open_program(source: Source, *, to_check: bool, params: Settings | None = None) -> ProgramSource:
    """Open what a user names as a program, with these values of its params.

    ``to_check``: it is to be loaded, not analysed.
    """
    # Names of files become a list, so that the front ends need not tell one from several.
    given: Any = source
    if isinstance(source, str | Path):
        given = [str(source)]
    elif isinstance(source, Sequence):
        given = [str(file) for file in source]
        if not given:
            raise UsageError("no file is given", remedy="give the files of one program")
    opened = next(front_end for front_end in _FRONT_ENDS if front_end.takes(given)).open(given, to_check)
    if not params:
        return opened
    if not isinstance(opened, _DedalusFiles):
        raise UsageError(
            f"'{next(iter(params))}' is set, and only files in Dedalus have params",
            remedy="give them to clew.parse_program" if isinstance(opened, _IrProgram) else "leave --set out",
        )
    return opened._replace(params=params)


def read_once(source: Source) -> Template | Loaded:
    """Read what is going to be checked with many values: its params open, if it can have any."""
    opened = open_program(source, to_check=True)
    return read_template(opened.files) if isinstance(opened, _DedalusFiles) else opened.load()


# -- the front ends ----------------------------------------------------------------------------------------------


# NamedTuples, as other records on the way to the first answer: they are defined in a seventh of the time.
class _DedalusFiles(NamedTuple):
    """The files of one Dedalus program."""

    files: Sequence[str]
    params: Settings | None = None

    def load(self) -> Loaded:
        return load(self.files, self.params)

    def dataflow(self) -> Dataflow:
        loaded = self.load()
        return _dataflow_of(loaded.program, ", ".join(self.files), loaded.notices)


class _IrProgram(NamedTuple):
    """A program of the IR that was made in Python."""

    program: Program

    def load(self) -> Loaded:
        return Loaded(self.program, Bounds())

    def dataflow(self) -> Dataflow:
        return _dataflow_of(self.program, "the program")


def _dataflow_of(program: Program, name: str, notices: tuple[Notice, ...] = ()) -> Dataflow:
    # A check does not come here, and should not pay for the analysis.
    from clew.analysis.calm.dataflow.of_dedalus import dedalus_dataflow
    from clew.program.checks import check_program

    checked = check_program(program)
    return dedalus_dataflow(checked.program, name, (*notices, *checked.notices))


def _open_bloom_file(files: list[str], to_check: bool) -> ProgramSource:
    from clew.frontends.bloom import open_bloom

    if len(files) > 1:
        raise UsageError(
            f"{len(files)} files are given, and one of them is a Python file",
            remedy="give one Bloom program, FILE.py:Class; it may import others",
        )
    return open_bloom(files[0], to_check=to_check)


def _open_bloom_class(module: type[Module] | Module, to_check: bool) -> ProgramSource:
    from clew.frontends.bloom import BloomSource

    return BloomSource(module)


#: In the order in which they are asked: any file that is not Python is taken for Dedalus, whose files may have any
#: name, and whatever is left for a class.
_FRONT_ENDS = (
    FrontEnd(lambda given: isinstance(given, Program), lambda given, to_check: _IrProgram(given)),
    FrontEnd(lambda given: isinstance(given, list) and any(map(is_python, given)), _open_bloom_file),
    FrontEnd(lambda given: isinstance(given, list), lambda given, to_check: _DedalusFiles(given)),
    FrontEnd(lambda given: True, _open_bloom_class),
)
