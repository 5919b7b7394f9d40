"""What a check of code saves in a checkpoint, beside what its strategy does: how many executions there were.

Executions are numbered through, over all processes that took part: one that ends its process is found by its
number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clew.files.checkpoints import Checkpoint
from clew.files.json_document import Item
from clew.injection.searching.system import CodeSystem

#: This is thousands of years, and a defect of the file.
MOST_RUNS = 10**15


class Saving:
    """The checkpoint of a check; ``changed``: what its executions had left behind when it was saved."""

    def __init__(
        self, checkpoint: Checkpoint, system: CodeSystem, describe_changes: Callable[[], str | None]
    ) -> None:
        self._checkpoint = checkpoint
        self._system = system
        self._describe_changes = describe_changes
        self._state: Callable[[], Mapping[str, object]] = dict
        self.changed: str | None = None
        #: What the strategy saved, if it did.
        self.saved: Item | None = None
        if checkpoint.saved is not None:
            executions, changed, self.saved = checkpoint.saved.members("executions", "changed", "search")
            # Those that this process has made already are the same ones again.
            system.executions = max(system.executions, executions.number(0, MOST_RUNS))
            self.changed = None if changed.value is None else changed.text("what has changed, or null")

    def save_with(self, state: Callable[[], Mapping[str, object]], done: int) -> None:
        """Save this state of a strategy from now on; so many runs are known already."""
        self._state = state
        self._checkpoint.state = self._to_json
        # Said once, before the first run: who goes on wants to know that nothing is done again.
        if self.saved is not None:
            self._checkpoint.tell_continued(done, "run")

    def offer(self) -> None:
        """Save if it is time to."""
        self._checkpoint.offer()

    def conclude(self, *, cut_short: bool) -> None:
        """End the search: what was cut short is saved once more."""
        self._checkpoint.answered = not cut_short
        if cut_short:
            self._checkpoint.save()

    def describe_changes(self) -> str | None:
        """Say what executions have changed for those after them, in this process or before; None if nothing."""
        return self.changed or self._describe_changes()

    def _to_json(self) -> dict[str, object]:
        return {
            "executions": self._system.executions,
            # Another process does not see what this one left behind.
            "changed": self.describe_changes(),
            "search": dict(self._state()),
        }
