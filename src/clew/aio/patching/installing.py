"""Put functions in the place of Python's own, wherever modules have them.

They are installed once and stay: outside of a host they do what the original does.  A module that has imported a
function by name (``from time import time``) has it in its own dictionary, and is found there.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from clew.aio.patching import chance, clocks, files, outside
from clew.aio.patching.libraries import patch_libraries
from clew.aio.patching.logs import patch_logging

#: Clew itself, and what imports modules, which may happen at any time and concerns no host.
_LEFT_ALONE = ("clew.", "posix", "nt", "_frozen_importlib")

#: By the identity of what is replaced: that, and what stands in for it.
_replaced: dict[int, tuple[Any, Any]] = {}
_seen_modules = 0


def install_patches() -> None:
    """Replace what would leave the simulation, in all modules that there are."""
    if not _replaced:
        for table in (clocks.replacements(), chance.replacements(), outside.replacements(), files.replacements()):
            for owner, name, stand_in in table:
                original = getattr(owner, name)
                _replaced[id(original)] = original, stand_in
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
            if isinstance(module, types.ModuleType) and not module.__name__.startswith(_LEFT_ALONE):
                _replace_in(vars(module))


def _replace_in(variables: dict[str, Any]) -> None:
    for name, value in list(variables.items()):
        known = _replaced.get(id(value))
        if known is not None and known[0] is value and not name.startswith("_clew_real"):
            variables[name] = known[1]
