"""Clauses as a file has them: before includes are resolved and params have values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from clew.dedalus.patterns import Computed, FactPattern, Interval, ParamClause
from clew.errors import Position
from clew.program.ir import Fact, HeadArg, InputRule, Rule, Value


class Include(NamedTuple):
    """``include "path";``, still to be resolved by the loader."""

    path: str
    position: Position


class Durable(NamedTuple):
    """``durable log, term;``: the relations that survive a restart, each with its position; there may be none."""

    relations: tuple[tuple[str, Position], ...]


class Persist(NamedTuple):
    """``persist[p];`` or ``persist[p, p_neg, 2];``: section 3.1 of the thesis; the loader writes the rule."""

    relation: str
    deleted: str | None
    arity: int | None
    position: Position


#: What stands in parentheses before it is known whether that is a fact or the head of a rule.
FactArg = HeadArg | Interval | Computed

Clause = Fact | Rule | InputRule | Include | Durable | Persist | ParamClause | FactPattern


class Written(NamedTuple):
    """A clause as it was read without params, and what they could change in it.

    ``names``: constants without quotes, each of which may be the name of a param.  ``open``: without their
    values it cannot be read, and ``clause`` is no more than a place for it.
    """

    clause: Clause
    names: frozenset[str]
    open: bool
    reread: Callable[[Mapping[str, Value]], Clause]
