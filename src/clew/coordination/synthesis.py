"""The coordinated program: the text of a Python module that wraps the original, and the class that it defines.

A user keeps the text, reads it and may change it; whoever wants the class at once gets what the same text defines,
so there is only one description of it.  What the wrappers do is written by ``seal_text`` and ``order_text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import TypeVar

from clew.bloom.language.module import Module
from clew.coordination.order_text import order_classes, order_says
from clew.coordination.plans import Plan, SealPlan
from clew.coordination.seal_text import seal_classes, seal_says
from clew.coordination.text import WIDTH, ClassText, class_lines
from clew.errors import UsageError

M = TypeVar("M", bound=Module)


def module_text(cls: type[Module], plan: Plan, *, made_by: str, modules: Mapping[str, str]) -> str:
    """Return the text of the module that coordinates ``cls`` as planned.

    ``made_by`` is said in the docstring; ``modules``: other names for modules to import from.
    """
    what = seal_says(cls, plan) if isinstance(plan, SealPlan) else order_says(cls, plan)
    classes = _describe_classes(cls, plan)
    own = {c.name for c in classes}
    bases = dict.fromkeys(c.base for c in classes if c.base.__name__ not in own)
    text = [f'"""Made by {made_by}.', "", *what, '"""', "", "from __future__ import annotations", ""]
    text += [*_import_bases(bases, modules), ""]
    return "\n".join([*text, *_program_lines(classes)])


def build_class(cls: type[M], plan: Plan) -> type[M]:
    """Build the class that does what ``cls`` does, coordinated as planned."""
    classes = _describe_classes(cls, plan)
    loader = _TextLoader("\n".join(_program_lines(classes)))
    spec = spec_from_loader(cls.__module__, loader, origin=f"<coordination of {cls.__name__}>")
    assert spec is not None
    module = module_from_spec(spec)
    # The bases are given rather than imported: a class that was made in a function, or in a file that was loaded
    # by its path, has no name to import it by.
    vars(module).update({one.base.__name__: one.base for one in classes})
    loader.exec_module(module)
    built: type[M] = getattr(module, classes[-1].name)
    return built


class _TextLoader(InspectLoader):
    """Loads a module from its text, as one from a file is loaded."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        return self._text


def _describe_classes(cls: type[Module], plan: Plan) -> list[ClassText]:
    """Return the classes of the coordinated program; the last is the one that takes the place of ``cls``."""
    return seal_classes(cls, plan) if isinstance(plan, SealPlan) else order_classes(cls, plan)


def _program_lines(classes: Sequence[ClassText]) -> list[str]:
    """Return the classes with the imports of the library that they use, but without those of their bases."""
    uses = frozenset().union(*(c.uses for c in classes))
    lines = [_import("clew.bloom", _names_of_bloom(classes)), _import("clew.coordination", uses), ""]
    for one in classes:
        lines += ["", *class_lines(one), ""]
    return lines


def _import_bases(bases: Iterable[type], modules: Mapping[str, str]) -> list[str]:
    by_module: dict[str, list[str]] = {}
    for base in bases:
        by_module.setdefault(modules.get(base.__module__, base.__module__), []).append(base.__name__)
    for module in by_module:
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"'{module}' cannot be imported by its name", remedy="rename the file: my_program.py")
    return [_import(module, by_module[module]) for module in sorted(by_module)]


def _import(module: str, names: Iterable[str]) -> str:
    in_order = sorted(names, key=_import_order)
    line = f"from {module} import {', '.join(in_order)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in in_order), ")"])


def _import_order(name: str) -> tuple[bool, str]:
    """Return the key that sorts classes before functions, as linters sort imports."""
    return name[0].islower(), name


def _names_of_bloom(classes: Sequence[ClassText]) -> list[str]:
    text = "\n".join(line for c in classes for line in (*c.declarations, *c.blocks))
    calls = {"channel": "channel(", "imported": "imported(", "interface": "interface.", "table": " table("}
    return ["bloom", *(name for name, call in calls.items() if call in text)]
