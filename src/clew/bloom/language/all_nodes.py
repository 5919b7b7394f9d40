"""``self.everywhere``: what outcomes look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.bloom.ir.expressions import Ref
from clew.bloom.language.capture import current, mistake
from clew.bloom.language.declarations import Declaration, Imported, how_to_declare
from clew.bloom.language.handles import Relation

if TYPE_CHECKING:
    from clew.bloom.language.module import Module

#: The nodes that crash, by the time at which they do.
CRASH = "crash"


class Everywhere:
    """The collections of all nodes: each has the node as its first column."""

    def __init__(self, owner: Module) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        capture = current()
        if capture is None or not capture.outside:
            raise mistake(
                "a node knows only its own rows, and not what is everywhere",
                "send the rows with <~; or, to say what must hold, mark the block with @outcome",
            )
        declared = getattr(type(self._owner), name, None)
        if isinstance(declared, Imported):
            return Everywhere(self._owner.part(name, declared.module))
        if isinstance(declared, Declaration):
            full = self._owner._prefix + name
            columns = ("node", *(c if c != "node" else "node_2" for c in self._owner.shape_of(full)[0]))
            return Relation(Ref(full, columns, (columns,), everywhere=True))
        if name == CRASH:
            return Relation(Ref(CRASH, ("node", "time"), (("node", "time"),), everywhere=True))
        raise mistake(f"there is no collection '{name}'", how_to_declare(type(self._owner), name, CRASH))
