"""From files to the models in them, with what each expects.

The ``//!`` lines of a Dedalus file are read here.  What a Python file defines, only its execution tells: that is
done in a process of its own (``processes``), and ``list_python`` is the part of it in there.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

from clew.bloom.language.module import Module
from clew.bloom.language.setting import Setting
from clew.dedalus.loader import read_expectation
from clew.files.python_module import import_file
from clew.files.python_names import FileNames
from clew.files.reading import read_source
from clew.frontends.bloom import expectation_of
from clew.model_tests.discovery import Candidate
from clew.model_tests.model import Kind, Model
from clew.model_tests.python_look import find_imported_names
from clew.simulation.scenario import Scenario, expect


def list_dedalus(file: str) -> Model:
    """Return the model that a Dedalus file is; raise ``ProgramError`` for ``//!`` lines that make no sense."""
    return Model(file, Kind.DEDALUS, read_expectation(file))


def list_python(candidate: Candidate) -> tuple[Model, ...]:
    """Import a file and return its Bloom classes with a ``setting`` and its scenarios, as they are defined.

    Scenarios are coroutine functions, too, if they have settings of their own.
    """
    path = Path(candidate.file)
    with FileNames(path).in_errors():
        module = import_file(path, "model")
    elsewhere = find_imported_names(read_source(path))
    models: dict[int, Model] = {}
    for name, value in vars(module).items():
        if candidate.name and name != candidate.name:
            continue
        # A model that is named is meant, wherever it was defined.
        if name in elsewhere and not candidate.name:
            continue
        model = _model_of(f"{candidate.file}:{name}", value)
        if model is not None:
            models.setdefault(id(value), model)  # another name for the same is not another model
    return tuple(models.values())


def _model_of(name: str, value: Any) -> Model | None:
    """Return the model that a value of a module is, if it is one."""
    if isinstance(value, Scenario):
        model = Model(name, Kind.SCENARIO, value.expectation, value.expect_runs, value.expect_seed)
        return model if model.strategy is None else replace(model, runs=None)
    settings = getattr(value, "clew_aio_settings", None)
    if settings is not None and inspect.iscoroutinefunction(value):
        expectation = expect(settings.expect, settings.expect_faults)
        model = Model(name, Kind.SCENARIO, expectation, settings.expect_runs, settings.expect_seed)
        return model if model.strategy is None else replace(model, runs=None)
    # By its type: a class may well have a table of this name.
    is_checked = isinstance(getattr(value, "setting", None), Setting)
    if isinstance(value, type) and issubclass(value, Module) and is_checked:
        return Model(name, Kind.BLOOM, expectation_of(value))
    return None
