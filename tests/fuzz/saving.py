"""A command that is ended where it could save its checkpoint the so-and-so-manieth time: the same file every time.

``python -m fuzz.saving TIMES ARGUMENT...``
"""

from __future__ import annotations

import os
import sys
from unittest import mock

from clew.cli.process.main import main
from clew.files.checkpoints import Checkpoint


def end_at_save(times: int, arguments: list[str]) -> None:
    """Perform a command up to its so-and-so-manieth opportunity to save, and save there."""
    left = times

    def offer(checkpoint: Checkpoint) -> None:
        nonlocal left
        left -= 1
        if not left:
            checkpoint.save()
            os._exit(0)

    with mock.patch.object(Checkpoint, "offer", offer):
        main([*arguments, "--in-process"])


if __name__ == "__main__":
    end_at_save(int(sys.argv[1]), sys.argv[2:])
