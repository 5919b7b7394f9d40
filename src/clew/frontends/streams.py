"""Stream programs: a Bytewax dataflow from ``FILE.py:flow``, or one that was made in Python.

Bytewax is not imported here: whoever has made a dataflow has imported it.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from clew.analysis.blazes.dataflow import Dataflow
from clew.analysis.blazes.streaming.flows import read_flow
from clew.errors import ClewError, Position, UsageError
from clew.files.python_names import FileNames
from clew.frontends.bloom import BloomSource, ImportedFile, choose_bloom, import_program, own_bloom_classes


def open_analysed(where: str) -> BloomSource | Dataflow:
    """Import what ``FILE.py[:NAME]`` names: a Bloom class, or a Bytewax dataflow.

    That may be a function that returns one, too.
    """
    imported = import_program(where)
    # A file may have both: a dataflow of Bytewax is found by what it is, a Bloom class by what it derives from.
    flow = _find_flow(imported)
    if flow is None:
        return choose_bloom(imported, to_check=False)
    return dataflow_of(flow, imported.names)


def is_flow(value: object) -> bool:
    """Tell whether this is a dataflow of Bytewax."""
    # No import: whoever has no Bytewax has no dataflow of it, and it is an extra.
    library = sys.modules.get("bytewax.dataflow")
    return library is not None and isinstance(value, library.Dataflow)


def dataflow_of(flow: Any, names: FileNames | None = None) -> Dataflow:
    """Return the annotated dataflow of a Bytewax dataflow; ``names``: how the user calls the files it is from."""
    with (names or FileNames(None)).in_errors():
        return read_flow(flow)


def _find_flow(imported: ImportedFile) -> Any:
    """Return the dataflow that is meant; None if what is meant is a Bloom class, or nothing that is known here."""
    values, name, file = vars(imported.module), imported.name, imported.file
    flows = {key: value for key, value in values.items() if is_flow(value)}
    if name in flows:
        return flows[name]
    # A function of a file that knows nothing of Bytewax is not called just to see what it returns.
    if not _uses_bytewax(imported.module) or (own_bloom_classes(imported.module) and name not in values):
        return None
    choices = ", ".join(f"{file}:{key}" for key in flows)
    if name:
        made_by = values.get(name)
        if isinstance(made_by, FunctionType):
            return _call(made_by, name, imported)
        if isinstance(made_by, type):
            return None
        raise UsageError(f"{file}: makes no dataflow '{name}'", remedy=f"there are: {choices or 'none'}")
    if len(flows) != 1:
        remedy = f"say which: {choices}" if flows else f"name the function that returns it: {file}:FUNCTION"
        raise UsageError(f"{file}: makes {len(flows) or 'no'} dataflows", remedy=remedy)
    return next(iter(flows.values()))


def _uses_bytewax(module: ModuleType) -> bool:
    """Tell whether a module has anything of Bytewax: functions of others are not called."""
    return any(str(_home(value)).partition(".")[0] == "bytewax" for value in vars(module).values())


def _home(value: object) -> str | None:
    """Return the module that something is from; objects are asked nothing, for they may answer what they like."""
    if isinstance(value, ModuleType):
        return value.__name__
    return value.__module__ if isinstance(value, type | FunctionType) else type(value).__module__


def _call(made_by: FunctionType, name: str, imported: ImportedFile) -> Any:
    """Return the dataflow that a function makes, as ``bytewax.run`` does."""
    where = f"{imported.file}: {name}"
    needed = _needed(inspect.signature(made_by).parameters)
    if needed:
        raise UsageError(f"{where} needs {', '.join(needed)}", remedy="name a function that needs no arguments")
    with imported.names.in_errors():
        try:
            made = made_by()
        # A wrong annotation has its own place and remedy.
        except ClewError:
            raise
        except Exception as error:
            raised = f"{name}() has failed: {type(error).__name__}: {error}"
            position = _position_in(imported.module, error)
            raise UsageError(raised, position=position, remedy="it must return a Bytewax dataflow") from error
    if not is_flow(made):
        raise UsageError(
            f"{where}() returns {type(made).__name__}, which is no Bytewax dataflow",
            remedy="name a Dataflow, or a function that returns one",
        )
    return made


def _needed(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [key for key, p in parameters.items() if p.default is p.empty and p.kind not in variadic]


def _position_in(module: ModuleType, error: Exception) -> Position | None:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == module.__file__]
    return Position(frames[-1].filename, frames[-1].lineno or 1, 1) if frames else None
