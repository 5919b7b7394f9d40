"""Checkpoints: files from which a long search goes on after its process was killed.

A checkpoint holds the *question* that a search answers (the command, a digest of the program, and every option on
which the answer depends) and the *state* of the search, which is written and read next to that search.  It is JSON
that is read within bounds: nothing in it is executed, and what does not fit the question is refused before any
work is done.  A file that is no checkpoint, or one of another question, is neither changed nor removed.

The file is written whole or not at all, every few seconds, and removed when the question is answered.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from clew.errors import UsageError
from clew.files.json_document import LARGEST_DOCUMENT, Item, json_line, quote_short, read_document, shorten
from clew.files.writing import refuse_unwritable_path, replaceable_file, write_whole

FORMAT = "clew-checkpoint"
VERSION = 1

#: What a question is made of: values that JSON has, under the names that the user knows them by.
Question = Mapping[str, str | int | float | bool | list[str] | None]

#: Seconds between two writes: often at first, so that a search that is killed again and again makes progress.
_SHORTEST, _LONGEST = 0.25, 5.0
#: Writing takes at most this share of the time.
_SHARE = 0.05

_REMEDY = "delete it to start from the beginning, or name another file"

_Identity = tuple[int, int, int]


class ForeignCheckpointError(UsageError):
    """A checkpoint whose question fits, but whose state does not: the search does something else now."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the checkpoint does not belong to this search: {what} is not what was remembered",
            remedy=f"{_REMEDY}; code that is simulated must depend on state, message and context only",
        )


class Checkpoint:
    """One checkpoint file, as one search uses it.

    ``tell`` is given a line now and then: that the search is continued, that the file cannot be written.
    With ``untouched`` the file is read, but neither written nor removed.
    """

    def __init__(
        self, path: str | Path, *, tell: Callable[[str], None] | None = None, untouched: bool = False
    ) -> None:
        self.path = str(path)
        #: Whether the question was answered, and what is saved: both are set by the search.
        self.answered = False
        self.state: Callable[[], object] | None = None
        #: The state that the file held when it was opened.
        self.saved: Item | None = None
        self._tell = tell or (lambda line: None)
        self._file = _regular_file(self.path).absolute()  # code that is simulated may go to another folder
        self._untouched = untouched
        self._question: Question = {}
        self._seen: _Identity | None = None
        self._interval = _SHORTEST
        self._next = time.monotonic() + _SHORTEST
        self._complained = False

    def open(self, question: Question) -> Item | None:
        """Return the state that was saved for this question; None if there is no file yet."""
        # Another version may count or number differently, so its state is of another question.
        self._question = {**question, "clew": _own_version()}
        self._seen = _identity(self._file)
        if self._seen is not None:
            self.saved = _state(read_document(self._file, remedy=_REMEDY), self.path, self._question)
        return self.saved

    def tell_continued(self, done: int, what: str) -> None:
        """Say how much was done before the search was interrupted; ``what`` is the unit, such as "run"."""
        self._tell(f"continued from {self.path}: {done:,} {what}{'' if done == 1 else 's'} done")

    def offer(self) -> None:
        """Save the state if it is time to."""
        if time.monotonic() >= self._next:
            self.save()

    def save(self) -> None:
        """Save the state; the search goes on even if that fails."""
        if self._untouched or self.state is None:
            return
        started = time.monotonic()
        try:
            self._write(self.state())
        except OSError as error:
            self._complain(f"{self.path} cannot be written ({error.strerror}); the search goes on without")
        took = time.monotonic() - started
        self._next = time.monotonic() + max(self._interval, took / _SHARE)
        self._interval = min(_LONGEST, 2 * self._interval)

    def conclude(self) -> None:
        """End a command: remove the file if the question is answered, otherwise say how to go on."""
        if self._untouched or self._seen is None or _identity(self._file) != self._seen:
            return
        if self.answered:
            with suppress(OSError):
                self._file.unlink()
        else:
            self._tell(f"to go on, run the same command again: {self.path} holds what was done")

    def _write(self, state: object) -> None:
        # Two searches with one file would overwrite each other's work in turn: the one that notices gives up.
        if _identity(self._file) != self._seen:
            self._untouched = True
            self._complain(f"{self.path} was changed by another process; this one leaves it alone from now on")
            return
        parts = {"question": self._question, "state": state}
        data = json_line({"format": FORMAT, "version": VERSION, "digest": _digest(parts), **parts}).encode()
        if len(data) > LARGEST_DOCUMENT:
            self._complain(f"{self.path} would be larger than can be read; it stays as it is")
            return
        write_whole(self._file, data)
        self._seen = _identity(self._file)

    def _complain(self, line: str) -> None:
        if not self._complained:
            self._complained = True
            self._tell(f"warning: {line}")


