"""Scenario files: Python modules that are executed, because the user named them.

``path.py:name`` is the scenario that the module calls ``name``; without a name there must be only one.  The folder
of the file is on the path while it is loaded, as for a script.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from clew.errors import UsageError
from clew.files.python_module import combine_digests, digest_file, find_own_modules, import_file, require_file
from clew.files.python_names import split_name
from clew.simulation.scenario import Scenario


@dataclass(frozen=True)
class LoadedScenario:
    """A scenario and where it is from.

    ``modules`` are its file and those from its folder, or below, that it uses: that it imports, or that something
    in it is from.  ``code`` is a digest of them, ``digests`` one of each; ``types`` are the dataclasses and enums
    that messages in a recording may be made of, by name.  ``own`` is the file, wherever links lead.
    """

    scenario: Scenario
    file: str
    name: str
    code: str
    types: Mapping[str, type]
    modules: tuple[str, ...]
    digests: tuple[str, ...] = ()
    own: Path | None = None

    @property
    def full_name(self) -> str:
        """Return the scenario as a command names it; "" for one made in Python."""
        return f"{self.file}:{self.name}" if self.file else ""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of ``modules``, seen from the folder of the scenario; none for one made in Python."""
        if self.own is None:
            return ()
        # The file may be a link, and keeps the name by which it was given.
        name, folder = Path(self.file).name, self.own.parent
        modules = (Path(module) for module in self.modules)
        return tuple(name if m == self.own else m.relative_to(folder).as_posix() for m in modules)

    @property
    def digests_by_file(self) -> dict[str, str]:
        """Return the digest of each of ``files``."""
        return dict(zip(self.files, self.digests, strict=bool(self.file)))


def load_scenario(where: str) -> LoadedScenario:
    """Load the scenario that ``path.py`` or ``path.py:name`` names."""
    file, name = split_name(where)
    path = Path(file)
    require_file(file, "name a Python file that defines a Scenario")
    module = import_file(path)
    scenarios = _find_scenarios(module, name)
    if not scenarios:
        raise UsageError(f"{file}: defines no Scenario", remedy="assign one: scenario = Scenario(nodes=...)")
    if not name and len(scenarios) > 1:
        raise UsageError(
            f"{file}: defines {len(scenarios)} scenarios", remedy=f"say which: {_choices(file, scenarios)}"
        )
    name = name or next(iter(scenarios))
    if name not in scenarios:
        raise UsageError(f"{file}: defines no scenario '{name}'", remedy=f"there are: {_choices(file, scenarios)}")
    own, scenario = find_own_modules(module, path), scenarios[name]
    return _loaded(scenario if isinstance(scenario, Scenario) else _adapt(scenario), file, name, own)


def _find_scenarios(module: ModuleType, name: str) -> dict[str, Any]:
    """Return the scenarios of a module, and coroutine functions that are one because they are named."""
    found: dict[str, Any] = {key: value for key, value in vars(module).items() if isinstance(value, Scenario)}
    if name and name not in found and (function := _find_function(vars(module).get(name))) is not None:
        found[name] = function
    if not name and not found:
        found = {key: value for key, value in vars(module).items() if _states_settings(value)}
        named = vars(module).get("scenario")
        if not found and inspect.iscoroutinefunction(named):
            found["scenario"] = named
        found = {key: _find_function(value) for key, value in found.items()}
    return found


def _find_function(value: Any) -> Any:
    """Return the coroutine function that a value is, or stands for, as a test does; None if it is none."""
    function = getattr(value, "clew_scenario_function", value)
    return function if inspect.iscoroutinefunction(function) else None


def _states_settings(value: Any) -> bool:
    """Tell whether somebody has said that a coroutine function is a scenario."""
    function = _find_function(value)
    return function is not None and hasattr(function, "clew_aio_settings")


def _adapt(function: Any) -> Scenario:
    """Make a scenario of a coroutine function."""
    # By its name: asyncio is in a later room, and most scenarios need nothing of it.
    made: Scenario = importlib.import_module("clew.aio.scenarios.adapting").make_scenario(function)
    return made


def find_scenario(where: str) -> LoadedScenario | None:
    """Load what ``path.py`` or ``path.py:name`` names if that is a scenario; None if it may be something else."""
    file, name = split_name(where)
    require_file(file, "name a Python file that defines a Scenario or a Bloom class")
    values = vars(import_file(Path(file)))
    scenarios = [key for key, value in values.items() if isinstance(value, Scenario)]
    # By their look, for this room knows nothing of Bloom: only what can be checked has a setting.
    others = [key for key, value in values.items() if isinstance(value, type) and hasattr(value, "setting")]
    if _find_function(values.get(name)) is not None:
        return load_scenario(where)
    if not name and not others and any(map(_states_settings, values.values())):
        return load_scenario(where)
    if name in scenarios or (scenarios and not others and name not in values):
        return load_scenario(where)
    return None


def as_loaded(given: Scenario | str | LoadedScenario) -> LoadedScenario:
    """Load what may be given for a scenario; one that was made in Python has no file and no name."""
    if isinstance(given, LoadedScenario):
        return given
    if isinstance(given, str):
        return load_scenario(given)
    own: dict[Path, ModuleType] = {}
    # A scenario that was made in Python names no file; the functions in it do.  Nearly always the same one.
    for name in dict.fromkeys(map(_module_name, (*given.nodes.values(), *given.invariants))):
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if module is not None and file:
            own |= find_own_modules(module, Path(file))
    own = dict(sorted(own.items()))
    return _loaded(given, "", "", own)


def _loaded(scenario: Scenario, file: str, name: str, own: Mapping[Path, ModuleType]) -> LoadedScenario:
    # Each file is read once: a change between two looks would make the digests contradict each other.
    digests = tuple(map(digest_file, own))
    code, types = combine_digests(digests), _types(own, scenario)
    # Now, and not when it is asked for: code that is executed may go to another folder.
    resolved = Path(file).resolve() if file else None
    return LoadedScenario(scenario, file, name, code, types, tuple(map(str, own)), digests, resolved)


def _module_name(function: object) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__module__", None) or ""


def _choices(file: str, scenarios: Mapping[str, Scenario]) -> str:
    return ", ".join(f"{file}:{name}" for name in scenarios)


def scenario_question(loaded: LoadedScenario) -> dict[str, str]:
    """Return what a search depends on that executes a scenario: its code, and which of several it is."""
    made = loaded.scenario
    events = [type(event).__name__ for event in (*made.before, *made.after)]
    # One that was made in Python has no name: what can be seen of it has to tell it from others.
    seen = (*made.nodes, *made.running, made.network, made.count, made.loss, made.duplication, made.timers, events)
    name = loaded.name or hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
    return {"the scenario": name, "the code of the scenario digest": loaded.code}


def _with_inner_classes(value: object) -> Iterator[type]:
    """Yield a class and those that are defined inside it."""
    if isinstance(value, type):
        yield value
        for name, inner in list(vars(value).items()):
            if getattr(inner, "__qualname__", None) == f"{value.__qualname__}.{name}":
                yield from _with_inner_classes(inner)


def _types(modules: Mapping[Path, ModuleType], scenario: Scenario) -> dict[str, type]:
    found: dict[str, type] = {}
    for module in modules.values():
        for value in vars(module).values():
            for kind in _with_inner_classes(value):
                if is_dataclass(kind) or issubclass(kind, Enum):
                    # The first of a name: a recording has nothing but the name, and ``messages`` decides where
                    # that is not enough.
                    found.setdefault(kind.__qualname__, kind)
    for kind in scenario.messages:
        found[kind.__qualname__] = kind
    return found
