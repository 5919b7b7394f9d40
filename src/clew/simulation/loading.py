"""Scenario files: Python modules that are executed, because the user named them.

``path.py:name`` is the scenario that the module calls ``name``; without a name there must be only one.  The folder
of the file is on the path while it is loaded, as for a script.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import stat
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from clew.budgets.whereabouts import tell_doing
from clew.errors import ClewError, Position, UsageError
from clew.files.reading import read_source
from clew.simulation.scenario import Scenario


@dataclass(frozen=True)
class Loaded:
    """A scenario and where it is from.

    ``modules`` are its file and those from its folder, or below, that it uses: that it imports, or that something
    in it is from.  ``code`` is a digest of them; ``types`` are the dataclasses and enums that messages in a
    recording may be made of, by name.
    """

    scenario: Scenario
    file: str
    name: str
    code: str
    types: Mapping[str, type]
    modules: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of ``modules``, as seen from the folder of the scenario; none, if it was made in Python."""
        if not self.file:
            return ()
        given = Path(self.file)
        own = given.resolve()  # the file may be a link, and keeps the name by which it was given
        modules = (Path(module) for module in self.modules)
        return tuple(given.name if m == own else m.relative_to(own.parent).as_posix() for m in modules)


def load_scenario(where: str) -> Loaded:
    """The scenario that ``path.py`` or ``path.py:name`` names."""
    file, name = split_name(where)
    path = Path(file)
    refuse_no_python_file(file, "name a Python file that defines a Scenario")
    module = imported_module(path)
    scenarios = {key: value for key, value in vars(module).items() if isinstance(value, Scenario)}
    if not scenarios:
        raise UsageError(f"{file}: defines no Scenario", remedy="assign one: scenario = Scenario(nodes=...)")
    if not name and len(scenarios) > 1:
        raise UsageError(
            f"{file}: defines {len(scenarios)} scenarios", remedy=f"say which: {_choices(file, scenarios)}"
        )
    name = name or next(iter(scenarios))
    if name not in scenarios:
        raise UsageError(f"{file}: defines no scenario '{name}'", remedy=f"there are: {_choices(file, scenarios)}")
    own, scenario = _own_modules(module, path), scenarios[name]
    return Loaded(scenario, file, name, digest_of_files(own), _types(own, scenario), tuple(map(str, own)))


def split_name(where: str) -> tuple[str, str]:
    """``path.py:name`` in its parts; the name may be missing, and a file may be called like that."""
    if os.path.isfile(where):  # noqa: PTH113  # unlike Path.is_file, it never raises
        return where, ""
    file, _, name = where.rpartition(":") if where.rpartition(":")[0].endswith(".py") else (where, "", "")
    return file, name


def as_loaded(given: Scenario | str | Loaded) -> Loaded:
    """What may be given where a scenario is asked for; one that was made in Python has no file and no name."""
    if isinstance(given, Loaded):
        return given
    if isinstance(given, str):
        return load_scenario(given)
    own: dict[Path, ModuleType] = {}
    for function in (*given.nodes.values(), *given.invariants):
        while isinstance(function, partial):
            function = function.func
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        file = getattr(module, "__file__", None)
        if module is not None and file:
            own |= _own_modules(module, Path(file))
    own = dict(sorted(own.items()))
    return Loaded(given, "", "", digest_of_files(own), _types(own, given), tuple(map(str, own)))


def _choices(file: str, scenarios: Mapping[str, Scenario]) -> str:
    return ", ".join(f"{file}:{name}" for name in scenarios)


def refuse_no_python_file(file: str, remedy: str) -> None:
    """Raise an error, with its reason, unless there is a regular file of this name."""
    try:
        is_regular = stat.S_ISREG(os.stat(file).st_mode)  # noqa: PTH116  # a text, as the user gave it
        why = "is no regular file"
    except (OSError, ValueError):
        is_regular, why = False, "no such file"
    if not is_regular:
        raise UsageError(f"{file}: {why}", remedy=remedy)


