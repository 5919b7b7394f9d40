"""``--checkpoint FILE``, which the commands share that can take long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clew.cli.process.state import current_state
from clew.cli.process.streams import warn
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.files.checkpoints import Checkpoint

checkpoint_option = click.option(
    "--checkpoint",
    "checkpoint_file",
    metavar="FILE",
    help="Save the search in FILE every few seconds, and go on from there if it exists.",
)


def conclude_checkpoint(checkpoint: Checkpoint | None) -> None:
    """Remove the file at the end of a command: until its answer is told, another process may have to go on."""
    if checkpoint is not None and not current_state().failures:
        checkpoint.conclude()


def open_checkpoint(file: str | None) -> Checkpoint | None:
    """Return the checkpoint that was asked for; a path that cannot be one is refused before any work."""
    if file is None:
        return None
    if file == "-":
        raise UsageError("--checkpoint needs a file, not standard output", remedy="give a path")
    from clew.files.checkpoints import Checkpoint  # only when asked for

    # Whoever finds out where a process ended repeats the search, and has no part in it.
    return Checkpoint(file, tell=lambda line: warn(line), untouched=current_state().retrace is not None)
