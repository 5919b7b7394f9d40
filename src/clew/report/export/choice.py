"""Which of several executions is meant, and where what was executed is to be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from clew.errors import UsageError

T = TypeVar("T")


class Choice(NamedTuple):
    """``counterexample``: its number, from 1 on; None where nothing is said.

    ``files``: the program or the scenario, where the document is not to be asked.  ``in_process``: whether to
    execute scenarios in this process.
    """

    counterexample: int | None = None
    files: tuple[str, ...] = ()
    in_process: bool = False

    def pick(self, source: str, found: Sequence[T], what: str = "counterexample") -> T:
        """Return the one of these that is meant; there is at least one."""
        # 0 is no number of one, but it would count from the end as an index.
        number = self.counterexample or 1
        if not 1 <= number <= len(found) or self.counterexample == 0:
            raise UsageError(
                f"{source}: there is no {what} {self.counterexample}",
                remedy="there is one: leave the number out" if len(found) == 1 else f"give 1 to {len(found)}",
            )
        return found[number - 1]

    def refuse_number(self, source: str) -> None:
        """Raise if one of several is asked for where there is one execution."""
        self.pick(source, [None])

    def one_file(self) -> tuple[str, ...]:
        """Return the scenario that is given, if one is."""
        if len(self.files) > 1:
            raise UsageError(
                f"{len(self.files)} files are given, and there is one scenario", remedy="name that, or nothing"
            )
        return self.files
