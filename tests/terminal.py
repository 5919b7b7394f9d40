"""What a command shows on a terminal."""

from __future__ import annotations

import os


def read_terminal(main: int) -> bytes:
    """Everything that is shown, until nobody has the terminal open any more."""
    shown = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # on Linux, that is how the end of a terminal looks
            return shown
        if not part:
            return shown
        shown += part
