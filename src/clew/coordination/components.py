"""A class to coordinate, with its program: what planning needs to know of it and of what it imports."""

from __future__ import annotations

from dataclasses import dataclass

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import Module, program_of
from clew.bloom.language.scope import Declaration, Imported
from clew.errors import UsageError


@dataclass(frozen=True)
class ClassProgram:
    """A class and its program, which go together: reading the program executes all blocks of the class."""

    cls: type[Module]
    program: BloomProgram

    @classmethod
    def read(cls, module: type[Module]) -> ClassProgram:
        """Read the program of a class."""
        return cls(module, program_of(module))

    @property
    def name(self) -> str:
        """Return the name of the class."""
        return self.cls.__name__

    def component(self, name: str) -> ClassProgram:
        """Return the module that the class imports under a name; without one, the class itself."""
        return ClassProgram.read(component_of(self.cls, name)) if name else self


def component_of(cls: type[Module], name: str) -> type[Module]:
    """Return the module that a class imports under a name; without one, the class itself."""
    if not name:
        return cls
    found = getattr(cls, name, None)
    if not isinstance(found, Imported):
        raise UsageError(
            f"{cls.__name__} imports no module as '{name}'", remedy="name a component: report = imported(Report)"
        )
    return found.module


def input_of(cls: type[Module], name: str) -> Declaration:
    """Return the declaration of an input interface."""
    found = getattr(cls, name, None)
    if not isinstance(found, Declaration) or found.kind is not Kind.INPUT:
        what = f"'{name}' is a {found.kind.value}" if isinstance(found, Declaration) else f"there is no '{name}'"
        raise UsageError(
            f"{cls.__name__} cannot hold back '{name}': {what}",
            remedy="only input interfaces can be overridden: let the rules read one, and pass on what arrives",
        )
    return found
