"""The coordinated classes as the text of a Python module that imports the originals.

A user keeps this text, reads it and may change it; ``synthesis`` executes it for who wants the class at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clew.bloom.language.module import Module
from clew.coordination.order_text import order_classes, order_says
from clew.coordination.plans import Plan, SealPlan
from clew.coordination.seal_text import seal_classes, seal_says
from clew.coordination.text import WIDTH, ClassText, class_lines
from clew.errors import UsageError


def module_text(cls: type[Module], plan: Plan, *, made_by: str, modules: Mapping[str, str]) -> str:
    """``made_by`` is said in the docstring; ``modules``: other names for modules to import from."""
    what = seal_says(cls, plan) if isinstance(plan, SealPlan) else order_says(cls, plan)
    classes = classes_of(cls, plan)
    own = {c.name for c in classes}
    bases = dict.fromkeys(c.base for c in classes if c.base.__name__ not in own)
    uses = frozenset().union(*(c.uses for c in classes))
    text = [f'"""Made by {made_by}.', "", *what, '"""', "", "from __future__ import annotations", ""]
    text += [*_imports(bases, modules), ""]
    text += [_import("clew.bloom", _used(classes)), _import("clew.coordination", uses), ""]
    for one in classes:
        text += ["", *class_lines(one), ""]
    return "\n".join(text)


def classes_of(cls: type[Module], plan: Plan) -> list[ClassText]:
    """Return the classes of the coordinated program; the last is the one that takes the place of ``cls``."""
    return seal_classes(cls, plan) if isinstance(plan, SealPlan) else order_classes(cls, plan)


def _imports(bases: Iterable[type], modules: Mapping[str, str]) -> list[str]:
    by_module: dict[str, list[str]] = {}
    for base in bases:
        by_module.setdefault(modules.get(base.__module__, base.__module__), []).append(base.__name__)
    for module in by_module:
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"'{module}' cannot be imported by its name", remedy="rename the file: my_program.py")
    return [_import(module, by_module[module]) for module in sorted(by_module)]


def _import(module: str, names: Iterable[str]) -> str:
    ordered = sorted(names, key=_sorting)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")"])


def _sorting(name: str) -> tuple[bool, str]:
    """Classes before functions, as sorted imports are."""
    return name[0].islower(), name


def _used(classes: Sequence[ClassText]) -> list[str]:
    text = "\n".join(line for c in classes for line in (*c.declarations, *c.blocks))
    calls = {"channel": "channel(", "imported": "imported(", "interface": "interface.", "table": " table("}
    return ["bloom", *(name for name, call in calls.items() if call in text)]
