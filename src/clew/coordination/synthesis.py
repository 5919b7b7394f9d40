"""The coordinated class: a subclass that wraps the original and holds rows back (thesis, section 4.4).

It is what ``rendering`` writes, loaded as a module: there is one text of it, whether a user reads it or a program
runs it.
"""

from __future__ import annotations

from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import TypeVar

import clew.bloom
import clew.coordination
from clew.bloom.language.module import Module
from clew.coordination.plans import Plan
from clew.coordination.rendering import classes_of
from clew.coordination.text import class_lines

M = TypeVar("M", bound=Module)


class _FromText(InspectLoader):
    """Loads a module from its text, as one from a file is loaded."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        return self._text


def coordinated(cls: type[M], plan: Plan) -> type[M]:
    """The class that does what ``cls`` does, coordinated as planned."""
    classes = classes_of(cls, plan)
    text = "\n\n".join("\n".join(class_lines(one)) for one in classes)
    loader = _FromText(text)
    spec = spec_from_loader(cls.__module__, loader, origin=f"<coordination of {cls.__name__}>")
    assert spec is not None
    module = module_from_spec(spec)
    # The originals need not have a name that can be imported.
    for known in (clew.bloom, clew.coordination):
        vars(module).update({name: getattr(known, name) for name in known.__all__})
    vars(module).update({one.base.__name__: one.base for one in classes})
    loader.exec_module(module)
    made: type[M] = getattr(module, classes[-1].name)
    return made
