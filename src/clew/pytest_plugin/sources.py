"""What a test names becomes what is checked: a model, or a scenario with or without virtual time."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Any, NamedTuple

from clew.errors import UsageError
from clew.files.python_names import is_python, split_name
from clew.program.ir import Program
from clew.simulation.loading import LoadedScenario, as_loaded, find_scenario
from clew.simulation.scenario import Scenario


class Kind(enum.Enum):
    """What is checked; the values are what messages call it."""

    MODEL = "a model"
    TIMED = "a scenario with virtual time"
    UNTIMED = "a scenario without virtual time"


class Target(NamedTuple):
    """What is checked.

    ``given``: what the functions of Clew take.  ``files``: those of it, ``FILE.py:NAME`` for what is in a Python
    file, as commands name them; none for what was made in Python.  ``name``: what people are told it is called.
    ``runs_code``: whether checking it executes Python code of the user.
    """

    kind: Kind
    given: Any
    files: tuple[str, ...]
    name: str
    runs_code: bool

    @property
    def scenario(self) -> LoadedScenario:
        """Return the scenario; only of those that are one."""
        assert isinstance(self.given, LoadedScenario), "the kind says so"
        return self.given


def open_target(source: Any, beside: Path, root: Path) -> Target:
    """Return what ``source`` names, seen from the folder ``beside`` and, if it is not there, from ``root``."""
    match source:
        case LoadedScenario() | Scenario():
            return _of_scenario(as_loaded(source))
        case str() | Path():
            return _of_file(_locate(str(source), beside, root))
        case [*files] if files and all(isinstance(file, str | Path) for file in files):
            return _of_files(tuple(_locate(str(file), beside, root) for file in files))
        case Program():
            return Target(Kind.MODEL, source, (), "a program made in Python", False)
        # By its look: classes and objects of Bloom are checked if they have a setting, whatever they are.
        case _ if hasattr(source, "setting"):
            name = getattr(source, "__qualname__", type(source).__qualname__)
            return Target(Kind.MODEL, source, (), name, True)
    raise UsageError(
        f"{source!r:.80} is neither a scenario nor a model",
        remedy="give a Scenario, a Bloom class with a setting, or a file: FILE.py:NAME or FILE.ded",
    )


def _of_file(file: str) -> Target:
    if not is_python(file):
        return _of_files((file,))
    loaded = find_scenario(file)
    return Target(Kind.MODEL, file, (file,), file, True) if loaded is None else _of_scenario(loaded)


def _of_files(files: tuple[str, ...]) -> Target:
    return Target(Kind.MODEL, files, files, " + ".join(files), any(map(is_python, files)))


def _of_scenario(loaded: LoadedScenario) -> Target:
    kind = Kind.UNTIMED if loaded.scenario.time is None else Kind.TIMED
    files = (loaded.full_name,) if loaded.full_name else ()
    return Target(kind, loaded, files, loaded.full_name or "a scenario made in Python", True)


def _locate(name: str, beside: Path, root: Path) -> str:
    """Return the name as a command in the working directory takes it."""
    file, inner = split_name(name)
    found = next((folder / file for folder in (beside, root) if (folder / file).is_file()), None)
    if found is None:
        raise UsageError(
            f"{file}: no such file in {beside} nor in {root}",
            remedy="name a file as seen from the folder of the test, or from the root directory of pytest",
        )
    path = os.path.abspath(found)  # noqa: PTH100  # links stay links
    here = os.path.relpath(path)
    # What a document names must lie below the working directory to be found without being named again.
    shown = path if here.startswith(os.pardir) else here
    return f"{shown}:{inner}" if inner else shown
