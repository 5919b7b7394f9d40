"""Progress on standard error, when that is a terminal and the search takes longer than a moment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from clew.cli.process.streams import error_terminal
from clew.search.verdict import Progress

#: A search shorter than this shows nothing.
_QUIET_SECONDS = 0.5
_UPDATE_SECONDS = 0.1


@contextmanager
def progress_display(doing: str | None = None) -> Iterator[Progress | None]:
    """Give what shows progress, or None; ``doing``: what is being done, where it is not executions that count."""
    terminal = error_terminal()
    if terminal is None:
        yield None
        return
    display = _Display(doing, terminal)
    try:
        yield display
    finally:
        display.close()


class _Display:
    """A spinner with the number of executions and the stage; rich is loaded only when it is shown."""

    def __init__(self, doing: str | None, terminal: TextIO) -> None:
        self._doing = doing
        self._terminal = terminal
        self._started = time.monotonic()
        self._next_update = self._started + _QUIET_SECONDS
        self._status: object | None = None

    def __call__(self, runs: int, stage: str) -> None:
        now = time.monotonic()
        # Searches report after every execution, which can be every few microseconds.
        if now < self._next_update:
            return
        self._next_update = now + _UPDATE_SECONDS
        elapsed = now - self._started
        text = f"{self._doing or f'{runs} executions'}, {elapsed:.0f} s: {stage}"
        if self._status is None:
            from rich.console import Console  # slow to load, and most searches end before it is needed

            self._status = Console(file=self._terminal).status(text)
            self._status.start()
        else:
            self._status.update(text)  # type: ignore[attr-defined]

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()  # type: ignore[attr-defined]
