"""Find out who has a function of Python that was taken before it was replaced, where that makes a difference.

Names of modules, attributes of classes, defaults and closures of functions are replaced. What is in a
dictionary or a list is not: whoever calls it gets the real time, or real random numbers."""

from __future__ import annotations

import gc
import sys
import sysconfig
import types
from functools import partial
from typing import Any

from clew.aio.patching.installing import list_replaced

_USUAL = (
    "look for what outlives an execution (variables of modules and classes), sets of objects without a hash of "
    "their own, and C code that asks for the time: time, random, uuid and os.urandom are replaced"
)
#: Where code lies that is not the user's.
_OTHERS = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))


def explain_difference() -> str:
    """Return the likely cause where the same execution differs when it is repeated, and what to do."""
    gc.unfreeze()  # what a parent process has made is not looked through otherwise
    held = sorted({text for original in list_replaced() for text in _find_holders(original)})
    if not held:
        return _USUAL
    return f"{'; '.join(held)}: call it by its module, so that it is found and replaced; or {_USUAL}"


def _find_holders(original: Any) -> list[str]:
    """Say where user code keeps a function of Python."""
    name = f"{getattr(original, '__module__', '')}.{getattr(original, '__name__', '')}".lstrip(".")
    found = []
    for holder in gc.get_referrers(original):
        if isinstance(holder, dict | list | set | tuple | partial):
            found += [f"{name} is kept in {place}" for place in _find_places(holder)]
    return found


def _find_places(holder: Any) -> list[str]:
    """Say by which names code of the user knows an object."""
    return [
        f"{variable} of {module.__file__}"
        for module in list(sys.modules.values())
        if _is_of_user(module)
        for variable, value in list(vars(module).items())
        if value is holder
    ]


def _is_of_user(module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and not module.__name__.startswith("clew.") and not file.startswith(_OTHERS)
