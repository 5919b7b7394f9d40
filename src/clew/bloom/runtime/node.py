"""A node: an object that runs its rules, one step at a time."""

from __future__ import annotations

from typing import Any

from clew.bloom.ir.expressions import Expr, Rows
from clew.bloom.ir.program import Op
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.language.capture import mistake
from clew.bloom.language.module import Module
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.tap import tap_of
from clew.bloom.values import Row
from clew.errors import UsageError


class Node(Module):
    """Steps by ``tick()``, which returns what it sends; there is no network to deliver it."""

    def __init__(self, *, address: str = "node") -> None:
        super().__init__()
        self._address = address
        self._machine: Machine | None = None

    def address(self) -> str:
        return self._address

    @property
    def machine(self) -> Machine:
        """Return the machine; it is made when first needed, when the attributes that rules use are set."""
        root = self._root
        assert isinstance(root, Node)
        if root._machine is None:
            tap = tap_of(root, root.program, root.address())
            root._machine = Machine(root.program, root.address(), tap=tap)
        return root._machine

    # -- steps ---------------------------------------------------------------------------------------------------

    def tick(self) -> StepResult:
        """Run one step."""
        return self.machine.step()

    def until_quiet(self, limit: int = 100) -> tuple[StepResult, ...]:
        """Run steps until nothing waits for another one."""
        steps: list[StepResult] = []
        while self.machine.pending:
            if len(steps) == limit:
                raise UsageError(
                    f"{type(self).__name__} is not quiet after {limit} steps",
                    remedy="a rule with <+ or a loopback goes on for ever; use tick(), or a higher limit",
                )
            steps.append(self.tick())
        return tuple(steps)

    # -- from outside of rules -----------------------------------------------------------------------------------

    def _view(self, full_name: str) -> Any:
        return self.machine.rows(full_name)

    def _change(self, full_name: str, op: Op, expr: Expr) -> None:
        collection = self.program.by_name[full_name]
        rows = _require_rows(expr, collection)
        match op:
            case Op.NOW:
                raise mistake(
                    f"'<=' into '{full_name}' from outside: the step that it means is over",
                    "use <+ or insert(...): the rows are there in the next step",
                )
            case Op.NEXT if collection.kind is Kind.CHANNEL:
                raise mistake(f"rows are inserted into the channel '{full_name}'", "send them with <~")
            case Op.NEXT:
                self.machine.insert(full_name, rows)
            case Op.DELETE:
                self.machine.delete(full_name, rows)
            case Op.SEND:
                self.machine.send(full_name, rows)


# No method: the names of methods are none for collections.
def has_begun(node: Node) -> bool:
    """Tell whether the machine of a node is made."""
    return node._machine is not None


def _require_rows(expr: Expr, collection: Collection) -> tuple[Row, ...]:
    if not isinstance(expr, Rows):
        raise UsageError(
            f"an expression is put into '{collection.name}' from outside of rules",
            remedy="give rows: insert((1, 2)), or write a rule in a method marked with @bloom",
        )
    wanted = collection.schema.columns
    for row in expr.rows:
        if len(row) != len(wanted):
            raise UsageError(
                f"{row!r} is put into '{collection.name}', which has {len(wanted)} columns",
                remedy=f"give a value for each of {', '.join(wanted)}",
            )
    return expr.rows
