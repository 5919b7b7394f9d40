"""Import the Python file that a user names, and tell which files belong to it.

The file is executed, because the user named it, with its folder on the path, as for a script.  What belongs to it
is its *own* code: the file, and those from its folder, or below, that it uses.  A digest of that tells whether a
recording or a checkpoint is of the same code.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import stat
import sys
import traceback
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from clew.budgets.whereabouts import tell_doing
from clew.errors import ClewError, Position, UsageError
from clew.files.reading import read_source
from clew.files.working_folder import folder_of_user_code

#: Libraries that programs for Clew may be written with, by the extras of ours that bring them.
_EXTRAS = {"bytewax": "bytewax", "kazoo": "zookeeper"}

# -- importing ---------------------------------------------------------------------------------------------------


def require_file(file: str, remedy: str) -> None:
    """Raise, with the reason, unless there is a regular file of this name."""
    try:
        is_regular = stat.S_ISREG(os.stat(file).st_mode)  # noqa: PTH116  # a text, as the user gave it
        why = "not a regular file"
    except (OSError, ValueError):
        is_regular, why = False, "no such file"
    if not is_regular:
        raise UsageError(f"{file}: {why}", remedy=remedy)


def import_file(path: Path, what: str = "scenario") -> ModuleType:
    """Import a file, once until it changes; ``what`` is what messages call it."""
    resolved = path.resolve()
    if resolved.suffix != ".py":  # what is no Python file is neither executed nor quoted
        raise UsageError(f"{path}: not a Python file: its name does not end in .py", remedy="name one that is")
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
    # What ends the process here ends it before anything was executed; the parent process says so.
    tell_doing(f"while loading {path}")
    loader = _FreshLoader(name, str(resolved), source)
    spec = importlib.util.spec_from_file_location(name, resolved, loader=loader)
    assert spec is not None, "there is a loader"
    module = importlib.util.module_from_spec(spec)
    # Before it is executed: dataclasses look their module up by its name.
    sys.modules[name] = module
    sys.path.insert(0, str(resolved.parent))
    try:
        with folder_of_user_code():
            loader.exec_module(module)
    except BaseException as error:
        # A module that is half executed must not be found by the next one who asks for it.
        del sys.modules[name]
        if isinstance(error, ClewError | KeyboardInterrupt):
            raise
        raise _describe_failure(path, error, what) from error
    finally:
        sys.path.remove(str(resolved.parent))
    tell_doing(f"in the code of {path}, before the first event")
    return module


class _FreshLoader(SourceFileLoader):
    """A loader that never takes compiled code from a file.

    Within a second of a change, ``__pycache__`` would give code from before it.
    """

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        # The very bytes that the name is a digest of: the file may be written to meanwhile.
        return self.source_to_code(self._source, self.path)


def _describe_failure(path: Path, error: BaseException, what: str) -> UsageError:
    """Return an error with what was raised, and the line of the file's folder that is to blame."""
    raised = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        position = Position(error.filename, error.lineno, error.offset or 1)
        return UsageError(f"not Python: {error.msg}", position=position, remedy="correct it")
    folder = path.resolve().parent
    # Innermost in the user's folder: a library that raises deep inside is not where the mistake is.
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == folder]
    line = frames[-1].lineno if frames else None
    if line is None:
        return UsageError(f"{path}: cannot be imported: {raised}", remedy="see that it can be imported")
    file = str(path) if Path(frames[-1].filename) == path.resolve() else frames[-1].filename
    remedy = "it must be possible to import the file without an error"
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
        remedy = f"pip install clew[{_EXTRAS[error.name]}]"
    return UsageError(f"the {what} cannot be imported: {raised}", position=Position(file, line, 1), remedy=remedy)


# -- own code ----------------------------------------------------------------------------------------------------


def find_own_modules(module: ModuleType, path: Path) -> dict[Path, ModuleType]:
    """Find the modules from the folder of a file, or below, that a module uses, directly or not; itself included.

    Everything else is taken to be a library, which is not part of what is examined.
    """
    folder = path.resolve().parent
    found: dict[Path, ModuleType] = {}
    pending = [module]
    seen: set[int] = set()  # most values are from the same few modules, and to resolve a path asks the disk
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        file = Path(getattr(current, "__file__", None) or "")
        if file.suffix != ".py":
            continue
        resolved = file.resolve()
        if folder not in resolved.parents or resolved in found:
            continue
        found[resolved] = current
        # By the text: after ``from settings import LIMIT``, the number does not say where it is from.  By the
        # values, too: a module may have come by other means than a statement.
        pending += [sys.modules[name] for name in _find_imports(current, file) if name in sys.modules]
        for value in vars(current).values():
            home = (
                value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", "") or "")
            )
            if home is not None:
                pending.append(home)
    return dict(sorted(found.items()))


def _find_imports(module: ModuleType, file: Path) -> Iterator[str]:
    """Yield the names of the modules that a file imports, anywhere in its text."""
    return _imports_in(file, module.__package__ or "")


def _imports_in(file: Path, package: str) -> Iterator[str]:
    return iter(_imports_of(read_source(file), package))


# Kept by the text: a program that records, replays and minimizes asks for the same files each time.
@lru_cache(maxsize=64)
def _imports_of(source: bytes, package: str) -> tuple[str, ...]:
    return tuple(_walk_imports(source, package))


def _walk_imports(source: bytes, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(name, names, level):
                outer = package.rsplit(".", level - 1)[0] if level > 1 else package if level else ""
                base = ".".join(filter(None, (outer, name)))
                # Each imported name may be a module of the package, or something in it.
                yield from (base, *(f"{base}.{alias.name}" for alias in names))


def find_own_files(path: Path) -> frozenset[Path]:
    """Find the files that ``find_own_modules`` finds, without executing anything: by the imports in their text.

    Raise SyntaxError or OSError where one of them cannot be read.
    """
    folder = path.resolve().parent
    found: set[Path] = set()
    pending = [path.resolve()]
    while pending:
        file = pending.pop()
        if file in found or folder not in file.parents:
            continue
        found.add(file)
        package = ".".join(file.relative_to(folder).parent.parts)
        for name in _imports_in(file, package):
            inside = folder.joinpath(*name.split("."))
            candidates = (inside.with_name(f"{inside.name}.py"), inside / "__init__.py")
            pending += [candidate.resolve() for candidate in candidates if candidate.is_file()]
    return frozenset(found)


def digest_code(path: Path) -> str:
    """Return a digest of a Python file and of its own modules, as far as it has been imported."""
    own = path.resolve()
    modules: dict[Path, ModuleType] = {}
    for module in list(sys.modules.values()):
        if _is_from(module, own):
            modules |= find_own_modules(module, path)
    return digest_files([own, *(file for file in modules if file != own)])


def _is_from(module: object, file: Path) -> bool:
    # Anything may be in sys.modules, also what is no module.
    named = getattr(module, "__file__", None)
    return isinstance(module, ModuleType) and bool(named) and Path(str(named)).resolve() == file


def digest_files(files: Iterable[Path]) -> str:
    """Return a digest of what files contain, whatever they are called and wherever they are."""
    return combine_digests(map(digest_file, files))


def digest_file(path: Path) -> str:
    """Return the SHA-256 of what a file contains."""
    return hashlib.sha256(read_source(path)).hexdigest()


def combine_digests(digests: Iterable[str]) -> str:
    """Return the digest of files from that of each."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
