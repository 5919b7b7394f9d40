"""What functions of rules use from outside and look into, also where it does not stand in the function itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from clew.bloom import bloom, imported, scratch, table
from clew.bloom.ir.expressions import Reduce, RowFunction, Transform
from clew.bloom.language.module import Module
from clew.bloom.runtime.node import Node
from clew.errors import ProgramError

LIMIT = 3


def is_known(node: Any, value: int) -> bool:
    return (value,) in node.known


class Looking(Node):
    """``known`` is complete before ``found`` is derived, if the function is seen to look into it."""

    given = scratch("x")
    found = scratch("x")
    known = scratch("x")
    source = scratch("x")

    @bloom
    def derive(self) -> None:
        self.known <= self.source

    def knows(self, value: int) -> bool:
        return (value,) in self.known

    def is_new(self, row: Any) -> bool:
        return not self.knows(row.x)

    @property
    def all_known(self) -> set[int]:
        return {row.x for row in self.known}


class ByMethod(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(lambda row: not self.knows(row.x))


class AsMethod(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(self.is_new)


class ByProperty(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(lambda row: row.x not in self.all_known)


class ByFunction(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(lambda row: not is_known(self, row.x))


class ByLocalFunction(Looking):
    @bloom
    def look(self) -> None:
        def known(value: int) -> bool:
            return (value,) in self.known

        self.found <= self.given.filter(lambda row: not known(row.x))


class ByDefault(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(lambda row, node=self: (row.x,) not in node.known)


class ByPartial(Looking):
    @bloom
    def look(self) -> None:
        def fresh(node: Any, row: Any) -> bool:
            return (row.x,) not in node.known

        self.found <= self.given.filter(partial(fresh, self))


class ByReduce(Looking):
    @bloom
    def look(self) -> None:
        self.found <= self.given.reduce([], lambda memo, row: memo if row in self.known else [*memo, row])


class ByComprehension(Looking):
    """3.12 and later compile it into the method, and 3.13 loads ``self`` there together with another variable."""

    def is_new(self, row: Any) -> bool:
        known = [self.knows(value) for value in [row.x]]
        return not known[0]

    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(self.is_new)


class ByAnotherName(Looking):
    def is_new(self, row: Any) -> bool:
        value = row.x
        node = self
        return (value,) not in node.known

    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(self.is_new)


class BySuper(ByMethod):
    def knows(self, value: int) -> bool:
        return super().knows(value)


class ByBase(ByMethod):
    def knows(self, value: int) -> bool:
        return Looking.knows(self, value)


@pytest.mark.parametrize(
    "cls",
    [
        ByMethod,
        AsMethod,
        ByProperty,
        ByFunction,
        ByLocalFunction,
        ByDefault,
        ByPartial,
        ByReduce,
        ByComprehension,
        ByAnotherName,
        BySuper,
        ByBase,
    ],
)
def test_what_a_function_looks_into_is_complete(cls: type[Looking]) -> None:
    node = cls()
    node.given.insert((1,), (2,))
    node.source.insert((1,))
    node.tick()
    assert list(node.found) == [(2,)]
    assert [_reads(rule.expr) for rule in node.program.rules if rule.target == "found"] == [("known",)]


def _reads(expr: Any) -> tuple[str, ...]:
    if isinstance(expr, Reduce):
        return expr.reads
    assert isinstance(expr, Transform)
    return expr.function.reads


class Importing(Node):
    inner = imported(Looking)
    given = scratch("x")
    found = scratch("x")

    @bloom
    def look(self) -> None:
        self.found <= self.given.filter(lambda row: not self.inner.knows(row.x))


def test_methods_of_imported_modules_are_followed() -> None:
    node = Importing()
    node.given.insert((1,), (2,))
    node.inner.source.insert((1,))
    node.tick()
    assert list(node.found) == [(2,)]


# -- what a function uses ----------------------------------------------------------------------------------------


class Settled(Module):
    """``most`` is a plain attribute, ``members`` can change under the rules."""

    reading = table("x")
    small = table("x")
    chosen = table("x")

    def __init__(self) -> None:
        super().__init__()
        self.most = 2
        self.members = [1]

    @bloom
    def derive(self) -> None:
        self.small <= self.reading.filter(lambda row: row.x <= self.most)
        self.chosen <= self.reading.filter(lambda row: row.x in self.members)


class SettledNode(Settled, Node):
    pass


def _function(node: Module, target: str) -> RowFunction:
    (expr,) = (rule.expr for rule in node.program.rules if rule.target == target)
    assert isinstance(expr, Transform)
    return expr.function


def test_an_attribute_that_rules_were_understood_with_stays() -> None:
    node = SettledNode()
    node.most = 3
    node.reading.insert((1,), (3,), (4,))
    node.tick()
    assert list(node.small) == [(1,), (3,)]
    node.most = 3
    with pytest.raises(ProgramError, match=r"SettledNode\.most becomes 4 after rules were read with 3"):
        node.most = 4


def test_what_can_change_is_looked_at_in_every_step() -> None:
    node = SettledNode()
    assert _function(node, "chosen").opaque == "it uses self.members, which can change"
    node.reading.insert((1,), (2,))
    node.tick()
    assert list(node.chosen) == [(1,)]
    node.members.append(2)
    node.tick()
    assert list(node.chosen) == [(1,), (2,)]


class Looped(Node):
    given = table("x")
    plain = scratch("x", "k")
    asked = scratch("x", "k")
    opaque = scratch("x", "k")

    @bloom
    def derive(self) -> None:
        for k in range(2):
            self.plain <= self.given.map(lambda row: (row.x, k))  # noqa: B023
            self.asked <= self.given.map(lambda row: (row.x, k) if row.x > 0 else None)  # noqa: B023
            self.opaque <= self.given.map(lambda row: (abs(row.x), k))  # noqa: B023


def test_rules_in_a_loop_have_each_their_own_variable() -> None:
    node = Looped()
    node.given.insert((1,))
    node.tick()
    assert list(node.plain) == list(node.asked) == list(node.opaque) == [(1, 0), (1, 1)]


class Joined(Node):
    a = table("x")
    b = table("y")
    both = table("x", "y", "limit")

    @bloom
    def derive(self) -> None:
        self.both <= (self.a * self.b).pairs(lambda row, limit=LIMIT: (row.x, row.y, limit))


def test_a_parameter_with_a_default_is_given_no_row() -> None:
    node = Joined()
    node.a.insert((1,))
    node.b.insert((2,))
    assert node.tick().refused == ()
    assert list(node.both) == [(1, 2, 3)]
