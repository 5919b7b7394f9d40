"""What ``self.log``, ``self.votes``, ``self.temp`` and ``self.everywhere`` are in a rule.

A handle is a target and an expression: ``<= <+ <- <~`` record a rule while a block is read.  Outside of rules it
is what the node holds, and the same operators change the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.bloom.ir.expressions import Expr, LatticeExpr, LatticeRef, Ref
from clew.bloom.ir.function_code import NamesCollection
from clew.bloom.ir.program import Op
from clew.bloom.language.capture import current_capture, mistake
from clew.bloom.language.columns import ColumnRef, column_number
from clew.bloom.language.lattice_relations import LatticeRelation
from clew.bloom.language.relations import SIGNS, Marked, Relation, Statement, as_relation
from clew.bloom.language.rules import as_expr, define_temp, record_rule
from clew.bloom.language.scope import Declaration, Imported, Scope, how_to_declare

#: The nodes that crash, by the time at which they do.
CRASH = "crash"


class CollectionHandle(Relation, NamesCollection):
    """A collection of a node: in rules an expression and a target, outside what it holds now.

    A temp is no class of its own: Python would ask the right-hand side of ``a <= b`` first, then.
    """

    def __init__(self, owner: Scope, name: str, *, temp: bool = False) -> None:
        self._owner = owner
        self._name = name
        self._temp = temp

    def name_to_read(self) -> str:
        """Return the full name of the collection that is meant on the right-hand side."""
        if self._temp:
            return self._owner.temp_name(self._name, must_exist=True)
        return self._owner.full_name_of(self._name, writing=False)

    def name_to_write(self) -> str:
        """Return the full name of the collection that is meant on the left-hand side."""
        if self._temp:
            return self._owner.temp_name(self._name, must_exist=False)
        return self._owner.full_name_of(self._name, writing=True)

    def to_expr(self) -> Expr:
        name = self.name_to_read()
        columns, parts = self._owner.shape_of(name)
        return Ref(name, columns, parts)

    def payloads(self) -> Relation:
        """Drop the column of a channel that says where its rows go."""
        expr = self.to_expr()
        location = self._owner.collection_of(self.name_to_read()).schema.location
        if location is None:
            raise mistake(f"'{self._name}' has no location: it is not a channel", "use project(...)")
        return self.project(*(name for name in expr.columns if name != location))

    # Methods come first: a column that is called like one is written self.log["map"].
    def __getattr__(self, name: str) -> ColumnRef:
        if name.startswith("_"):
            raise AttributeError(name)
        column_number(self.to_expr(), name)  # refuses an unknown column here, at the user's line
        return ColumnRef(self, name)

    def __getitem__(self, key: Any) -> Any:
        # Outside of rules it is the key of a row, and may be a string just as well.
        if current_capture() is not None and isinstance(key, str):
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
            raise mistake("'<' is not an operator of rules", "write <= (now), <+ (next), <- (delete) or <~ (send)")
        return self._record(SIGNS[other.sign], other.relation)

    def _record(self, op: Op, rhs: Any) -> Statement:
        if current_capture() is None:
            self._owner.change_from_outside(self._name, op, as_relation(rhs).to_expr())
        else:
            expr = as_expr(rhs)  # before the target has a name: a temp must not be read in its own first rule
            target = self.name_to_write()
            if self._temp:
                define_temp(self._owner, self._name, target, op, expr)
            record_rule(self._owner, target, op, expr)
        return Statement()

    # -- from outside --------------------------------------------------------------------------------------------

    def insert(self, *rows: Any) -> None:
        """Insert rows for the next step, from outside."""
        self._owner.change_from_outside(self._name, Op.NEXT, as_relation(list(rows)).to_expr())

    def __iter__(self) -> Iterator[Any]:
        if current_capture() is not None:
            return super().__iter__()
        return iter(self._owner.live(self._name))

    def __len__(self) -> int:
        return len(self._owner.live(self._name))

    def __contains__(self, row: object) -> bool:
        return row in self._owner.live(self._name)

    def __bool__(self) -> bool:
        if current_capture() is not None:
            return super().__bool__()
        return len(self) > 0

    def __repr__(self) -> str:
        return f"<{type(self._owner).__name__}.{self._name}>"


class LatticeHandle(LatticeRelation, NamesCollection):
    """A lattice of a node; ``<=`` and ``<+`` merge into it."""

    def __init__(self, owner: Scope, name: str) -> None:
        self._owner = owner
        self._name = name

    def name_to_read(self) -> str:
        return self._owner.full_name_of(self._name, writing=False)

    def name_to_write(self) -> str:
        return self._owner.full_name_of(self._name, writing=True)

    def to_expr(self) -> LatticeExpr:
        name = self.name_to_read()
        lattice = self._owner.collection_of(name).lattice
        assert lattice is not None
        return LatticeRef(name, lattice)

    @property
    def value(self) -> Any:
        """Return what it is now, from outside."""
        return self._owner.live(self._name).value

    def __le__(self, other: Any) -> Statement:
        if isinstance(other, Marked):
            raise mistake(f"'<=' is followed by '{other.sign}'", f"write '<{other.sign}' for that operator")
        return self._record(Op.NOW, other)

    def __lt__(self, other: Any) -> Statement:
        if not isinstance(other, Marked):
            raise mistake("'<' is not an operator of rules", "write <= (now) or <+ (next step)")
        return self._record(SIGNS[other.sign], other.relation)

    def _record(self, op: Op, rhs: Any) -> Statement:
        if current_capture() is None:
            raise mistake(f"the lattice '{self._name}' is merged into from outside", "insert into a collection")
        expr = as_expr(rhs)
        record_rule(self._owner, self.name_to_write(), op, expr)
        return Statement()


class Temps:
    """``self.temp``: any name is a temp."""

    def __init__(self, owner: Scope) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> CollectionHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        return CollectionHandle(self._owner, name, temp=True)


class AllNodes:
    """``self.everywhere``: the collections of all nodes, each with the node as its first column."""

    def __init__(self, owner: Scope) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        capture = current_capture()
        if capture is None or not capture.sees_all_nodes:
            raise mistake(
                "a node knows only its own rows, and not what is everywhere",
                "send the rows with <~; or, to say what must hold, mark the block with @outcome",
            )
        declared = getattr(type(self._owner), name, None)
        # self.everywhere.kvs.store: the collections of an imported module.
        if isinstance(declared, Imported):
            return AllNodes(self._owner.part(name, declared.module))
        if isinstance(declared, Declaration):
            # Not full_name_of: an outcome means the outermost collection, whatever class its block is in.
            full = self._owner._prefix + name
            # A collection may have a column of that name itself.
            columns = ("node", *(c if c != "node" else "node_2" for c in self._owner.shape_of(full)[0]))
            return Relation(Ref(full, columns, (columns,), of_all_nodes=True))
        if name == CRASH:
            return Relation(Ref(CRASH, ("node", "time"), (("node", "time"),), of_all_nodes=True))
        raise mistake(f"unknown collection '{name}'", how_to_declare(type(self._owner), name, CRASH))
