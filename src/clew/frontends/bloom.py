"""Bloom programs to check: from ``FILE.py:Class``, or from a class, to a program of the IR.

The file is executed, because the user named it, in the way that scenarios of simulated systems are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clew.bloom.language.module import Module, program_of
from clew.bloom.language.setting import Setting
from clew.bloom.to_program.translation import compiled
from clew.dedalus.loader import Defaults, Loaded
from clew.errors import ClewError, Notice, Position, UsageError
from clew.files.python_module import import_file, require_file, split_name
from clew.program.ir import Fact, Program, Rule


def load_files(files: Sequence[str | Path]) -> Loaded:
    """The program that ``path.py`` or ``path.py:Class`` names."""
    if len(files) != 1:
        raise UsageError(
            f"{len(files)} files are given, and one of them is a Python file",
            remedy="give one Bloom program, FILE.py:Class; it may import others",
        )
    file, name = split_name(str(files[0]))
    path = Path(file)
    require_file(file, "name a Python file that defines a Bloom class")
    names = _Names(path)
    try:
        module = import_file(path, "program")
        return names.of_loaded(load_class(_chosen(vars(module), file, name, module.__name__)))
    except ClewError as error:
        if error.position:
            error.position = names.of_position(error.position)
        raise


def load_class(module: type[Module] | Module) -> Loaded:
    """The program of a class (or object) with a ``setting``."""
    setting = getattr(module, "setting", None)
    if not isinstance(setting, Setting):
        name = module.__name__ if isinstance(module, type) else type(module).__name__
        raise UsageError(
            f"{name} does not say how it is checked",
            remedy="give it a setting: setting = checked(nodes=['a', 'b'], eot=6, given={...})",
        )
    made = compiled(program_of(module), setting)
    bounds = (setting.eot, setting.eff, setting.crashes, setting.delays)
    return Loaded(made.program, Defaults(setting.nodes, *bounds), made.notices)


def _chosen(contents: Mapping[str, Any], file: str, name: str, module: str) -> type[Module]:
    classes = {key: v for key, v in contents.items() if isinstance(v, type) and issubclass(v, Module)}
    if name:
        if name not in classes:
            own = [key for key, v in classes.items() if v.__module__ == module]
            known = ", ".join(f"{file}:{key}" for key in own) or "none"
            raise UsageError(f"{file}: defines no Bloom class '{name}'", remedy=f"there are: {known}")
        return classes[name]
    settled = {key: v for key, v in classes.items() if isinstance(getattr(v, "setting", None), Setting)}
    if len(settled) == 1:
        return next(iter(settled.values()))
    if not settled:
        raise UsageError(
            f"{file}: defines no Bloom class with a setting",
            remedy="give one: setting = checked(nodes=['a', 'b'], eot=6, given={...})",
        )
    known = ", ".join(f"{file}:{key}" for key in settled)
    raise UsageError(f"{file}: defines {len(settled)} classes with a setting", remedy=f"say which: {known}")


class _Names:
    """Positions with the file, and those beside it, as the user named it."""

    def __init__(self, path: Path) -> None:
        self._beside = path.parent
        self._resolved = path.resolve().parent

    def of_position(self, position: Position | None) -> Position | None:
        if position is None or not Path(position.file).is_relative_to(self._resolved):
            return position
        inside = Path(position.file).relative_to(self._resolved)
        return replace(position, file=str(self._beside / inside))

    def of_loaded(self, loaded: Loaded) -> Loaded:
        clauses = tuple(self._of_clause(c) for c in loaded.program.clauses)
        notices = tuple(Notice(n.message, self.of_position(n.position), n.remedy) for n in loaded.notices)
        return Loaded(Program(clauses, loaded.program.helpers), loaded.defaults, notices)

    def _of_clause(self, clause: Fact | Rule) -> Fact | Rule:
        position = self.of_position(clause.position)
        if isinstance(clause, Fact):
            return replace(clause, position=position)
        body = tuple(replace(b, position=self.of_position(b.position)) for b in clause.body)
        return replace(clause, position=position, body=body)
