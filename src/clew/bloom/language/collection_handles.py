"""The collections that rules are written with; outside of rules, what a node holds in them.

``<= <+ <- <~`` record a rule while a block is read, and otherwise change the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clew.bloom.ir.expressions import Expr, Ref
from clew.bloom.ir.function_code import LookedInto
from clew.bloom.ir.program import Op
from clew.bloom.language.capture import current, mistake
from clew.bloom.language.columns import ColumnRef, column_number
from clew.bloom.language.handles import SIGNS, Marked, Relation, Statement, as_relation

if TYPE_CHECKING:
    from clew.bloom.language.module import Module


class CollectionHandle(Relation, LookedInto):
    """A collection of a node: in rules an expression and a target, outside what it holds now.

    A temp is no class of its own: Python would ask the right-hand side of ``a <= b`` first, then.
    """

    def __init__(self, owner: Module, name: str, *, temp: bool = False) -> None:
        self._owner = owner
        self._name = name
        self._temp = temp

    @property
    def is_temp(self) -> bool:
        return self._temp

    def reading(self) -> str:
        """The collection that is meant on the right-hand side."""
        if self._temp:
            return self._owner.temp_name(self._name, must_exist=True)
        return self._owner.resolved(self._name, writing=False)

    def writing(self) -> str:
        if self._temp:
            return self._owner.temp_name(self._name, must_exist=False)
        return self._owner.resolved(self._name, writing=True)

    def node(self) -> Expr:
        name = self.reading()
        columns, parts = self._owner.shape_of(name)
        return Ref(name, columns, parts)

    def payloads(self) -> Relation:
        """The rows of a channel without the column that says where they go."""
        node = self.node()
        location = self._owner.declared(self.reading()).schema.location
        if location is None:
            raise mistake(f"'{self._name}' has no location: it is no channel", "use project(...)")
        return self.project(*(name for name in node.columns if name != location))

    def __getattr__(self, name: str) -> ColumnRef:
        if name.startswith("_"):
            raise AttributeError(name)
        column_number(self.node(), name)
        return ColumnRef(self, name)

    def __getitem__(self, key: Any) -> Any:
        if current() is not None and isinstance(key, str):
            return self.__getattr__(key)
        return self._owner.live(self._name).row(key)

    def __le__(self, other: Any) -> Statement:
        if isinstance(other, Marked):
            raise mistake(
                f"'<=' is followed by '{other.sign}'", f"write '<{other.sign}' for that operator, without '='"
            )
        return self._record(Op.NOW, other)

    def __lt__(self, other: Any) -> Statement:
        if not isinstance(other, Marked):
            raise mistake("'<' is no operator of rules", "write <= (now), <+ (next), <- (delete) or <~ (send)")
        return self._record(SIGNS[other.sign], other.relation)

    def _record(self, op: Op, rhs: Any) -> Statement:
        if current() is None:
            self._owner.from_outside(self._name, op, as_relation(rhs).node())
        else:
            self._owner.record(self, op, rhs)
        return Statement()

    # -- from outside --------------------------------------------------------------------------------------------

    def insert(self, *rows: Any) -> None:
        """Rows for the next step, from outside."""
        self._owner.from_outside(self._name, Op.NEXT, as_relation(list(rows)).node())

    def __iter__(self) -> Iterator[Any]:
        if current() is not None:
            return super().__iter__()
        return iter(self._owner.live(self._name))

    def __len__(self) -> int:
        return len(self._owner.live(self._name))

    def __contains__(self, row: object) -> bool:
        return row in self._owner.live(self._name)

    def __bool__(self) -> bool:
        if current() is not None:
            return super().__bool__()
        return len(self) > 0

    def __repr__(self) -> str:
        return f"<{type(self._owner).__name__}.{self._name}>"


class Temps:
    """``self.temp``."""

    def __init__(self, owner: Module) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> CollectionHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        return CollectionHandle(self._owner, name, temp=True)
