"""Bloom programs: from ``FILE.py:Class``, or from a class, to what is checked and what is analysed.

Checking needs a class that says how (a ``setting``).  Analyses do without: parts of programs, such as abstract
protocols, are analysed, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from clew.bloom.ir.program import BloomProgram
from clew.bloom.language.module import Module, program_of
from clew.bloom.language.setting import Setting
from clew.bloom.to_program.translation import translate
from clew.dedalus.loader import Loaded
from clew.errors import UsageError
from clew.expectation import Expectation
from clew.files.python_module import import_file, require_file
from clew.files.python_names import FileNames, split_name
from clew.program.ir import Fact, Rule

if TYPE_CHECKING:
    from clew.analysis.blazes.extraction.system import Extraction
    from clew.analysis.calm.dataflow.graph import Dataflow

_GIVE_SETTING = "setting = checked(nodes=['a', 'b'], eot=6, given={...})"


class ImportedFile(NamedTuple):
    """What ``FILE.py`` or ``FILE.py:NAME`` names, imported; ``name`` is "" if there is none."""

    module: ModuleType
    file: str
    name: str
    names: FileNames


def open_bloom(where: str, *, to_check: bool = False) -> BloomSource:
    """Import the class that ``FILE.py`` or ``FILE.py:Class`` names; without a name, there must be only one.

    ``to_check``: only classes with a ``setting`` count then.
    """
    return choose_bloom(import_program(where), to_check=to_check)


def import_program(where: str) -> ImportedFile:
    """Import the file that ``FILE.py`` or ``FILE.py:NAME`` names, without a look at what is in it."""
    file, name = split_name(where)
    require_file(file, "name a Python file that defines a Bloom class")
    names = FileNames(file)
    with names.in_errors():
        return ImportedFile(import_file(Path(file), "program"), file, name, names)


def choose_bloom(imported: ImportedFile, *, to_check: bool) -> BloomSource:
    """Return the class of an imported file that is meant."""
    with imported.names.in_errors():
        cls = _choose_class(imported.module, imported.file, imported.name, to_check=to_check)
    return BloomSource(cls, imported.names)


def own_bloom_classes(module: ModuleType) -> dict[str, type[Module]]:
    """Return the Bloom classes that a module defines, and does not import."""
    return {key: v for key, v in _bloom_classes(module).items() if v.__module__ == module.__name__}


def _bloom_classes(module: ModuleType) -> dict[str, type[Module]]:
    return {key: v for key, v in vars(module).items() if isinstance(v, type) and issubclass(v, Module)}


def _choose_class(module: ModuleType, file: str, name: str, *, to_check: bool) -> type[Module]:
    classes = _bloom_classes(module)
    # Only these are offered as choices: the base classes that a module imports would be noise.
    own = own_bloom_classes(module)
    if name in classes:
        return classes[name]
    if name:
        raise UsageError(f"{file}: defines no Bloom class '{name}'", remedy=f"there are: {_list(file, own)}")
    # A class with a setting counts also where it was imported: whoever gave it one meant it to be checked.
    candidates = {key: v for key, v in classes.items() if _setting_of(v)} if to_check else own
    with_setting = " with a setting" if to_check else ""
    if not candidates:
        remedy = f"give one: {_GIVE_SETTING}" if to_check else "derive one from clew.bloom.Bloom"
        raise UsageError(f"{file}: defines no Bloom class{with_setting}", remedy=remedy)
    if len(candidates) > 1:
        raise UsageError(
            f"{file}: defines {len(candidates)} Bloom classes{with_setting}",
            remedy=f"say which: {_list(file, candidates)}",
        )
    return next(iter(candidates.values()))


def _list(file: str, classes: Mapping[str, type]) -> str:
    return ", ".join(f"{file}:{name}" for name in classes) or "none"


def _setting_of(module: type[Module] | Module) -> Setting | None:
    # By its type: a class may well have a table of this name.
    setting = getattr(module, "setting", None)
    return setting if isinstance(setting, Setting) else None


def expectation_of(cls: type[Module]) -> Expectation | None:
    """Return what a class says that its check comes to."""
    # Of its own setting only: a class that inherits one has other rules, about which its parent says nothing.
    own = vars(cls).get("setting")
    return own.expectation if isinstance(own, Setting) else None


@dataclass(frozen=True)
class BloomSource:
    """A Bloom class, or an object of one; ``names`` are those by which the user knows its files."""

    module: type[Module] | Module
    names: FileNames = field(default_factory=lambda: FileNames(None))

    @property
    def cls(self) -> type[Module]:
        """Return the class, also of an object."""
        return self.module if isinstance(self.module, type) else type(self.module)

    @cached_property
    def program(self) -> BloomProgram:
        """Return the rules of the class; reading them executes its blocks, so that is done once."""
        with self.names.in_errors():
            return program_of(self.module)

    def load(self) -> Loaded:
        """Compile the rules, with the rows and bounds of the ``setting``, to a program of the IR."""
        # Also here, and not only when a class is chosen: one that is named, or handed over, may have none.
        setting = _setting_of(self.module)
        if setting is None:
            message = f"{self.cls.__name__} does not say how it is checked"
            raise UsageError(message, remedy=f"give it a setting: {_GIVE_SETTING}")
        program = self.program
        with self.names.in_errors():
            made = translate(program, setting)
        clauses = tuple(map(self._name_files, made.program.clauses))
        return Loaded(
            replace(made.program, clauses=clauses),
            setting.bounds,
            tuple(map(self.names.of_notice, made.notices)),
            expectation_of(self.cls),
        )

    def _name_files(self, clause: Fact | Rule) -> Fact | Rule:
        position = self.names.of_position(clause.position)
        if isinstance(clause, Fact):
            return replace(clause, position=position)
        # Parts of a rule, too: reports point at the one that failed.
        body = tuple(replace(b, position=self.names.of_position(b.position)) for b in clause.body)
        return replace(clause, position=position, body=body)

    # The analyses are imported where they are used: a check should not pay for them.

    def dataflow(self) -> Dataflow:
        """Return the dataflow that CALM analyses."""
        from clew.analysis.calm.dataflow.of_bloom import bloom_dataflow

        return bloom_dataflow(self.program, self._files())

    def extract(self) -> Extraction:
        """Extract the annotated dataflow that Blazes analyses."""
        from clew.analysis.blazes.extraction.system import extract

        with self.names.in_errors():
            found = extract(self.cls, self._files(), self.program)
        return replace(found, notices=tuple(map(self.names.of_notice, found.notices)))

    def _files(self) -> dict[str, str]:
        """Return what the user calls the files of the program, by their full names."""
        program = self.program
        positions = [
            *(rule.position for rule in program.rules),
            *(collection.position for collection in program.collections),
            *(notice.position for notice in program.notices),
        ]
        # A program has rules of several files: of parents and imported modules.
        files = dict.fromkeys(position.file for position in positions if position is not None)
        return {file: self.names.of_file(file) for file in files}
