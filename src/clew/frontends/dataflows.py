"""Programs to analyse, from the files that a user names.

A Bloom class need not say how it is checked: parts of programs, such as abstract protocols, are analysed, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.analysis.calm.dataflow.graph import Dataflow
from clew.analysis.calm.dataflow.of_bloom import bloom_dataflow
from clew.analysis.calm.dataflow.of_dedalus import dedalus_dataflow
from clew.bloom.ir.program import BloomProgram
from clew.bloom.language.module import Module, program_of
from clew.dedalus.loader import load
from clew.errors import ClewError, UsageError
from clew.files.python_module import import_file, require_file, split_name
from clew.program.checks import check_program


def load_dataflow(files: Sequence[str]) -> Dataflow:
    """The dataflow of ``FILE.py``, of ``FILE.py:Class``, or of the Dedalus program in all the files."""
    python = [file for file in files if split_name(file)[0].endswith(".py")]
    if not python:
        program = check_program(load(files).program)
        return dedalus_dataflow(program.program, ", ".join(files), program.notices)
    if len(files) > 1:
        message = f"{len(files)} files are given, and one of them is a Python file"
        raise UsageError(message, remedy="give one Bloom program, FILE.py:Class; it may import others")
    loaded = load_bloom(files[0])
    return bloom_dataflow(loaded.program, loaded.files)


@dataclass(frozen=True)
class LoadedBloom:
    """A class with its program; ``files`` says what its user calls the files of the program."""

    module: type[Module]
    program: BloomProgram
    files: Mapping[str, str]


def load_bloom(where: str) -> LoadedBloom:
    """The class that ``FILE.py`` or ``FILE.py:Class`` names."""
    file, name = split_name(where)
    require_file(file, "name a Python file that defines a Bloom class")
    try:
        module = _chosen(file, name)
        program = program_of(module)
    except ClewError as error:
        if error.position:
            error.position = replace(error.position, file=known_as(error.position.file, file))
        raise
    return LoadedBloom(module, program, {f: known_as(f, file) for f in _files(program)})


def _chosen(file: str, name: str) -> type[Module]:
    module = import_file(Path(file), "program")
    classes = {k: v for k, v in vars(module).items() if isinstance(v, type) and issubclass(v, Module)}
    own = {k: v for k, v in classes.items() if v.__module__ == module.__name__}
    if name in classes:
        return classes[name]
    known = ", ".join(f"{file}:{key}" for key in own) or "none"
    if name:
        raise UsageError(f"{file}: defines no Bloom class '{name}'", remedy=f"there are: {known}")
    if not own:
        raise UsageError(f"{file}: defines no Bloom class", remedy="derive one from clew.bloom.Bloom")
    if len(own) > 1:
        raise UsageError(f"{file}: defines {len(own)} Bloom classes", remedy=f"say which: {known}")
    return next(iter(own.values()))


def _files(program: BloomProgram) -> tuple[str, ...]:
    positions = [r.position for r in program.rules]
    positions += [c.position for c in program.collections]
    positions += [n.position for n in program.notices]
    return tuple(dict.fromkeys(p.file for p in positions if p is not None))


def known_as(file: str, given: str) -> str:
    """A file as the user would write it, seen from the one that was given."""
    folder = Path(given).resolve().parent
    if folder not in Path(file).parents:
        return file
    return os.path.normpath(Path(given).parent / Path(file).relative_to(folder))
