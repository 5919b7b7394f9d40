"""Lattices in rules: ``self.votes <= ...`` merges, and functions of a lattice give another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.bloom.ir.expressions import Apply, Elements, LatticeExpr, LatticeRef, Value, WhenTrue
from clew.bloom.ir.function_code import LookedInto
from clew.bloom.ir.program import Op
from clew.bloom.language.capture import current, mistake
from clew.bloom.language.handles import SIGNS, Marked, Relation, Statement, as_relation
from clew.bloom.lattices.containers import LATTICES, PLAIN, SAME, Method
from clew.bloom.values import BadValueError

if TYPE_CHECKING:
    from clew.bloom.language.module import Module


class LatticeRelation:
    """A lattice, or a function of one."""

    def __init__(self, node: LatticeExpr) -> None:
        self._node = node

    def node(self) -> LatticeExpr:
        return self._node

    def elements(self, *columns: str) -> Relation:
        """The lattice as rows."""
        node = self.node()
        names = columns or LATTICES[node.lattice].columns
        return Relation(Elements(node, tuple(names)))

    def when_true(self, rows: Any) -> Relation:
        """The rows given, once a lbool is true."""
        node = self.node()
        if node.lattice != "lbool":
            raise mistake(f"when_true needs a lbool, not a {node.lattice}", "compare first, such as size().gt(2)")
        return Relation(WhenTrue(node, as_relation(rows).node()))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        node = self.node()
        methods = LATTICES[node.lattice].methods
        if name not in methods:
            known = ", ".join([*methods, "elements"])
            raise mistake(f"a {node.lattice} has no function '{name}'", f"it has {known}")

        def apply(*arguments: Any) -> LatticeRelation:
            given = tuple(_argument(a) for a in arguments)
            _check_arguments(node.lattice, name, methods[name], given)
            return LatticeRelation(Apply(node, name, given, methods[name].result))

        return apply

    def __add__(self, other: Any) -> Any:
        return self.plus(other)

    def __sub__(self, other: Any) -> Any:
        return self.minus(other)

    def __pos__(self) -> Any:
        return Marked("+", self)  # type: ignore[arg-type]

    def __neg__(self) -> Any:
        return Marked("-", self)  # type: ignore[arg-type]

    def __invert__(self) -> Any:
        return Marked("~", self)  # type: ignore[arg-type]

    def __le__(self, other: Any) -> Statement:
        raise mistake("the left-hand side of a rule is an expression", "rules merge into a declared lattice")

    __lt__ = __ge__ = __gt__ = __le__

    def __bool__(self) -> bool:
        raise mistake("a lattice is used as a condition", "use when_true(rows)")


class LatticeHandle(LatticeRelation, LookedInto):
    """A lattice of a node."""

    is_temp = False

    def __init__(self, owner: Module, name: str) -> None:
        self._owner = owner
        self._name = name

    def reading(self) -> str:
        return self._owner.resolved(self._name, writing=False)

    def writing(self) -> str:
        return self._owner.resolved(self._name, writing=True)

    def node(self) -> LatticeExpr:
        name = self.reading()
        lattice = self._owner.declared(name).lattice
        assert lattice is not None
        return LatticeRef(name, lattice)

    @property
    def value(self) -> Any:
        """What it is now, from outside."""
        return self._owner.live(self._name).value

    def __le__(self, other: Any) -> Statement:
        if isinstance(other, Marked):
            raise mistake(f"'<=' is followed by '{other.sign}'", f"write '<{other.sign}' for that operator")
        return self._record(Op.NOW, other)

    def __lt__(self, other: Any) -> Statement:
        if not isinstance(other, Marked):
            raise mistake("'<' is no operator of rules", "write <= (now) or <+ (next step)")
        return self._record(SIGNS[other.sign], other.relation)

    def _record(self, op: Op, rhs: Any) -> Statement:
        if current() is None:
            raise mistake(f"the lattice '{self._name}' is merged into from outside", "insert into a collection")
        self._owner.record(self, op, rhs)
        return Statement()


def value_of(lattice: str, value: Any) -> LatticeRelation:
    """A lattice value that is written down."""
    try:
        return LatticeRelation(Value(LATTICES[lattice].of(value), lattice))
    except BadValueError as error:
        raise mistake(str(error), f"give a value that a {lattice} can hold") from None


def _argument(given: Any) -> Any:
    if isinstance(given, LatticeRelation):
        return given.node()
    if isinstance(given, Relation):
        raise mistake(
            "a lattice function is given a collection", "make a lattice of its rows first: self.l <= rows"
        )
    return given


def _check_arguments(lattice: str, name: str, method: Method, given: tuple[Any, ...]) -> None:
    """What is not monotone in an argument does not take a lattice there."""
    wanted = [lattice if kind == SAME else kind for kind in method.takes]
    found = [getattr(argument, "lattice", PLAIN) for argument in given]
    if found != wanted:
        said = [", ".join(kinds) or "nothing" for kinds in (wanted, found)]
        raise mistake(
            f"'{name}' of a {lattice} takes {said[0]}, here it is given {said[1]}", "give it what it takes"
        )