def as_checkpoint(given: str | Path | Checkpoint) -> Checkpoint:
    """Return what may be given where a checkpoint is asked for."""
    return given if isinstance(given, Checkpoint) else Checkpoint(given)


def conclude_own(given: str | Path | Checkpoint | None, checkpoint: Checkpoint | None) -> None:
    """Conclude a checkpoint that was given as a path; of another, whoever made it knows when."""
    if checkpoint is not None and checkpoint is not given:
        checkpoint.conclude()


def _regular_file(path: str) -> Path:
    """Return the file that a path leads to, or that is to be made; what is no regular file is not even opened."""
    try:
        file = replaceable_file(path)
        if file is None:
            raise UsageError(
                f"{path or 'the empty path'}: is no regular file",
                remedy="name a file for the checkpoint, or a new one",
            )
        refuse_unwritable_path(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"{path or 'the empty path'} cannot be written ({reason})",
            remedy="name a file for the checkpoint, or a new one",
        ) from None
    return file


def _identity(file: Path) -> _Identity | None:
    """Tell one content of a file from another without reading it: every one is a new file."""
    try:
        found = os.stat(file, follow_symlinks=False)  # noqa: PTH116  # Path.stat cannot do that everywhere
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _state(document: Item, path: str, question: Question) -> Item:
    """Return the state in a checkpoint of this question; whatever else a file is, is refused."""
    if document.mapping().get("format") != FORMAT:
        raise document.problem("not a checkpoint")
    if "version" in document.mapping() and document.member("version").number(1) != VERSION:
        raise document.problem(f"version: this clew reads version {VERSION}")
    _, _, digest, asked, state = document.members("format", "version", "digest", "question", "state")
    expected = _digest({"question": asked.value, "state": state.value})
    if expected is None or digest.value != expected:
        raise document.problem("was edited or damaged: it is not what was written")
    differing = [name for name in question if not _equal(asked.mapping().get(name, _MISSING), question[name])]
    for name in differing[:1]:
        raise UsageError(
            f"{path}: is the checkpoint of another search: {_difference(asked, name, question[name])}",
            remedy=f"give the same program and options, or {_REMEDY}",
        )
    if extra := [name for name in asked.mapping() if name not in question]:
        raise asked.problem(f"{quote_short(extra[0])} is nothing that this search depends on")
    state.mapping()
    return state


def _digest(parts: Mapping[str, object]) -> str | None:
    """Return a digest that shows whether a file was damaged; None for values that no checkpoint contains."""
    try:
        return hashlib.sha256(json_line(parts).encode()).hexdigest()
    except (TypeError, ValueError):  # integers of thousands of digits, and numbers that JSON does not have
        return None


_MISSING = object()


def _equal(then: object, now: object) -> bool:
    return type(then) is type(now) and then == now  # for Python, true is 1


def _difference(asked: Item, name: str, now: object) -> str:
    then = asked.mapping().get(name, _MISSING)
    if name.endswith("digest"):
        return f"{name.removesuffix('digest').strip()} has changed since"
    return f"{name} was {'not given' if then is _MISSING else _show(then)}, and is {_show(now)}"


def _show(value: object) -> str:
    return shorten(json_line(value)) if isinstance(value, str | int | float | list | None) else "something else"


def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return version("clew")
    except PackageNotFoundError:
        return "unknown"
