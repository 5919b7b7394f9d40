"""Put functions in the place of Python's own, wherever modules have them.

They are installed once and stay: outside of a host they do what the original does.  A module that has imported a
function by name (``from time import time``) has it in its own dictionary, and is found there.
"""

from __future__ import annotations

import sys
import sysconfig
import types
from contextlib import suppress
from typing import Any

from clew.aio.patching import chance, clocks, files, outside
from clew.aio.patching.libraries import patch_libraries
from clew.aio.patching.logs import patch_logging
from clew.aio.patching.resemblance import resemble

#: Clew itself, and what imports modules, which may happen at any time and concerns no host.
_LEFT_ALONE = ("clew.", "posix", "nt", "_frozen_importlib")

#: By the identity of what is replaced: that, and what stands in for it.
_replaced: dict[int, tuple[Any, Any]] = {}
_seen_modules = 0
#: Modules whose functions and classes were looked into, by name; those of Python itself are not.
_looked_into: set[str] = set()
#: Classes of programs and their libraries that have a finalizer written in Python, by name.
_finalized: set[str] = set()
_STANDARD = sysconfig.get_path("stdlib")
_LIBRARIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


def install_patches() -> None:
    """Replace what would leave the simulation, in all modules that there are."""
    if not _replaced:
        for table in (clocks.replacements(), chance.replacements(), outside.replacements(), files.replacements()):
            for owner, name, stand_in in table:
                original = getattr(owner, name)
                _replaced[id(original)] = original, stand_in
                resemble(stand_in, original, owner.__name__)
                setattr(owner, name, stand_in)
        clocks.patch_datetime()
        chance.patch_generators()
        patch_logging()
    note_imports()


def note_imports() -> None:
    """Look at modules that were imported since the last time."""
    global _seen_modules
    if len(sys.modules) != _seen_modules:
        patch_libraries()
        _seen_modules = len(sys.modules)
        for module in list(sys.modules.values()):
            if not isinstance(module, types.ModuleType) or module.__name__.startswith(_LEFT_ALONE):
                continue
            _replace_in(vars(module))
            if module.__name__ not in _looked_into and not _is_standard(module):
                _looked_into.add(module.__name__)
                _replace_deeper(module)


def _is_standard(module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None) or _STANDARD
    return file.startswith(_STANDARD) and not file.startswith(_LIBRARIES)


def _replace_in(variables: dict[str, Any]) -> None:
    for name, value in list(variables.items()):
        known = _replaced.get(id(value))
        if known is not None and known[0] is value and not name.startswith("_clew_real"):
            variables[name] = known[1]


def _replace_deeper(module: types.ModuleType) -> None:
    """Replace what functions have as defaults and in closures, and classes as attributes.

    ``def wait(clock=time.monotonic)``, and ``field(default_factory=time.time)`` of a dataclass.
    """
    for value in list(vars(module).values()):
        if isinstance(value, types.FunctionType):
            _replace_in_function(value)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            _replace_in_class(value)


def has_finalizers() -> bool:
    """Tell whether a module of a program, or a library, has a class with a finalizer written in Python."""
    return bool(_finalized)


def _replace_in_class(kind: type) -> None:
    if isinstance(vars(kind).get("__del__"), types.FunctionType):
        _finalized.add(f"{kind.__module__}.{kind.__qualname__}")
    for name, member in list(vars(kind).items()):
        if isinstance(member, types.FunctionType):
            _replace_in_function(member)
        elif (stand_in := find_stand_in(getattr(member, "__func__", member))) is not None:
            # What is written in C is no method where it is an attribute, and what stands in must not be one.
            setattr(kind, name, staticmethod(stand_in))


def _replace_in_function(function: types.FunctionType) -> None:
    if function.__globals__.get("__name__", "").startswith("clew."):
        return  # what stands in refers to what it stands for
    defaults = function.__defaults__ or ()
    if any(find_stand_in(each) is not None for each in defaults):
        function.__defaults__ = tuple(find_stand_in(each) or each for each in defaults)
    named = function.__kwdefaults__ or {}
    named.update({name: find_stand_in(value) or value for name, value in named.items()})
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty one
            if (stand_in := find_stand_in(cell.cell_contents)) is not None:
                cell.cell_contents = stand_in


def find_stand_in(value: Any) -> Any:
    """Return what stands in for a function of Python, or None."""
    known = _replaced.get(id(value))
    return known[1] if known is not None and known[0] is value else None


def list_replaced() -> list[Any]:
    """Return the functions of Python that are replaced."""
    return [original for original, _ in _replaced.values()]
