"""Searches that end in the middle, as if the process had been killed there, and go on from what they had saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from clew.files.checkpoints import Checkpoint
from clew.files.json_document import json_line

T = TypeVar("T")


class KilledError(BaseException):
    """Not an ``Exception``: nothing that handles errors takes it for one."""


class Deadly(Checkpoint):
    """Saves at the so-and-so-manieth opportunity, and ends the search there; 0: it only counts them."""

    def __init__(self, path: Path, at: int = 0) -> None:
        super().__init__(path)
        self.offers = 0
        self._at = at

    def offer(self) -> None:
        self.offers += 1
        if self.offers == self._at:
            self.save()
            raise KilledError


def opportunities(file: Path, search: Callable[[Checkpoint], T]) -> int:
    """Count how often a search could be saved."""
    counting = Deadly(file)
    search(counting)
    return counting.offers


def killed_and_continued(file: Path, search: Callable[[Checkpoint], T], at: int) -> T:
    """Return what a search comes to that was killed at its so-and-so-manieth opportunity to save."""
    try:
        search(Deadly(file, at))
    except KilledError:
        pass
    else:
        raise AssertionError("it was not killed")
    told: list[str] = []
    going_on = Checkpoint(file, tell=told.append)
    result = search(going_on)
    assert told[0].startswith(f"continued from {file}: ")
    assert going_on.answered
    going_on.conclude()
    assert not file.exists()
    return result


def forge(file: Path, state: object) -> None:
    """Replace the state in a checkpoint, as somebody could who knows how it is signed."""
    document = json.loads(file.read_bytes())
    signed = json_line({"question": document["question"], "state": state})
    digest = hashlib.sha256(signed.encode()).hexdigest()
    file.write_text(json.dumps({**document, "state": state, "digest": digest}), encoding="utf-8")
