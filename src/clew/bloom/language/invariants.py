"""``self.die <= ...``: an invariant.  A row there ends the node, before anything of its step is told or written.

Each such rule has a collection of its own, with the columns of its right-hand side: so invariants need not agree
on columns, and it is known which of them a row broke.
"""

from __future__ import annotations

from typing import Any, NoReturn

from clew.bloom.ir.program import Op
from clew.bloom.language.capture import current_capture, mistake
from clew.bloom.language.relations import Marked, Statement
from clew.bloom.language.rules import as_expr, record_rule
from clew.bloom.language.scope import Scope


class Die:
    """A target of rules, and nothing else: rows in it are never there to be read."""

    def __init__(self, owner: Scope) -> None:
        self._owner = owner

    def __le__(self, other: Any) -> Statement:
        if isinstance(other, Marked):
            raise mistake(
                f"'<=' is followed by '{other.sign}'", "an invariant holds in every step: self.die <= ..."
            )
        capture = current_capture()
        if capture is None:
            raise mistake("'die' is derived outside of rules", "raise an exception there")
        if capture.sees_all_nodes:
            raise mistake(
                "'die' is derived by an outcome, which belongs to no node",
                "derive never = scratch(...) here, or 'die' in a block marked with @bloom",
            )
        expr = as_expr(other)
        columns = getattr(expr, "columns", ())
        if getattr(expr, "lattice", None) is None and not columns:
            raise mistake("the columns of 'die' cannot be inferred", "name them with rename(...)")
        # A lattice has no columns, and is refused like that of any other collection.
        record_rule(self._owner, self._owner.define_die(columns, capture.module), Op.NOW, expr)
        return Statement()

    def __lt__(self, other: Any) -> Statement:
        raise mistake(
            "'die' takes <= only", "an invariant is about the step in which it is broken: self.die <= ..."
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise mistake(f"'.{name}' of 'die' is read", "nothing is there to be read: a row in it ends the node")

    def __iter__(self) -> NoReturn:
        raise mistake("'die' is read", "nothing is there to be read: a row in it ends the node")

    def __repr__(self) -> str:
        return f"<{type(self._owner).__name__}.die>"
