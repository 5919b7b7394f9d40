"""A Bloom program as data: its collections, and its rules in the order of their text."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clew.bloom.ir.expressions import AnyExpr
from clew.bloom.ir.schema import Collection
from clew.bloom.values import Row
from clew.errors import Notice, Position


class Op(enum.Enum):
    """The four operators (thesis, section 3.3)."""

    NOW = "<="  # in this step
    NEXT = "<+"  # in the next step
    DELETE = "<-"  # no longer from the next step on
    SEND = "<~"  # at another node, some time


@dataclass(frozen=True)
class Rule:
    """``target op expr``.  ``block`` is the class and the method that contains it."""

    target: str
    op: Op
    expr: AnyExpr
    block: str
    # Not compared: two rules with the same text are the same rule, wherever they stand.
    position: Position | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.target} {self.op.value} ... ({self.block})"


@dataclass(frozen=True)
class BloomProgram:
    """``name`` is the class.  Notices say what could not be understood and is treated conservatively.

    ``outcomes`` are rules that look at all nodes from outside: they are only for checking, and never run.
    """

    name: str
    collections: tuple[Collection, ...]
    rules: tuple[Rule, ...]
    notices: tuple[Notice, ...] = ()
    outcomes: tuple[Rule, ...] = ()

    @cached_property
    # Cached, since machines, translations and analyses look up every collection of every rule.
    def by_name(self) -> dict[str, Collection]:
        return {c.name: c for c in self.collections}

    def destination(self, channel: str, row: Row) -> Any:
        """Return the address that a row of a channel goes to."""
        schema = self.by_name[channel].schema
        assert schema.location is not None
        return row[schema.index(schema.location)]