def imported_module(path: Path, what: str = "scenario") -> ModuleType:
    """The module that a file is, executed once; ``what`` is what messages call it."""
    resolved = path.resolve()
    if resolved.suffix != ".py":  # what is no Python file is neither executed nor quoted
        raise UsageError(f"{path}: is no Python file: its name does not end in .py", remedy="name one that is")
    try:
        source = read_source(resolved)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror})", remedy="name a Python file, with permission to read it"
        ) from None
    # Its own name: files of the same name are different modules, and a file is loaded once, until it changes.
    own = hashlib.sha256(str(resolved).encode("utf-8", "surrogateescape") + b"\0" + source)
    name = f"clew_scenario_{own.hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    tell_doing(f"while loading {path}")
    loader = _FreshLoader(name, str(resolved), source)
    spec = importlib.util.spec_from_file_location(name, resolved, loader=loader)
    assert spec is not None, "there is a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(resolved.parent))
    try:
        loader.exec_module(module)
    except ClewError:
        del sys.modules[name]
        raise
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _refusal(path, error, what) from error
    finally:
        sys.path.remove(str(resolved.parent))
    tell_doing(f"in the code of {path}, before the first event")
    return module


class _FreshLoader(SourceFileLoader):
    """Never takes compiled code from a file: within a second of a change, that would be code from before it."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source, self.path)


def _refusal(path: Path, error: BaseException, what: str) -> UsageError:
    """What was raised, and the line of the file's folder that is to blame."""
    raised = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        position = Position(error.filename, error.lineno, error.offset or 1)
        return UsageError(f"not Python: {error.msg}", position=position, remedy="correct it")
    folder = path.resolve().parent
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == folder]
    line = frames[-1].lineno if frames else None
    if line is None:
        return UsageError(f"{path}: cannot be imported: {raised}", remedy="see that it can be imported")
    file = str(path) if Path(frames[-1].filename) == path.resolve() else frames[-1].filename
    return UsageError(
        f"the {what} cannot be imported: {raised}",
        position=Position(file, line, 1),
        remedy="it must be possible to import the file without an error",
    )


def _own_modules(module: ModuleType, path: Path) -> dict[Path, ModuleType]:
    """The scenario's module and those from its folder (or below) that it uses, directly or not."""
    folder = path.resolve().parent
    found: dict[Path, ModuleType] = {}
    pending = [module]
    while pending:
        current = pending.pop()
        file = Path(getattr(current, "__file__", None) or "")
        if file.suffix != ".py" or folder not in file.resolve().parents or file.resolve() in found:
            continue
        found[file.resolve()] = current
        pending += [sys.modules[name] for name in _imports(current, file) if name in sys.modules]
        for value in vars(current).values():
            home = (
                value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", "") or "")
            )
            if home is not None:
                pending.append(home)
    return dict(sorted(found.items()))


def _imports(module: ModuleType, file: Path) -> Iterator[str]:
    """The names of modules that a file imports: after ``from settings import LIMIT``, the number tells of none."""
    for node in ast.walk(ast.parse(read_source(file))):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(name, names, level):
                package = module.__package__ or ""
                outer = package.rsplit(".", level - 1)[0] if level > 1 else package if level else ""
                base = ".".join(filter(None, (outer, name)))
                yield from (base, *(f"{base}.{alias.name}" for alias in names))


def scenario_question(loaded: Loaded) -> dict[str, str]:
    """Return what a search depends on that executes a scenario: its code, and which of several it is."""
    made = loaded.scenario
    events = [type(event).__name__ for event in (*made.before, *made.after)]
    # One that was made in Python has no name: what can be seen of it has to tell it from others.
    seen = (*made.nodes, *made.running, made.network, made.count, made.loss, made.duplication, made.timers, events)
    name = loaded.name or hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
    return {"the scenario": name, "the code of the scenario digest": loaded.code}


def digest_of_code(path: Path) -> str:
    """Return a digest of a Python file and of the modules from its folder, or below, that it uses."""
    own = path.resolve()
    loaded = [m for m in list(sys.modules.values()) if _is_from(m, own)]
    modules: dict[Path, ModuleType] = {}
    for module in loaded:
        modules |= _own_modules(module, path)
    return digest_of_files([own, *(file for file in modules if file != own)])


def _is_from(module: object, file: Path) -> bool:
    named = getattr(module, "__file__", None)
    return isinstance(module, ModuleType) and bool(named) and Path(str(named)).resolve() == file


def digest_of_files(files: Iterable[Path]) -> str:
    """Of what the files contain, not of what they are called or where they are."""
    contents = sorted(hashlib.sha256(read_source(path)).hexdigest() for path in files)
    return hashlib.sha256("\n".join(contents).encode()).hexdigest()


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
                    found.setdefault(kind.__qualname__, kind)
    for kind in scenario.messages:
        found[kind.__qualname__] = kind
    return found
