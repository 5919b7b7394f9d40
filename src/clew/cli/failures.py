"""What failed on the way to an answer that was given all the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import click


@dataclass
class Failures:
    """Failures that did not stop a command, which had an answer to give; something it was asked for is missing.

    click keeps it as the object of the command.  ``traceback``: whether to show where they came from.
    """

    traceback: bool = False
    noted: list[BaseException] = field(default_factory=list)

    def note(self, failure: BaseException) -> None:
        """Go on after a failure, but do not end as if nothing had happened."""
        self.noted.append(failure)


def current_failures() -> Failures:
    """Return the failures of the command that is being executed; outside of one, a record that nobody reads."""
    context = click.get_current_context(silent=True)
    return context.ensure_object(Failures) if context is not None else Failures()
